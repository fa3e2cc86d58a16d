"""Replays of captured graphs: one launch, many activities, and what of them may be missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.trace.call_names import BEGIN_CAPTURE, END_CAPTURE, GRAPH_LAUNCH, SYNCHRONIZE, match_names

if TYPE_CHECKING:
    from reportgen.trace.columns import Bool, Int64, Trace

# A synchronization returns within tens of microseconds after the work that it waited for, on a busy host within
# hundreds; what it waited for beyond that was not recorded.
_LATE_RETURN_NS = 1_000_000


def is_graph_launch(trace: Trace) -> Bool:
    """Tell the calls that launch a graph."""
    return match_names(GRAPH_LAUNCH, trace.names, trace.calls.name)


def find_captured(trace: Trace) -> Bool:
    """Tell the calls that a thread made while it captured a graph: they record work and launch none."""
    calls = trace.calls
    opens = match_names(BEGIN_CAPTURE, trace.names, calls.name)
    captured = np.zeros(len(calls.name), dtype=np.bool_)
    if not opens.any():
        return captured
    closes = match_names(END_CAPTURE, trace.names, calls.name)
    for thread in np.unique(calls.thread[opens]):
        rows = np.flatnonzero(calls.thread == thread)
        # A capture that began before the recording closes what was not opened; it must not cancel the next.
        depth = np.cumsum(opens[rows].astype(np.int64) - closes[rows])
        captured[rows] = depth > np.minimum.accumulate(np.minimum(depth, 0))
    return captured


def find_incomplete_replays(trace: Trace) -> Bool:
    """Tell the graph launches (a mask of calls) without activities, or with fewer than others of the same graph.

    A trace does not say which graph was launched. Two replays count as the same graph's where their first or their
    last activity has the same name, since losses leave at least one end whole.
    """
    calls, activities = trace.calls, trace.activities
    launches = np.flatnonzero(is_graph_launch(trace))
    incomplete = np.zeros(len(calls.name), dtype=np.bool_)
    incomplete[launches] = calls.num_activities[launches] == 0
    members = np.flatnonzero(np.isin(activities.call, launches))
    if not members.size:
        return incomplete
    # Rows are in order of start: the first and the last of each launch are its ends in time.
    replays, first = np.unique(activities.call[members], return_index=True)
    last = len(members) - 1 - np.unique(activities.call[members][::-1], return_index=True)[1]
    for end in (first, last):
        name = activities.name[members[end]]
        most = np.zeros(len(trace.names), dtype=np.int32)
        np.maximum.at(most, name, calls.num_activities[replays])
        incomplete[replays] |= calls.num_activities[replays] < most[name]
    return incomplete


def find_unrecorded_work(trace: Trace) -> Int64:
    """Give how long (ns) each synchronization after a graph launch went on after the last recorded activity ended."""
    calls, activities = trace.calls, trace.activities
    launches = np.flatnonzero(is_graph_launch(trace))
    if not launches.size or not trace.device_recorded:
        return np.empty(0, dtype=np.int64)
    waits = np.flatnonzero(match_names(SYNCHRONIZE, trace.names, calls.name) & ~calls.is_launch)
    others = np.flatnonzero(calls.is_launch | is_graph_launch(trace))
    # Only a wait whose last launch before it was a graph's: else the graph is not what it waited for.
    latest = others[np.maximum(np.searchsorted(others, waits) - 1, 0)]
    waits = waits[np.isin(latest, launches) & (latest < waits)]
    started = np.searchsorted(activities.start_ns, calls.end_ns[waits])
    latest_end = np.append(0, np.maximum.accumulate(activities.end_ns))[started]
    idle_ns: Int64 = calls.end_ns[waits] - np.maximum(calls.start_ns[waits], latest_end)
    return idle_ns[idle_ns > _LATE_RETURN_NS]
