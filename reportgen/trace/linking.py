"""Links of a trace, the plain way: one call by correlation, the innermost operator and frame by a walk over starts."""

from __future__ import annotations

import dataclasses
import re

import numpy as np

from reportgen.trace.columns import Int32, Int64, Steps, Trace

_STEP = re.compile(r"ProfilerStep#(\d+)")


def link(unlinked: Trace) -> Trace:
    """Fill the links, the steps and the window of a trace whose tables were just read."""
    trace = dataclasses.replace(unlinked, steps=_steps(unlinked))
    operators, frames, calls, memory = trace.operators, trace.frames, trace.calls, trace.memory
    opened = int(trace.steps.start_ns[0]) if len(trace.steps.start_ns) else 0
    by_correlation = {c: row for row, c in enumerate(calls.correlation.tolist()) if c > 0}
    call = np.array([by_correlation.get(c, -1) for c in trace.activities.correlation.tolist()], dtype=np.int32)
    calls = dataclasses.replace(
        calls,
        num_activities=np.bincount(call[call >= 0], minlength=len(calls.name)).astype(np.int32),
        is_launch=np.isin(np.arange(len(calls.name)), call),
        operator=_innermost(operators, calls.thread, calls.start_ns),
        frame=_innermost(frames, calls.thread, calls.start_ns),
        step=_step_at(trace.steps, calls.start_ns),
    )
    launched = calls.start_ns[call] if len(calls.name) else np.zeros(len(call), dtype=np.int64)
    before = (call < 0) & bool(len(calls.name)) | (call >= 0) & (launched < opened)
    owned = (call >= 0) & ~before
    activities = dataclasses.replace(
        trace.activities,
        call=call,
        before_window=before,
        operator=np.where(owned, calls.operator[call], -1).astype(np.int32) if len(calls.name) else call,
        step=np.where(owned, calls.step[call], -1).astype(np.int32) if len(calls.name) else call,
    )
    return dataclasses.replace(
        trace,
        calls=calls,
        activities=activities,
        operators=dataclasses.replace(
            operators,
            parent=_innermost(operators, operators.thread, operators.start_ns, own=True),
            frame=_innermost(frames, operators.thread, operators.start_ns),
            step=_step_at(trace.steps, operators.start_ns),
        ),
        frames=dataclasses.replace(frames, parent=_innermost(frames, frames.thread, frames.start_ns, own=True)),
        memory=dataclasses.replace(
            memory,
            operator=_innermost(operators, memory.thread, memory.time_ns),
            frame=_innermost(frames, memory.thread, memory.time_ns),
            step=_step_at(trace.steps, memory.time_ns),
        ),
        window_start_ns=opened,
        device_expected=bool(len(calls.name) or len(activities.name) or len(trace.info.devices)),
    )


def _steps(trace: Trace) -> Steps:
    marks = [_STEP.fullmatch(trace.names[code]) for code in trace.annotations.name.tolist()]
    rows = np.array([row for row, mark in enumerate(marks) if mark], dtype=np.int64)
    return Steps(
        number=np.array([int(mark[1]) for mark in marks if mark], dtype=np.int64),
        start_ns=trace.annotations.start_ns[rows],
        end_ns=trace.annotations.end_ns[rows],
        thread=trace.annotations.thread[rows],
    )


def _step_at(steps: Steps, time_ns: Int64) -> Int32:
    if not len(steps.start_ns):
        return np.full(len(time_ns), -1, dtype=np.int32)
    row = np.searchsorted(steps.start_ns, time_ns, side="right") - 1
    return np.where((row >= 0) & (time_ns < steps.end_ns[row]), row, -1).astype(np.int32)


def _innermost(spans, thread: Int32, time_ns: Int64, *, own: bool = False) -> Int32:  # type: ignore[no-untyped-def]
    """Give the row of the innermost span open on the thread at each time; with `own` they are the spans' starts."""
    open_spans: dict[int, list[int]] = {}
    found = np.full(len(time_ns), -1, dtype=np.int32)
    ends, span_threads, starts = spans.end_ns.tolist(), spans.thread.tolist(), spans.start_ns.tolist()
    next_span = 0
    for index in np.argsort(time_ns, kind="stable").tolist():
        time = int(time_ns[index])
        while next_span < len(starts) and (next_span < index if own else starts[next_span] <= time):
            open_spans.setdefault(span_threads[next_span], []).append(next_span)
            next_span += 1
        stack = open_spans.get(int(thread[index]), [])
        while stack and ends[stack[-1]] <= time:
            stack.pop()
        if stack:
            found[index] = stack[-1]
    return found
