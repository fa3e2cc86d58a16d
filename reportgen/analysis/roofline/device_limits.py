"""The ceilings of the device that a case ran on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from reportgen.analysis.roofline.datasheets import cache_bytes, ceilings_of
from reportgen.recording import Ceilings, Device


class DeviceLimits(NamedTuple):
    """What the device can do at most, and the size of its last cache (None: not known)."""

    ceilings: Ceilings
    cache_bytes: float | None


def limits_of(devices: Sequence[Device], index: int | None) -> DeviceLimits:
    """Return the limits of the device `index`, of the only one where `index` is not among several."""
    chosen = next((device for device in devices if device.index == index), devices[0] if len(devices) == 1 else None)
    if chosen is None or index is None:
        return DeviceLimits(Ceilings(), None)
    return DeviceLimits(ceilings_of(chosen), cache_bytes(chosen.name))
