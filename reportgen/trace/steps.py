"""The profiled steps and the window that they span.

A step is a ``ProfilerStep#n`` span of the host. The same name occurs on the device's lanes, as annotation of what ran
meanwhile; those are no steps. What happens on any thread while a step's span is open belongs to the step.
"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

import numpy as np

from reportgen.trace.columns import Annotations, Bool, Int32, Int64, Operators, Steps

if TYPE_CHECKING:
    from reportgen.trace.columns import Activities, Calls, Trace

# A number of more digits is no count of steps, and fits no column.
_STEP_NAME = re.compile(r"ProfilerStep\s?#\s?(\d{1,18})")


def separate_step_marks(trace: Trace) -> Trace:
    """Move step marks that the exporter of 2021 wrote as operators to the annotations."""
    codes = [code for code, name in enumerate(trace.names) if _STEP_NAME.fullmatch(name)]
    marks = np.isin(trace.operators.name, codes)
    if not marks.any():
        return trace
    columns = {field.name: getattr(trace.operators, field.name) for field in dataclasses.fields(Operators)}
    annotations = {
        field.name: np.concatenate([getattr(trace.annotations, field.name), columns[field.name][marks]])
        for field in dataclasses.fields(Annotations)
    }
    order = np.lexsort((-annotations["end_ns"], annotations["start_ns"]))
    return dataclasses.replace(
        trace,
        operators=Operators(**{name: column[~marks] for name, column in columns.items()}),
        annotations=Annotations(**{name: column[order] for name, column in annotations.items()}),
    )


def find_steps(annotations: Annotations, names: tuple[str, ...]) -> Steps:
    """Give the step marks in order; where several threads carry marks, those of the thread with the most.

    Marks of several threads run beside each other (one file of several processes) and would count a moment twice.
    """
    numbers = {code: int(match[1]) for code, name in enumerate(names) if (match := _STEP_NAME.fullmatch(name))}
    rows = np.flatnonzero(np.isin(annotations.name, list(numbers)))
    if rows.size:
        per_thread = np.bincount(annotations.thread[rows])
        rows = rows[annotations.thread[rows] == per_thread.argmax()]
    return Steps(
        number=np.array([numbers[int(code)] for code in annotations.name[rows]], dtype=np.int64),
        start_ns=annotations.start_ns[rows],
        end_ns=annotations.end_ns[rows],
        thread=annotations.thread[rows],
    )


def find_step_at(steps: Steps, time_ns: Int64) -> Int32:
    """Give the row of the step whose span holds each moment, -1 outside all."""
    if not len(steps.start_ns):
        return np.full(len(time_ns), -1, dtype=np.int32)
    last = np.searchsorted(steps.start_ns, time_ns, side="right").astype(np.int32) - 1
    inside = (last >= 0) & (time_ns < steps.end_ns[last])
    return np.where(inside, last, -1).astype(np.int32)


def find_window_start(trace: Trace) -> int:
    """Give the start of the first step; without steps, that of the first event of the host, else of any."""
    if len(trace.steps.start_ns):
        return int(trace.steps.start_ns[0])
    host = (trace.operators, trace.calls, trace.frames, trace.annotations)
    starts = [int(table.start_ns[0]) for table in host if len(table.start_ns)]
    starts += [int(trace.memory.time_ns[0])] if len(trace.memory.time_ns) else []
    if not starts and len(trace.activities.start_ns):
        starts = [int(trace.activities.start_ns[0])]
    return min(starts, default=0)


def find_window_end(trace: Trace, opened_ns: int, launching: Int32, queued_before: Bool) -> int:
    """Give the last end of a step and of what was launched in the window; without steps, of all but earlier work."""
    closes_ns, inside = opened_ns, ~queued_before
    if len(trace.steps.end_ns):
        closes_ns = int(trace.steps.end_ns.max())
        inside &= ~_launched_after(closes_ns, trace.activities, launching, trace.calls)
    else:
        for table in (trace.operators, trace.calls, trace.frames, trace.annotations):
            closes_ns = max(closes_ns, int(table.end_ns.max(initial=closes_ns)))
    return max(closes_ns, int(trace.activities.end_ns[inside].max(initial=closes_ns)))


def _launched_after(closes_ns: int, activities: Activities, launching: Int32, calls: Calls) -> Bool:
    """Tell the activities whose launch came after the last step; those without a launch by their own start."""
    launched_ns = activities.start_ns.copy()
    linked = launching >= 0
    launched_ns[linked] = calls.start_ns[launching[linked]]
    return launched_ns >= closes_ns
