"""The clock of the detail pass, read by that of the timeline pass."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.arithmetic.links import follow

if TYPE_CHECKING:
    from reportgen.analysis.attribution.joining import Join
    from reportgen.trace.columns import Int32, Int64, Trace


@dataclasses.dataclass(frozen=True, kw_only=True)
class HostStretches:
    """Stretches of the host time of `num_steps` steps, and where each lies on the clock of the detail pass."""

    num_steps: int
    duration_ns: Int64
    detail_thread: Int32
    detail_start_ns: Int64
    detail_end_ns: Int64


class TwinClock:
    """Moments of the timeline's host threads as moments of the detail pass.

    The starts and ends of operators and steps that both passes hold are anchors; between two of them time runs evenly.
    So a stretch of plain Python code, which the timeline pass does not see, is found in the detail pass between the
    same two operators, where frames say whose code it is.
    """

    def __init__(self, timeline: Trace, detail: Trace, twins: Join) -> None:
        self._same = timeline is detail
        if self._same:
            return
        own, other = timeline.operators, detail.operators
        joined = np.flatnonzero(twins.operator >= 0)
        twin = twins.operator[joined]
        steps, step_twin = timeline.steps, _twin_steps(timeline, detail, twins)
        marked = np.flatnonzero(step_twin >= 0)
        mark_twin = step_twin[marked]
        thread = np.concatenate((own.thread[joined], own.thread[joined], steps.thread[marked], steps.thread[marked]))
        time = np.concatenate((own.start_ns[joined], own.end_ns[joined], steps.start_ns[marked], steps.end_ns[marked]))
        detail_thread = np.concatenate(
            (other.thread[twin], other.thread[twin], detail.steps.thread[mark_twin], detail.steps.thread[mark_twin])
        )
        detail_time = np.concatenate(
            (other.start_ns[twin], other.end_ns[twin], detail.steps.start_ns[mark_twin], detail.steps.end_ns[mark_twin])
        )
        order = np.lexsort((detail_time, time, thread))
        self.thread: Int32 = thread[order]
        self.time_ns: Int64 = time[order]
        self.detail_thread: Int32 = detail_thread[order]
        self.detail_ns: Int64 = detail_time[order]

    def read(self, thread: Int32, time_ns: Int64) -> tuple[Int32, Int64]:
        """Return thread and time of the detail pass for each moment; thread -1 before the first anchor."""
        if self._same:
            return thread, time_ns
        if len(self.thread) == 0:
            return np.full(len(thread), -1, dtype=np.int32), time_ns
        before = self._anchor_before(thread, time_ns)
        after = np.minimum(before + 1, len(self.thread) - 1)
        span = self.time_ns[after] - self.time_ns[before]
        detail_span = self.detail_ns[after] - self.detail_ns[before]
        # From one step to the next the detail pass may jump back; then only the anchor itself is known.
        even = (self.thread[after] == self.thread[before]) & (span > 0) & (detail_span > 0) & (before >= 0)
        share = np.where(even, (time_ns - self.time_ns[before]) / np.maximum(span, 1), 0.0)
        detail_ns = self.detail_ns[before] + (share * np.where(even, detail_span, 0)).astype(np.int64)
        return np.where(before >= 0, self.detail_thread[before], -1).astype(np.int32), detail_ns

    def moments(self, thread: int) -> Int64:
        """Return the moments of a thread that both passes hold; none of a trace that is its own detail pass."""
        if self._same:
            return np.zeros(0, dtype=np.int64)
        return np.unique(self.time_ns[self.thread == thread])

    def _anchor_before(self, thread: Int32, time_ns: Int64) -> Int64:
        """Return the last anchor of the thread that is not after the moment, -1 where there is none."""
        before = np.full(len(thread), -1, dtype=np.int64)
        for number in np.unique(thread):
            first, stop = np.searchsorted(self.thread, [number, number + 1])
            asked = np.flatnonzero(thread == number)
            position = first + np.searchsorted(self.time_ns[first:stop], time_ns[asked], side="right") - 1
            before[asked] = np.where(position >= first, position, -1)
        return before


def _twin_steps(timeline: Trace, detail: Trace, twins: Join) -> Int32:
    """Return for each step of the timeline the step of the detail pass that holds most of its operators' twins."""
    num_steps, num_detail = len(timeline.steps.number), len(detail.steps.number)
    twin = np.full(num_steps, -1, dtype=np.int32)
    step, detail_step = timeline.operators.step, follow(twins.operator, detail.operators.step)
    both = (step >= 0) & (detail_step >= 0)
    if both.any():
        votes = np.bincount(step[both] * num_detail + detail_step[both], minlength=num_steps * num_detail)
        votes = votes.reshape(num_steps, num_detail)
        twin[:] = np.where(votes.any(axis=1), votes.argmax(axis=1), -1)
    return twin
