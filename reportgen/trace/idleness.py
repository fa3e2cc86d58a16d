"""Idle time that cannot be: the device had work that was launched, and did nothing that was recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from reportgen.trace.columns import Int64, Trace

# Launched work starts on an idle device within microseconds, within a few hundred where it waits for another stream's
# event or for a graph to be uploaded. Beyond this the device was busy with something that is not in the file.
_LONGEST_START_NS = 1_000_000


def find_unexplained_waits(trace: Trace) -> Int64:
    """Give how long (ns) activities waited, already launched, while nothing was recorded of any device.

    Only waits of over a millisecond, and each stretch once: for the activity that ends it. All devices are taken
    together, since a stream may wait for an event of another device.
    """
    activities, calls = trace.activities, trace.calls
    if not len(activities.start_ns):
        return np.empty(0, dtype=np.int64)
    latest_end = np.maximum.accumulate(activities.end_ns)
    idle_since = np.concatenate((activities.start_ns[:1], latest_end[:-1]))
    idle_since[0] = min(trace.window_start_ns, int(activities.start_ns[0]))
    # The call that launched it may itself wait, as a pageable copy does: then its end lies after the start.
    launched = np.append(calls.end_ns, np.iinfo(np.int64).max)[activities.call]
    waited = activities.start_ns - np.maximum(launched, idle_since)
    long: Int64 = waited[(activities.call >= 0) & (waited > _LONGEST_START_NS)]
    return long
