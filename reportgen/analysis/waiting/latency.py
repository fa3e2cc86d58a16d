"""How fast a trace's own launches reach the device: the measure for what is a gap and who is ahead.

A launch onto an idle device starts its activity after the launch latency and nothing else. Where every launch found the
device busy, the trace does not show it.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from reportgen.trace.columns import Bool, Int64, Trace

# A launch may still be slow for reasons of its own; the latency is what the quick ones show.
LOW_QUANTILE = 0.1
# Fewer launches onto an idle device than this are chance.
MIN_IDLE_LAUNCHES = 5


@dataclasses.dataclass(frozen=True, kw_only=True)
class LaunchLeads:
    """The launches of one device that gave it work, in order of start; all arrays have one entry a launch.

    An activity that began before its launch, which misaligned clocks of host and device make it seem, says nothing
    about latency: its lead is 0, and no quantile or median includes it.
    """

    call: Int64  # row of Trace.calls
    first_activity: Int64  # row of Trace.activities that began first
    start_ns: Int64
    end_ns: Int64
    activity_start_ns: Int64
    activity_end_ns: Int64
    found_idle: Bool  # the device was done with all launched before when the launch call began

    @property
    def lead_ns(self) -> Int64:
        """Return for each launch how long after the call's end the activity began; 0 where it began within it."""
        return np.asarray(np.maximum(self.activity_start_ns - self.end_ns, 0))

    @property
    def in_order(self) -> Bool:
        """Tell the launches whose activity did not begin before they did."""
        return np.asarray(self.activity_start_ns >= self.start_ns)

    @property
    def latency_ns(self) -> float | None:
        """Return the time from launch end to activity start on an idle device, a low quantile."""
        return _low_quantile(self.lead_ns[self.found_idle & self.in_order])

    @property
    def reach_ns(self) -> float | None:
        """Return the time from launch *start* to activity start on an idle device, a low quantile."""
        return _low_quantile((self.activity_start_ns - self.start_ns)[self.found_idle & self.in_order])


def list_leads(trace: Trace, device: int, counted: Bool) -> LaunchLeads:
    """List the launches among the `counted` rows of Trace.activities, with what each found on `device`."""
    activities, calls = trace.activities, trace.calls
    here = activities.device == device
    linked = np.flatnonzero(here & counted & (activities.call >= 0))
    rows, first = np.unique(activities.call[linked], return_index=True)
    first_activity = linked[first]  # activities are sorted by start
    order = np.argsort(calls.start_ns[rows], kind="stable")
    launching: Int64 = rows[order].astype(np.int64)
    first_activity = first_activity[order]
    last_end = np.zeros(len(calls.start_ns), dtype=np.int64)
    np.maximum.at(last_end, activities.call[linked], activities.end_ns[linked])
    start = calls.start_ns[launching]
    return LaunchLeads(
        call=launching,
        first_activity=first_activity,
        start_ns=start,
        end_ns=calls.end_ns[launching],
        activity_start_ns=activities.start_ns[first_activity],
        activity_end_ns=last_end[launching],
        found_idle=_done_before(trace, device, linked, last_end, launching) <= start,
    )


def _done_before(trace: Trace, device: int, linked: Int64, last_end: Int64, rows: Int64) -> Int64:
    """Return for each launch when the device had done all that it was given before it."""
    activities = trace.activities
    others = np.flatnonzero(activities.device == device)
    others = others[~np.isin(others, linked)]
    # What no counted launch explains was queued before, or by somebody unknown: it counts from its own start.
    reach = np.maximum.accumulate(np.concatenate(([0], last_end[rows])))[:-1]
    if len(others) == 0:
        return reach
    begun = np.searchsorted(activities.start_ns[others], trace.calls.start_ns[rows], side="right")
    ends = np.maximum.accumulate(np.concatenate(([0], activities.end_ns[others])))
    queued_before = activities.end_ns[activities.before_window & (activities.device == device)].max(initial=0)
    return np.asarray(np.maximum(np.maximum(reach, ends[begun]), queued_before))


def _low_quantile(values_ns: Int64) -> float | None:
    return float(np.quantile(values_ns, LOW_QUANTILE)) if len(values_ns) >= MIN_IDLE_LAUNCHES else None
