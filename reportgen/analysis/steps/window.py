"""What counts as the profiled steps' own: the one place that decides which rows enter a figure "per step"."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from reportgen.trace.columns import Activities, Bool, Int64, Trace


@dataclasses.dataclass(frozen=True, kw_only=True)
class Counted:
    """The rows that the profiled steps launched or ran, and the number of steps that totals are divided by."""

    num_steps: int
    activities: Bool
    operators: Bool
    calls: Bool
    memory: Bool


def count(trace: Trace) -> Counted:
    """Select what the profiled steps of `trace` launched.

    A window without step marks is one step, and all that was not queued before it belongs to it. With step marks an
    activity counts by the step that launched it, wherever it ran. One whose launch was not recorded has no step; it
    counts where it runs inside the window, because leaving it out would call the device idle.
    """
    activities, num_marks = trace.activities, len(trace.steps.number)
    if num_marks == 0:
        return Counted(
            num_steps=1,
            activities=~activities.before_window,
            operators=np.ones(len(trace.operators.start_ns), dtype=bool),
            calls=np.ones(len(trace.calls.start_ns), dtype=bool),
            memory=np.ones(len(trace.memory.time_ns), dtype=bool),
        )
    in_window = (activities.start_ns >= trace.window_start_ns) & (activities.end_ns <= trace.window_end_ns)
    unlinked = (activities.call < 0) & ~activities.before_window & in_window
    return Counted(
        num_steps=num_marks,
        activities=(activities.step >= 0) | unlinked,
        operators=trace.operators.step >= 0,
        calls=trace.calls.step >= 0,
        memory=trace.memory.step >= 0,
    )


def num_settling(trace: Trace) -> int:
    """Return how many of the recorded steps settle: the first, where others follow.

    In it the host pays for the profiler's start: times of the host leave it out.
    """
    return 1 if len(trace.steps.number) > 1 else 0


def settled_operators(trace: Trace, counted: Counted) -> tuple[Bool, int]:
    """Return the counted operators of the steps after the settling one, and how many those steps are."""
    if not (settling := num_settling(trace)):
        return counted.operators, counted.num_steps
    return counted.operators & (trace.operators.step >= settling), counted.num_steps - settling


def durations_ns(activities: Activities) -> Int64:
    """Return how long each activity took."""
    return activities.end_ns - activities.start_ns


def main_device(trace: Trace, counted: Counted) -> int | None:
    """Return the device with the most counted work, None where no device worked."""
    devices = trace.activities.device[counted.activities]
    if len(devices) == 0:
        return None
    present, rows = np.unique(devices, return_inverse=True)
    work = np.bincount(rows, weights=durations_ns(trace.activities)[counted.activities])
    return int(present[np.argmax(work)])
