"""Compilers at work inside the recorded steps: which function made them start anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.arithmetic.spans import covered, union
from reportgen.analysis.model import Compilation
from reportgen.analysis.waiting.call_kinds import build_spans

if TYPE_CHECKING:
    from reportgen.analysis.attribution.case_places import CasePlaces
    from reportgen.analysis.model import Source
    from reportgen.analysis.steps.window import Counted
    from reportgen.trace.columns import Int32, Int64, Trace


def list_compilations(trace: Trace, counted: Counted, places: CasePlaces) -> tuple[Compilation, ...]:
    """Return the time that Dynamo and Inductor take inside the steps, by the user's function that they run under.

    Phases that lie in each other are one; loading of modules by the driver is none of theirs.
    """
    start, end, thread = _spans(trace)
    steps = trace.steps
    if len(steps.start_ns):
        inside = covered(union(steps.start_ns, steps.end_ns), start, np.maximum(end, start + 1)) > 0
        start, end, thread = start[inside], end[inside], thread[inside]
    found: dict[Source | None, list[tuple[int, int, int]]] = {}
    for number in np.unique(thread).tolist():
        own = union(start[thread == number], end[thread == number])
        for first, last in zip(own.start_ns.tolist(), own.end_ns.tolist(), strict=True):
            found.setdefault(places.source_at(first, number), []).append((first, last, number))
    rows = [_row(source, spans, trace, counted.num_steps, places) for source, spans in found.items()]
    return tuple(sorted(rows, key=lambda row: -row.host_us_per_step))


def _spans(trace: Trace) -> tuple[Int64, Int64, Int32]:
    operators, annotations, frames = build_spans(trace)
    tables = (
        (trace.operators.start_ns, trace.operators.end_ns, trace.operators.thread, operators),
        (trace.annotations.start_ns, trace.annotations.end_ns, trace.annotations.thread, annotations),
        (trace.frames.start_ns, trace.frames.end_ns, trace.frames.thread, frames),
    )
    return (
        np.concatenate([start[chosen] for start, _, _, chosen in tables]),
        np.concatenate([end[chosen] for _, end, _, chosen in tables]),
        np.concatenate([thread[chosen] for _, _, thread, chosen in tables]),
    )


def _row(
    source: Source | None, spans: list[tuple[int, int, int]], trace: Trace, num_steps: int, places: CasePlaces
) -> Compilation:
    longest = max(spans, key=lambda span: span[1] - span[0])
    starts = np.array([first for first, _, _ in spans], dtype=np.int64)
    step = np.searchsorted(trace.steps.start_ns, starts, side="right")
    return Compilation(
        count_per_step=len(spans) / num_steps,
        host_us_per_step=sum(last - first for first, last, _ in spans) / 1e3 / num_steps,
        num_steps=len(np.unique(step)),
        source=source,
        where=places.where(longest[0], longest[1], thread=longest[2]),
    )
