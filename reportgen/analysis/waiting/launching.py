"""How the host feeds the device: latency, lead, blocking launches, kernels that are over too soon, and a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from reportgen.analysis.arithmetic.spans import covered, union
from reportgen.analysis.model import Launching
from reportgen.analysis.steps.window import durations_ns
from reportgen.analysis.waiting.call_kinds import full_queue_overheads
from reportgen.analysis.waiting.host_load import measure_host_load
from reportgen.analysis.waiting.latency import list_leads
from reportgen.trace.columns import ActivityKind
from reportgen.trace.graphs import is_graph_launch
from reportgen.trace.quality import IDLE_UNKNOWN_CODES

if TYPE_CHECKING:
    from reportgen.analysis.steps.window import Counted
    from reportgen.analysis.waiting.budget_result import BudgetResult
    from reportgen.analysis.waiting.host_load import HostLoad
    from reportgen.analysis.waiting.latency import LaunchLeads
    from reportgen.trace.columns import Bool, Int64, Trace

Verdict = Literal["host-bound", "device-bound", "undecided"]

# From how much of the device's busy time on the host is called the limit; less is within what one run's host time
# wanders from the next.
HOST_OVER_BUSY = 1.1
# A launch call that takes this many times the median, on a device that is busy all the while, waited for the queue.
BLOCKED_FACTOR = 10
# Replayed graphs with more of the device time than this hide what the device did: loops are recorded once, and gaps
# inside a graph are nobody's launch.
MOST_REPLAYED = 0.5


def measure_launching(trace: Trace, counted: Counted, budget: BudgetResult, busy_us: float | None) -> Launching | None:
    """Measure how the host feeds the budget's device; None where the host is the device.

    `busy_us` is the device's busy time per step.
    """
    if budget.device is None:
        return None
    on_device = counted.activities & (trace.activities.device == budget.device)
    leads = list_leads(trace, budget.device, on_device)
    if len(leads.call) == 0:
        return None
    blocked = _blocked_ns(trace, leads)
    load = measure_host_load(trace, budget, float(blocked.sum()) / counted.num_steps)
    latency_ns = leads.latency_ns
    certain = _replayed_share(trace, on_device) <= MOST_REPLAYED and not _lacks_work(trace)
    return Launching(
        launches_per_step=len(leads.call) / counted.num_steps,
        latency_us=None if latency_ns is None else latency_ns / 1e3,
        median_lead_us=_median_us(leads.lead_ns[leads.in_order]),
        blocked_us_per_step=float(blocked.sum()) / 1e3 / counted.num_steps,
        short_kernels_per_step=_short_kernels(trace, leads) / counted.num_steps,
        median_activity_us=float(np.median(durations_ns(trace.activities)[on_device])) / 1e3,
        host_us_per_step=load.middle_us,
        host_low_us=load.low_us,
        host_high_us=load.high_us,
        verdict=_verdict(load, busy_us, certain=certain),
        idle_is_certain=certain,
    )


def _median_us(values_ns: Int64) -> float | None:
    return float(np.median(values_ns)) / 1e3 if len(values_ns) else None


def _lacks_work(trace: Trace) -> bool:
    """Tell whether the trace says that the device did more than was recorded."""
    return any(notice.code in IDLE_UNKNOWN_CODES and notice.affects_conclusions for notice in trace.notices)


def _verdict(load: HostLoad, busy_us: float | None, *, certain: bool) -> Verdict:
    """Compare the host's own time with the device's; between the bounds of the profiler's share nothing is decided."""
    if not busy_us or not certain:
        return "undecided"
    if load.low_us > HOST_OVER_BUSY * busy_us:
        return "host-bound"
    return "device-bound" if load.high_us < busy_us else "undecided"


def _replayed_share(trace: Trace, on_device: Bool) -> float:
    """Return the share of device time that graph launches brought."""
    activities = trace.activities
    rows = np.flatnonzero(on_device & (activities.call >= 0))
    replayed = rows[is_graph_launch(trace)[activities.call[rows]]]
    duration = durations_ns(activities)
    whole = int(duration[on_device].sum())
    return float(duration[replayed].sum()) / whole if whole else 0.0


def _blocked_ns(trace: Trace, leads: LaunchLeads) -> np.typing.NDArray[np.float64]:
    """Return for each launch how long it waited for a full queue.

    The trace says so by an overhead, or the launch takes far longer than others while the device is busy throughout.
    """
    length = leads.end_ns - leads.start_ns
    full = full_queue_overheads(trace)
    said = covered(union(trace.overheads.start_ns[full], trace.overheads.end_ns[full]), leads.start_ns, leads.end_ns)
    explained = union(trace.overheads.start_ns[~full], trace.overheads.end_ns[~full])
    busy = union(leads.activity_start_ns, leads.activity_end_ns)
    throughout = covered(busy, leads.start_ns, leads.end_ns) >= length
    ordinary = np.median(length)
    long = (length > BLOCKED_FACTOR * ordinary) & throughout & (covered(explained, leads.start_ns, leads.end_ns) == 0)
    return np.maximum(said, np.where(long, length - ordinary, 0)).astype(np.float64)


def _short_kernels(trace: Trace, leads: LaunchLeads) -> int:
    """Count kernels shorter than the time from their launch to the next one, that came upon an empty queue."""
    interval = np.append(np.diff(leads.start_ns), 0)
    kernel = trace.activities.kind[leads.first_activity] == ActivityKind.KERNEL
    length = leads.activity_end_ns - leads.activity_start_ns
    return int((kernel & leads.found_idle & (length < interval)).sum())
