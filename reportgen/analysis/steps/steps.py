"""When the profiled steps began and were complete, and how long they took by that.

The span of a step mark is no step time: where the host runs ahead it ends long before the device does. A step is
complete at the end of the last device activity that it launched, or when the host left it, if that is later; the time
from one completion to the next is what a step costs in a loop.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Literal

import numpy as np

from reportgen.analysis.arithmetic.spans import covered, union
from reportgen.analysis.model import StepRow

if TYPE_CHECKING:
    from reportgen.recording import StepMode
    from reportgen.trace.columns import Bool, Int32, Int64, Trace

# A step is an outlier from twice the smallest of its peers and this much more.
OUTLIER_FACTOR = 2
OUTLIER_NS = 1_000_000


@dataclasses.dataclass(frozen=True, kw_only=True)
class Covered:
    """The stretches of a trace that stand for its steps: disjoint, sorted; `step` is a row of Trace.steps or -1."""

    start_ns: Int64
    end_ns: Int64
    step: Int32

    @property
    def step_us(self) -> float:
        """Return the mean length of a stretch, 0 where there is none."""
        return float((self.end_ns - self.start_ns).mean()) / 1e3 if len(self.start_ns) else 0.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class StepWindow:
    """The profiled steps of a trace, in order; all arrays have one entry a step and none without step marks.

    `basis` says what step times follow from: "completion" (two steps or more), "host" (one step, or a device whose
    activities were not recorded) or "window" (no step marks: the window counts as one step).
    """

    basis: Literal["completion", "host", "window"]
    number: Int64  # the n of ProfilerStep#n
    host_start_ns: Int64
    host_end_ns: Int64
    completion_ns: Int64
    device_ns: Int64  # union over streams of what the step launched
    num_activities: Int64
    device_recorded: bool
    drained: Bool  # the device had nothing to do when the host began the step
    window_start_ns: int
    window_end_ns: int

    @property
    def intervals_ns(self) -> Int64:
        """Return the time from each completion to the next."""
        return np.diff(self.completion_ns)

    @property
    def latencies_ns(self) -> Int64:
        """Return host start to completion of the steps, but the settling first, that began on an idle device."""
        counts = self.drained & ~self.settling
        return (self.completion_ns - self.host_start_ns)[counts]

    @property
    def settling(self) -> Bool:
        """Mark the first recorded step: it pays for the profiler's start and for a queue that is not yet filled."""
        settling = np.zeros(len(self.number), dtype=bool)
        settling[:1] = True
        return settling

    @property
    def outliers(self) -> Bool:
        """Mark steps whose interval is over twice the smallest and 1 ms more; never the first."""
        outliers = np.zeros(len(self.number), dtype=bool)
        intervals = self.intervals_ns
        if len(intervals) > 1:
            smallest = int(intervals.min())
            outliers[1:] = (intervals > OUTLIER_FACTOR * smallest) & (intervals > smallest + OUTLIER_NS)
        return outliers

    def covered(self, mode: StepMode) -> Covered:
        """Return what the budget covers.

        Pipelined: from each completion to the next. Drained: from the host's start of each step but the first to its
        completion. With one step, from its start to its completion; without step marks, the window.
        """
        if self.basis == "window":
            start, end = np.array([self.window_start_ns]), np.array([self.window_end_ns])
            return Covered(start_ns=start, end_ns=end, step=np.array([-1], dtype=np.int32))
        rows = np.arange(len(self.number), dtype=np.int32)
        if self.basis == "host" and len(rows) == 1:
            return Covered(start_ns=self.host_start_ns, end_ns=self.completion_ns, step=rows)
        if mode == "drained":
            # A step that the host began before the last one was complete is covered from that completion on.
            start = np.maximum(self.host_start_ns[1:], self.completion_ns[:-1])
            return Covered(start_ns=start, end_ns=self.completion_ns[1:], step=rows[1:])
        return Covered(start_ns=self.completion_ns[:-1], end_ns=self.completion_ns[1:], step=rows[1:])

    def rows(self) -> tuple[StepRow, ...]:
        """Return the steps as the report lists them."""
        intervals_us = [None, *(self.intervals_ns / 1e3).tolist()]
        return tuple(
            StepRow(
                index=int(self.number[row]),
                interval_us=intervals_us[row],
                host_us=float(self.host_end_ns[row] - self.host_start_ns[row]) / 1e3,
                device_us=float(self.device_ns[row]) / 1e3 if self.device_recorded else None,
                activities=int(self.num_activities[row]) if self.device_recorded else None,
                settling=bool(self.settling[row]),
                outlier=bool(self.outliers[row]),
                ordinal=row + 1,
            )
            for row in range(len(self.number))
        )


def measure_steps(trace: Trace) -> StepWindow:
    """Find when each profiled step began and was complete, on all devices together."""
    steps, activities = trace.steps, trace.activities
    num_steps = len(steps.number)
    launched = np.flatnonzero(activities.step >= 0)
    owner = activities.step[launched]
    completion = steps.end_ns.copy()
    np.maximum.at(completion, owner, activities.end_ns[launched])
    # Queues are first in, first out: a step is not complete before the one that came before it.
    completion = np.maximum.accumulate(completion)
    if num_steps == 0:
        basis: Literal["completion", "host", "window"] = "window"
    else:
        basis = "completion" if num_steps > 1 and (trace.device_recorded or not trace.device_expected) else "host"
    return StepWindow(
        basis=basis,
        number=steps.number,
        host_start_ns=steps.start_ns,
        host_end_ns=steps.end_ns,
        completion_ns=completion,
        device_ns=_device_ns(trace, launched),
        num_activities=np.bincount(owner, minlength=num_steps).astype(np.int64),
        device_recorded=trace.device_recorded,
        drained=_began_drained(trace),
        window_start_ns=trace.window_start_ns,
        window_end_ns=trace.window_end_ns,
    )


def _device_ns(trace: Trace, launched: Int64) -> Int64:
    """Return the union over streams of what each step launched."""
    activities = trace.activities
    per_step = np.zeros(len(trace.steps.number), dtype=np.int64)
    for step in range(len(per_step)):
        rows = launched[activities.step[launched] == step]
        per_step[step] = union(activities.start_ns[rows], activities.end_ns[rows]).total_ns
    return per_step


def _began_drained(trace: Trace) -> Bool:
    """Tell the steps at whose start no device had anything queued or running, none where that was not recorded."""
    activities, starts = trace.activities, trace.steps.start_ns
    if trace.device_expected and not trace.device_recorded:
        return np.zeros(len(starts), dtype=bool)
    # Call -1 picks the entry put at the end.
    launched = np.append(trace.calls.start_ns, 0)[activities.call]
    queued = np.where(activities.call >= 0, launched, activities.start_ns)
    pending = union(np.minimum(queued, activities.start_ns), activities.end_ns)
    return np.asarray(covered(pending, starts, starts + 1) == 0)
