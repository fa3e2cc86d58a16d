"""Who drained the device's queue: waits that come after a synchronization rather than under it.

While the host waits for the device, the device works, and little is lost. It is lost afterwards: the queue is empty and
every launch comes late, inside operators that have nothing to do with it, until the host is as far ahead as it was.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from reportgen.analysis.arithmetic.intervals import Painted
    from reportgen.trace.columns import Int64, Trace


@dataclasses.dataclass(frozen=True, kw_only=True)
class Launches:
    """The calls that gave one device work, in order of start; all arrays have one entry a call."""

    call: Int64  # row of Trace.calls
    start_ns: Int64
    end_ns: Int64
    # When the device will have done all that it was given up to this launch, and up to the one before.
    done_ns: Int64
    done_before_ns: Int64

    def pending_ns(self, time_ns: Int64) -> Int64:
        """Return how much time is left, at each time, until the device has done all that was launched before it."""
        index = np.searchsorted(self.start_ns, time_ns, side="left")
        done = np.append(self.done_before_ns, self.done_ns[-1:])
        return np.asarray(np.maximum(done[index] - time_ns, 0)) if len(done) else np.zeros_like(time_ns)


def list_launches(trace: Trace, device: int) -> Launches:
    """List the calls that launched something on `device`."""
    activities, calls = trace.activities, trace.calls
    on_device = np.flatnonzero(activities.device == device)
    linked = on_device[activities.call[on_device] >= 0]
    rows = np.unique(activities.call[linked]).astype(np.int64)
    last_end = np.zeros(len(rows), dtype=np.int64)
    np.maximum.at(last_end, np.searchsorted(rows, activities.call[linked]), activities.end_ns[linked])
    queued_before = int(activities.end_ns[on_device[activities.before_window[on_device]]].max(initial=0))
    reach = np.maximum.accumulate(np.concatenate(([queued_before], last_end)))
    return Launches(
        call=rows,
        start_ns=calls.start_ns[rows],
        end_ns=calls.end_ns[rows],
        done_ns=reach[1:],
        done_before_ns=reach[:-1],
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Drains:
    """What drained the queue, and which launches came late by it."""

    cause: Int64  # by drain: row of HostCauses
    lead_ns: Int64  # by drain: how much the device had left to do when it began, which is the lead that was lost
    of_launch: Int64  # by launch: the drain that it came late by, -1 where it did not

    def charge(self, drain: Int64, wait_ns: Int64) -> Int64:
        """Return how much of each wait, in order of time and each with its drain or -1, the drain answers for.

        That is no more in all than the lead that was lost: the host would not have been further ahead without it.
        """
        charged = np.zeros(len(wait_ns), dtype=np.int64)
        rows = np.flatnonzero(drain >= 0)
        rows = rows[np.argsort(drain[rows], kind="stable")]
        if len(rows) == 0:
            return charged
        total = np.cumsum(wait_ns[rows])
        opens = np.flatnonzero(np.diff(drain[rows], prepend=-1))
        before = np.repeat(total[opens] - wait_ns[rows[opens]], np.diff(np.append(opens, len(rows))))
        spent = total - before - wait_ns[rows]
        charged[rows] = np.clip(self.lead_ns[drain[rows]] - spent, 0, wait_ns[rows])
        return charged


def find_drains(trace: Trace, launches: Launches, causes: Painted) -> Drains:
    """Find which of `causes` drained the queue, and the launches that came late by it.

    A cause drained the queue if there was work in it when it began and none when the next launch came. Later launches
    are its doing until one of them leaves the device as much to do as there was, or until the step ends in which the
    first of them was. Where one drain follows another, the later one is answerable until it is made good, then again
    the earlier.
    """
    late = np.full(len(launches.call), -1, dtype=np.int64)
    lead_ns = launches.pending_ns(causes.start_ns)
    following = np.searchsorted(launches.start_ns, causes.end_ns, side="left")
    followed = following < len(launches.call)
    first_late = following[followed & (lead_ns > 0)]
    drains = np.flatnonzero(followed & (lead_ns > 0))
    empty = launches.done_before_ns[first_late] <= launches.start_ns[first_late]
    drains, first_late = drains[empty], first_late[empty]
    ahead_ns = launches.done_ns - launches.end_ns
    stop = _end_of_step(trace, launches)
    for index, (drain, first) in enumerate(zip(drains.tolist(), first_late.tolist(), strict=True)):
        last = int(stop[first])
        restored = ahead_ns[first:last] >= lead_ns[drain]
        if restored.any():
            last = first + int(restored.argmax()) + 1
        late[first:last] = index
    return Drains(cause=causes.row[drains], lead_ns=lead_ns[drains], of_launch=late)


def _end_of_step(trace: Trace, launches: Launches) -> Int64:
    """Return for each launch the index of the first launch after the step that it lies in."""
    ends = trace.steps.end_ns
    if len(ends) == 0:
        return np.full(len(launches.call), len(launches.call))
    step = np.searchsorted(ends, launches.start_ns, side="right")
    boundary = np.append(np.searchsorted(launches.start_ns, ends, side="left"), len(launches.call))
    return boundary[step]
