"""Without a device the host is the device: what it computed, and what it did while no operator was open."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.arithmetic.intervals import Painted, complement, intersect, overlaps, subtract
from reportgen.analysis.arithmetic.links import follow
from reportgen.analysis.arithmetic.spans import Spans, union
from reportgen.analysis.waiting.budget_result import PART_CODE
from reportgen.analysis.waiting.stalls import find_stalls, find_stretches
from reportgen.analysis.waiting.waits import LAUNCH, UNEXPLAINED, Pieces, host_time, main_thread
from reportgen.analysis.waiting.work import layer_work
from reportgen.trace.call_names import COMMUNICATION, match_names

if TYPE_CHECKING:
    from reportgen.analysis.steps.steps import Covered
    from reportgen.analysis.waiting.budget_result import GapTable, Work
    from reportgen.analysis.waiting.host_causes import HostCauses
    from reportgen.analysis.waiting.profiler_share import RecordingCosts
    from reportgen.trace.columns import Bool, Int32, Int64, Trace

_COPY = re.compile(r"^aten::copy_?$")
# What torch.distributed names on the threads that communicate, in which no operator is open: "gloo:all_reduce".
_COLLECTIVE = re.compile(r"^(gloo|mpi|ucc|[nrxh]ccl):")


def host_work(trace: Trace, covered: Covered) -> Work:
    """Return when an operator was open on any thread: compute, or communication or copies by the operator.

    A collective that runs on a thread of its backend's own is communication too. On one thread the inner operator says
    what it is; where threads differ, compute is named before communication, communication before copies.
    """
    operators = trace.operators
    is_copy = match_names(_COPY, trace.names, operators.name)
    is_communication = match_names(COMMUNICATION, trace.names, operators.name)
    copies, communications, computes = [], [], []
    for thread in np.unique(operators.thread):
        here = operators.thread == thread
        copy, communication = _open(trace, here & is_copy), _open(trace, here & is_communication)
        copies.append(copy)
        communications.append(communication)
        computes.append(subtract(subtract(_open(trace, here), copy), communication))
    annotations = trace.annotations
    collective = match_names(_COLLECTIVE, trace.names, annotations.name)
    communications.append(union(annotations.start_ns[collective], annotations.end_ns[collective]))
    layers = (("copy", copies), ("communication", communications), ("compute", computes))
    return layer_work([(PART_CODE[part], _together(spans)) for part, spans in layers], covered)  # type: ignore[index]


def explain_host(trace: Trace, covered: Covered, gaps: GapTable, causes: HostCauses, costs: RecordingCosts) -> Pieces:
    """Cut the time in which no operator was open by what the main thread did then.

    Within a step that is the ordinary cost of getting to the next operator, where it has no cause of its own.
    """
    main = main_thread(trace)
    operators = _open(trace, np.ones(len(trace.operators.start_ns), dtype=bool))
    inside = host_time(trace, operators)
    taken = union(causes.start_ns, causes.end_ns)
    stretches = find_stretches(operators, taken, inside, covered.step_us * 1e3)
    causes = causes.joined(find_stalls(trace, stretches, [main], costs))
    painted = causes.painted(np.flatnonzero(np.isin(causes.thread, (main, -1))))
    return _cut(trace, gaps, causes, painted, inside, main)


def _cut(trace: Trace, gaps: GapTable, causes: HostCauses, painted: Painted, inside: Spans, main: int) -> Pieces:
    spans = Spans(gaps.start_ns, gaps.end_ns)
    coloured = overlaps(spans, Spans(painted.start_ns, painted.end_ns))
    bare = complement(union(painted.start_ns, painted.end_ns))
    ordinary = overlaps(spans, intersect(bare, inside))
    outside = overlaps(spans, intersect(bare, complement(inside)))
    found = (coloured, ordinary, outside)
    start = np.concatenate([part.start_ns for part in found])
    order = np.argsort(start, kind="stable")
    row = np.concatenate((painted.row[coloured.right], np.full(len(ordinary.left) + len(outside.left), -1)))
    charged, none = row >= 0, np.full(len(row), -1, dtype=np.int32)
    end = np.concatenate([part.end_ns for part in found])
    cause = np.repeat([0, LAUNCH, UNEXPLAINED], [len(part.left) for part in found])
    cause[charged] = causes.cause[row[charged]]
    operator = _next_operator(trace, main, end)
    frame = follow(operator, trace.operators.frame)
    operator[charged], frame[charged] = causes.operator[row[charged]], causes.frame[row[charged]]
    call = none.copy()
    call[charged] = causes.call[row[charged]]
    return Pieces(
        start_ns=start[order],
        end_ns=end[order],
        gap=np.concatenate([part.left for part in found])[order],
        cause=cause[order].astype(np.int8),
        next_activity=none,
        operator=operator[order],
        frame=frame[order],
        call=call[order],
        refill=np.zeros(len(order), dtype=bool),
    )


def _next_operator(trace: Trace, thread: int, time_ns: Int64) -> Int32:
    """Return the first operator of a thread that begins at each time or later, -1 where none does."""
    rows = np.append(np.flatnonzero(trace.operators.thread == thread), -1)
    return rows[np.searchsorted(trace.operators.start_ns[rows[:-1]], time_ns, side="left")].astype(np.int32)


def _open(trace: Trace, chosen: Bool) -> Spans:
    return union(trace.operators.start_ns[chosen], trace.operators.end_ns[chosen])


def _together(parts: list[Spans]) -> Spans:
    none = np.zeros(0, dtype=np.int64)
    return union(
        np.concatenate([none, *(spans.start_ns for spans in parts)]),
        np.concatenate([none, *(spans.end_ns for spans in parts)]),
    )
