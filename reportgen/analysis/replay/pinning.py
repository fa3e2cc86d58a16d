"""How long copies between host and device take from pinned memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.trace.columns import CopyDirection

if TYPE_CHECKING:
    from reportgen.analysis.replay.program import Float64
    from reportgen.trace.columns import Trace

_TO_DEVICE = (
    CopyDirection.HOST_TO_DEVICE_PINNED, CopyDirection.HOST_TO_DEVICE_PAGEABLE, CopyDirection.HOST_TO_DEVICE,
)  # fmt: skip
_ON_DEVICE = (CopyDirection.NONE, CopyDirection.DEVICE_TO_DEVICE, CopyDirection.PEER_TO_PEER)
_PINNED = (CopyDirection.HOST_TO_DEVICE_PINNED, CopyDirection.DEVICE_TO_HOST_PINNED)
# Smaller copies are latency rather than rate.
_LARGE_BYTES = 1 << 20
# What copies over 16 lanes reach, about 80 % of the link, by the device's compute capability: PCIe 5 from Hopper on
# (192 MiB to an H200 took 3.6 ms), PCIe 4 from Ampere on, PCIe 3 before.
_LINKS = ((9, 50e9), (8, 25e9), (0, 12e9))
_COMMON_LINK = 25e9


def pinned_durations_ns(trace: Trace) -> Float64:
    """Return for each activity how long it would take from pinned memory, if it is a copy; never longer than it took.

    The rate is that of the trace's own pinned copies in the same direction, where it has large ones, else the link's.
    """
    activities = trace.activities
    length = (activities.end_ns - activities.start_ns).astype(np.float64)
    to_device = np.isin(activities.copy_direction, _TO_DEVICE)
    large = np.isin(activities.copy_direction, _PINNED) & (activities.bytes >= _LARGE_BYTES) & (length > 0)
    is_copy = ~np.isin(activities.copy_direction, _ON_DEVICE)
    pinned = length.copy()
    for direction in (True, False):
        own = large & (to_device == direction)
        rate = float(np.median(activities.bytes[own] / length[own])) * 1e9 if own.any() else _link_rate(trace)
        here = is_copy & (to_device == direction)
        pinned[here] = np.minimum(length[here], np.maximum(activities.bytes[here], 0) / rate * 1e9)
    return pinned


def _link_rate(trace: Trace) -> float:
    """Return what the device's link to the host is taken to reach, bytes a second."""
    capability = next((device.compute_capability for device in trace.info.devices if device.compute_capability), None)
    major = (capability or "").partition(".")[0]
    if not major.isdigit():
        return _COMMON_LINK
    return next(rate for least, rate in _LINKS if int(major) >= least)
