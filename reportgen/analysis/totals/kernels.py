"""Device activities by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from reportgen.analysis.arithmetic.grouping import combine, total
from reportgen.analysis.model import Cut, Kernel
from reportgen.analysis.steps.window import durations_ns
from reportgen.trace.columns import ActivityKind

if TYPE_CHECKING:
    from reportgen.analysis.steps.window import Counted
    from reportgen.trace.columns import Trace

MOST_KERNELS = 200
_COMMUNICATION = 3
_CATEGORIES: dict[int, Literal["kernel", "communication", "copy", "fill"]] = {
    ActivityKind.KERNEL: "kernel",
    ActivityKind.COPY: "copy",
    ActivityKind.FILL: "fill",
    _COMMUNICATION: "communication",
}


def rank_kernels(trace: Trace, counted: Counted) -> Cut[Kernel]:
    """List the activities that the profiled steps launched by name, longest total first.

    Names are kept as the profiler wrote them: two generated kernels that differ in a suffix are two rows.
    """
    activities, chosen = trace.activities, counted.activities
    name = activities.name[chosen]
    if len(name) == 0:
        return Cut()
    kind = np.where(activities.communication, _COMMUNICATION, activities.kind)[chosen]
    duration = durations_ns(activities)[chosen]
    group, first = combine(name, kind)
    calls, sums = total(group, None, len(first)), total(group, duration, len(first))
    shortest = np.full(len(first), np.iinfo(np.int64).max)
    longest = np.zeros(len(first), dtype=np.int64)
    np.minimum.at(shortest, group, duration)
    np.maximum.at(longest, group, duration)
    order = np.argsort(-sums, kind="stable")
    whole = float(sums.sum())

    def row(index: int) -> Kernel:
        num_calls, sum_us = float(calls[index]), float(sums[index]) / 1e3
        return Kernel(
            name=trace.names[name[first[index]]],
            category=_CATEGORIES[int(kind[first[index]])],
            calls_per_step=num_calls / counted.num_steps,
            us_per_step=sum_us / counted.num_steps,
            share_of_device=sum_us * 1e3 / whole if whole else 0.0,
            mean_us=sum_us / num_calls,
            min_us=float(shortest[index]) / 1e3,
            max_us=float(longest[index]) / 1e3,
        )

    return Cut(
        items=tuple(row(int(index)) for index in order[:MOST_KERNELS]),
        total=len(order),
        other_us=float(sums[order[MOST_KERNELS:]].sum()) / 1e3 / counted.num_steps,
    )
