"""The step by region: the spans that the program named (`record_function`), torch's own among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.arithmetic.spans import covered, union
from reportgen.analysis.model import Cut, Region
from reportgen.analysis.steps.window import durations_ns

if TYPE_CHECKING:
    from reportgen.analysis.steps.window import Counted
    from reportgen.trace.columns import Trace

# The most regions that are listed; the longest come first.
MAX_REGIONS = 20
_STEP_MARK = "ProfilerStep#"


def measure_regions(trace: Trace, counted: Counted) -> Cut[Region]:
    """Measure each named region of the recorded steps, inclusively: one inside another counts in both.

    Device time is what was launched while the region was open, on whatever thread: a backward pass launches from
    threads of autograd's own. Since regions nest, their times do not add up to the step, and the rest has no sum.
    """
    annotations, activities, num_steps = trace.annotations, trace.activities, counted.num_steps
    inside = (annotations.start_ns >= trace.window_start_ns) & (annotations.end_ns <= trace.window_end_ns)
    launched = np.flatnonzero(counted.activities & (activities.call >= 0))
    launch_ns = trace.calls.start_ns[activities.call[launched]]
    work_ns = durations_ns(activities)[launched]
    device_total_ns = int(durations_ns(activities)[counted.activities].sum())
    regions = []
    for code in np.unique(annotations.name[inside]):
        name = trace.names[code]
        if name.startswith(_STEP_MARK):
            continue
        rows = np.flatnonzero(inside & (annotations.name == code))
        spans = union(annotations.start_ns[rows], annotations.end_ns[rows])
        device_ns = int(work_ns[covered(spans, launch_ns, launch_ns + 1) > 0].sum())
        regions.append(
            Region(
                name=name,
                count_per_step=len(rows) / num_steps,
                host_us_per_step=float((spans.end_ns - spans.start_ns).sum()) / 1e3 / num_steps,
                device_us_per_step=device_ns / 1e3 / num_steps if trace.device_recorded else None,
                share_of_device=device_ns / device_total_ns if device_total_ns else None,
            )
        )
    regions.sort(key=lambda region: (-(region.device_us_per_step or 0.0), -region.host_us_per_step, region.name))
    return Cut(items=tuple(regions[:MAX_REGIONS]), total=len(regions))
