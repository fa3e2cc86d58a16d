"""What the device did in the profiled steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.arithmetic.spans import Spans, union
from reportgen.analysis.model import DeviceTime
from reportgen.analysis.steps.window import durations_ns, main_device

if TYPE_CHECKING:
    from reportgen.analysis.attribution.attribution import Attribution
    from reportgen.analysis.steps.window import Counted
    from reportgen.trace.columns import Bool, Trace


def measure_device_time(attribution: Attribution, counted: Counted, step_us: float | None) -> DeviceTime:
    """Measure busy and idle time per step, of the device with the most work where there are several.

    `step_us` is the step time that idle time and busy share refer to; None leaves both out. Where no device activity
    was recorded every figure is None, since nothing tells an idle device from an unwatched one.
    """
    trace = attribution.timeline
    if not trace.device_recorded:
        return DeviceTime(
            busy_us_per_step=None,
            idle_us_per_step=None,
            busy_share=None,
            activities_per_step=None,
            activity_sum_us_per_step=None,
            num_streams=None,
            before_window_us=None,
            unattributed_share=None,
            num_devices=None,
        )
    own = on_main_device(trace, counted)
    duration = durations_ns(trace.activities)
    busy = busy_spans(trace, own).total_ns / 1e3 / counted.num_steps
    activity_sum, nameless = duration[own].sum(), duration[own & (attribution.activity_group < 0)].sum()
    return DeviceTime(
        busy_us_per_step=busy,
        idle_us_per_step=None if step_us is None else max(step_us - busy, 0.0),
        busy_share=min(busy / step_us, 1.0) if step_us else None,
        activities_per_step=int(own.sum()) / counted.num_steps,
        activity_sum_us_per_step=float(activity_sum) / 1e3 / counted.num_steps,
        num_streams=len(np.unique(trace.activities.stream[own])),
        before_window_us=float(duration[trace.activities.before_window].sum()) / 1e3,
        unattributed_share=float(nameless / activity_sum) if activity_sum else None,
        num_devices=len(np.unique(trace.activities.device[counted.activities])),
    )


def on_main_device(trace: Trace, counted: Counted) -> Bool:
    """Select the counted activities of the device with the most work."""
    device = main_device(trace, counted)
    if device is None:
        return np.zeros(len(trace.activities.start_ns), dtype=bool)
    return np.asarray(counted.activities & (trace.activities.device == device), dtype=bool)


def busy_spans(trace: Trace, chosen: Bool) -> Spans:
    """Return when any of the `chosen` activities ran."""
    return union(trace.activities.start_ns[chosen], trace.activities.end_ns[chosen])
