"""What the device did as a whole, and how the host feeds it."""

from __future__ import annotations

from typing import Literal

import msgspec


class DeviceTime(msgspec.Struct, frozen=True, kw_only=True):
    """What the device did in the steps. `busy` is the union over streams, `activity_sum` adds durations."""

    busy_us_per_step: float | None
    idle_us_per_step: float | None  # of the step time in `Timing`, not of the profiled step
    busy_share: float | None  # of step time
    activities_per_step: float | None
    activity_sum_us_per_step: float | None
    num_streams: int | None
    before_window_us: float | None
    unattributed_share: float | None  # of device time launched in the window
    num_devices: int | None = None  # that worked in the steps; the other figures are of the one with the most work


class Launching(msgspec.Struct, frozen=True, kw_only=True):
    """How the host feeds the device."""

    launches_per_step: float | None = None
    latency_us: float | None = None  # launch end to activity start on an idle device: a low quantile
    median_lead_us: float | None = None  # how far the host runs ahead: launch end to activity start, median
    blocked_us_per_step: float | None = None  # launch calls that waited for a full queue
    short_kernels_per_step: float | None = None  # shorter than their own launch interval, queue empty
    median_activity_us: float | None = None
    host_us_per_step: float | None = None  # host time of a step, waits for the device taken out
    host_low_us: float | None = None  # the same, less the upper estimate of the profiler's share
    host_high_us: float | None = None  # the same, less the lower estimate
    verdict: Literal["host-bound", "device-bound", "undecided"] | None = None
    # False where the device did work that was not recorded, or replayed graphs: what looks idle may be none.
    idle_is_certain: bool = True


class Streams(msgspec.Struct, frozen=True, kw_only=True):
    """What runs beside what."""

    num_streams: int
    concurrency: float | None  # activity sum over busy time
    copy_us_per_step: float
    copy_hidden_us_per_step: float
    communication_us_per_step: float
    communication_hidden_us_per_step: float


class Clocks(msgspec.Struct, frozen=True, kw_only=True):
    """The device's clock beside the timing pass."""

    num_samples: int
    first_mhz: float | None = None  # median of the first third of the samples
    last_mhz: float | None = None  # and of the last
    highest_mhz: float | None = None
    # Share of the samples with a reason to run slower than asked for, by reason.
    throttled: dict[str, float] = {}
