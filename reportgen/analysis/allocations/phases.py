"""In which phase of a step each block was allocated, and when it went again."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.arithmetic.links import follow
from reportgen.analysis.arithmetic.spans import covered_until, union
from reportgen.trace.columns import ActivityKind, CopyDirection

if TYPE_CHECKING:
    from reportgen.analysis.allocations.history import History
    from reportgen.analysis.attribution.attribution import Attribution
    from reportgen.trace.columns import Bool, Int32, Int64, Trace

# What torch.optim calls its own spans.
_OPTIMIZER_PREFIX = "Optimizer."
_FROM_HOST = (
    CopyDirection.HOST_TO_DEVICE,
    CopyDirection.HOST_TO_DEVICE_PAGEABLE,
    CopyDirection.HOST_TO_DEVICE_PINNED,
)
# aten::to around aten::_to_copy around aten::copy_, of which the first two ask for the room that the third fills.
_COPY_DEPTH = 3
# A function that takes this share of the step's host time is the step.
WHOLE_STEP = 0.9


@dataclasses.dataclass(frozen=True, kw_only=True)
class BlockPhases:
    """What a trace tells of each of its blocks; all columns are parallel to its `BlockTable`."""

    backward: Bool  # allocated by a backward operator
    optimizer: Bool  # allocated under the optimizer
    from_host: Bool  # by an operator that copies from the host
    # Allocated before the step's backward pass began and freed after it had: what the gradient needs.
    saved: Bool
    # What it came and went with: the innermost user function around it, else its operator. The row of its span, frames
    # first, operators after them; -1 where it outlived both.
    scope: Int64


def find_phases(history: History, attribution: Attribution) -> BlockPhases:
    """Find the phases of the blocks of a trace's history."""
    trace, blocks = attribution.detail, history.blocks
    direction = np.array([group.direction == "backward" for group in attribution.groups] + [False])
    backward = direction[follow(blocks.operator, attribution.detail_group)]
    saved = _saved(history, backward)
    return BlockPhases(
        backward=backward,
        optimizer=_within_optimizer(history, trace),
        from_host=_copied_from_host(trace, blocks.operator),
        saved=saved,
        scope=np.where(saved, -1, _scopes(history, attribution, backward)),
    )


def steps_of(history: History) -> Int64:
    """Return the step that each block was allocated in, -1 outside all."""
    first, steps = history.blocks.first, history.steps
    if len(steps.start) == 0:
        return np.full(len(first), -1, dtype=np.int64)
    step = np.searchsorted(steps.start, first, side="right") - 1
    return np.where((step >= 0) & (first < steps.end[step]) & (first >= 0), step, -1)


def freed_in_step(history: History, step: Int64) -> Bool:
    """Tell which blocks were freed before the step ended that allocated them."""
    if len(history.steps.end) == 0:
        return history.blocks.last < history.num_events
    return (step >= 0) & (history.blocks.last < history.steps.end[step])


def _saved(history: History, backward: Bool) -> Bool:
    """Tell what was allocated before the first backward allocation of its step and freed after it, or never."""
    blocks, steps = history.blocks, history.steps
    step = steps_of(history)
    begins = np.full(len(steps.start) + 1, history.num_events + 1, dtype=np.int64)
    rows = np.flatnonzero(backward & (step >= 0))
    np.minimum.at(begins, step[rows], blocks.first[rows])
    begin = begins[step]
    return (step >= 0) & (blocks.first < begin) & (begin < blocks.last) & (begin <= history.num_events)


def _within_optimizer(history: History, trace: Trace) -> Bool:
    named = np.array([name.startswith(_OPTIMIZER_PREFIX) for name in trace.names] + [False])
    annotations = trace.annotations
    rows = named[annotations.name]
    spans = union(annotations.start_ns[rows], annotations.end_ns[rows])
    first = history.blocks.first
    time_ns = history.time_ns[np.maximum(first, 0)]
    return (first >= 0) & (covered_until(spans, time_ns + 1) > covered_until(spans, time_ns))


def _copied_from_host(trace: Trace, operator: Int32) -> Bool:
    activities = trace.activities
    copies = (activities.kind == ActivityKind.COPY) & np.isin(activities.copy_direction, _FROM_HOST)
    rows = activities.operator[copies & (activities.operator >= 0)]
    asked = np.zeros(len(trace.operators.start_ns) + 1, dtype=bool)
    for _ in range(_COPY_DEPTH):
        asked[rows[rows >= 0]] = True
        rows = follow(rows, trace.operators.parent)
    return asked[operator] & (operator >= 0)


def _scopes(history: History, attribution: Attribution, backward: Bool) -> Int64:
    """Return the function or the operator that each block came and went with.

    A function counts where it began within the step and is no more than a part of it: what lives as long as the step,
    or the loop around the steps, is the step's own working set.
    A backward operator runs in none; its frame is that of the operator it differentiates.
    """
    trace, blocks = attribution.detail, history.blocks
    num_frames = len(trace.frames.name)
    freed = np.flatnonzero((blocks.first >= 0) & (blocks.last < history.num_events))
    freed_ns = history.time_ns[blocks.last[freed]]
    scope = np.full(len(blocks.first), -1, dtype=np.int64)
    operator = blocks.operator[freed]
    within = (operator >= 0) & (freed_ns <= _at(trace.operators.end_ns, operator))
    scope[freed[within]] = num_frames + operator[within]
    frame = follow(blocks.frame[freed], attribution.frames.user)
    step = steps_of(history)[freed]
    began = (frame >= 0) & (step >= 0) & ~backward[freed]
    if len(history.steps.start_ns):
        began &= _at(trace.frames.start_ns, frame) >= history.steps.start_ns[step]
        step_ns = (history.steps.end_ns - history.steps.start_ns)[step]
        began &= _at(trace.frames.end_ns - trace.frames.start_ns, frame) < WHOLE_STEP * step_ns
    returned_ns = _return_times(trace)
    inside = began & (freed_ns <= _at(returned_ns, frame))
    scope[freed[inside]] = frame[inside]
    return scope


def _return_times(trace: Trace) -> Int64:
    """Return when each frame had let go of its variables: before anything else began on its thread.

    The profiler notes the return before Python clears the frame.
    """
    frames, operators = trace.frames, trace.operators
    until = frames.end_ns.copy()
    for thread in np.unique(frames.thread):
        mine = np.flatnonzero(frames.thread == thread)
        begins = np.sort(
            np.concatenate(
                (frames.start_ns[mine], operators.start_ns[operators.thread == thread], [np.iinfo(np.int64).max])
            )
        )
        until[mine] = begins[np.searchsorted(begins, frames.end_ns[mine], side="right")] - 1
    # No later than the frame around it returns.
    parent_end = np.where(frames.parent >= 0, _at(frames.end_ns, frames.parent), np.iinfo(np.int64).max)
    return np.maximum(np.minimum(until, parent_end), frames.end_ns)


def _at(column: Int64, rows: Int32) -> Int64:
    """Return `column` at `rows`, and its last value where a row is -1."""
    return column[rows] if len(column) else np.zeros(len(rows), dtype=np.int64)
