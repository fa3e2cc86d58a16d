"""Checks of what the device did: lost or misplaced activities, unknown operators, communication."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen import formatting as fmt
from reportgen.trace.call_names import KERNEL_LAUNCH, match_names
from reportgen.trace.columns import Bool, TraceNotice
from reportgen.trace.coverage import share_of_launched
from reportgen.trace.graphs import find_captured, find_incomplete_replays, find_unrecorded_work, is_graph_launch
from reportgen.trace.idleness import find_unexplained_waits

if TYPE_CHECKING:
    from reportgen.trace.columns import Trace

# Up to here the driver's losses change no conclusion; "more the longer it was idle" begins above.
_TOLERABLE_LOSS = 0.03
# Under a twentieth, what has no operator cannot change the order of the operators that matter.
_TOLERABLE_UNATTRIBUTED = 0.05
# Less is not worth a sentence.
_WORTH_SAYING = 0.01


def find_missing_device(trace: Trace) -> TraceNotice | None:
    """Say that there was a device and that nothing of it was recorded; silent where there is no sign of a device."""
    if trace.device_recorded or not trace.device_expected:
        return None
    signs = ["a device is listed"] if trace.info.devices else []
    if len(trace.calls.name):
        calls = len(trace.calls.name)
        signs.append(f"{fmt.plural(calls, 'call')} of its runtime {fmt.noun(calls, 'was', 'were')} recorded")
    if (trace.memory.device_type > 0).any():
        signs.append("its memory was used")
    return TraceNotice(
        code="device-not-recorded",
        text=f"No device activity was recorded, although {fmt.listing(signs)}: device times are left out. "
        "Record with the device's ProfilerActivity (CUDA, XPU) and no other profiler attached.",
        affects_conclusions=True,
    )


def find_misaligned_clocks(trace: Trace) -> TraceNotice | None:
    """Count activities that start before their launch; they say nothing about latency, and are left as they are."""
    call, start = trace.activities.call, trace.activities.start_ns
    linked = np.flatnonzero(call >= 0)
    early_ns = trace.calls.start_ns[call[linked]] - start[linked]
    count = int((early_ns > 0).sum())
    if not count:
        return None
    return TraceNotice(
        code="clocks-misaligned",
        text=f"{_part(count, len(linked), 'device activity', 'device activities')} "
        f"{fmt.noun(count, 'starts before its', 'start before their')} launch, by up to "
        f"{fmt.duration(int(early_ns.max()) / 1000)}: the clocks of host and device differ, and gaps may be off by as "
        "much.",
        count=count,
        share=count / len(linked),
        affects_conclusions=True,
    )


def find_lost_activities(trace: Trace) -> TraceNotice | None:
    """Count kernel launches that no device activity belongs to."""
    calls = trace.calls
    if not trace.device_recorded:
        return None
    is_launch = match_names(KERNEL_LAUNCH, trace.names, calls.name) & ~is_graph_launch(trace) & ~find_captured(trace)
    # Compared by id, not by link: of a runtime call and the driver call inside it only one has the activity.
    lost = (is_launch & ~np.isin(calls.correlation, trace.activities.correlation))[is_launch]
    if not lost.any():
        return None
    count, share = int(lost.sum()), float(lost.mean())
    first = len(lost) if lost.all() else int(lost.argmin())
    where = ", the first in a row" if first == count and count > 1 else ""
    return TraceNotice(
        code="launches-without-activity",
        text=f"{_part(count, len(lost), 'launch', 'launches')} {fmt.noun(count, 'has', 'have')} no device "
        f"activity{where}: the driver dropped records, so device time is a lower bound and idle time an upper one. "
        "Record after some steps of warm-up, without a pause before the window.",
        count=count,
        share=share,
        affects_conclusions=share > _TOLERABLE_LOSS,
    )


def find_graph_replays(trace: Trace) -> TraceNotice | None:
    """Say how much of the device time comes from replayed graphs, whose operators nobody called."""
    replays = is_graph_launch(trace) & trace.calls.is_launch
    replayed = _launched_by(trace, replays)
    share = share_of_launched(trace, replayed)
    if not share:
        return None
    count = int((replayed & ~trace.activities.before_window).sum())
    return TraceNotice(
        code="graph-replays",
        text=f"{fmt.share(share)} of device time is {fmt.plural(count, 'activity', 'activities')} of replayed graphs: "
        "their operators, shapes and source lines are not known. Profile the same step without graphs beside it.",
        count=count,
        share=share,
        affects_conclusions=share > _TOLERABLE_UNATTRIBUTED,
    )


def find_unequal_replays(trace: Trace) -> TraceNotice | None:
    """Count graph launches with fewer activities than others of the same graph."""
    replays = int(is_graph_launch(trace).sum())
    incomplete = int(find_incomplete_replays(trace).sum())
    if not incomplete or not trace.device_recorded:
        return None
    return TraceNotice(
        code="graph-replays-incomplete",
        text=f"{_part(incomplete, replays, 'graph launch', 'graph launches')} "
        f"{fmt.noun(incomplete, 'has', 'have')} fewer activities than others of the same graph: records were lost, "
        "and idle time is no measure of the device.",
        count=incomplete,
        share=incomplete / replays,
        affects_conclusions=True,
    )


def find_waits_for_unrecorded_work(trace: Trace) -> TraceNotice | None:
    """Say how long the host waited for graphs whose recorded activities were long over."""
    unrecorded_ns = find_unrecorded_work(trace)
    if not unrecorded_ns.size:
        return None
    return TraceNotice(
        code="graph-work-not-recorded",
        text=f"The host waited {fmt.duration(int(unrecorded_ns.sum()) / 1000)} for graphs after their last recorded "
        "activity: loops inside a graph are recorded once, and idle time is no measure of the device.",
        count=len(unrecorded_ns),
        affects_conclusions=True,
    )


def find_unrecorded_work_between(trace: Trace) -> TraceNotice | None:
    """Say how long launched work waited for a device of which nothing was recorded meanwhile."""
    waited_ns = find_unexplained_waits(trace)
    share = int(waited_ns.sum()) / max(trace.window_end_ns - trace.window_start_ns, 1)
    if share < _WORTH_SAYING:
        return None
    count = len(waited_ns)
    often = fmt.times(count)
    return TraceNotice(
        code="device-work-not-recorded",
        text=f"Launched work waited {often} for a device that did nothing by this record, "
        f"{fmt.duration(int(waited_ns.sum()) / 1000)} in all: what ran then, work from before the window or of another "
        "process, is not in the file, and idle time is an upper bound.",
        count=count,
        share=min(share, 1.0),
        affects_conclusions=share > _TOLERABLE_UNATTRIBUTED,
    )


def find_unattributed_time(trace: Trace) -> TraceNotice | None:
    """Give the share of device time without an operator, replayed graphs apart."""
    activities = trace.activities
    unknown = (activities.operator < 0) & ~_launched_by(trace, is_graph_launch(trace))
    unlaunched = share_of_launched(trace, unknown & (activities.call < 0)) or 0.0
    share = share_of_launched(trace, unknown) or 0.0
    if share < _WORTH_SAYING:
        return None
    if unlaunched > share / 2:
        reason = "its launches are not in the file. Record the CPU's activities too."
    else:
        reason = "it was launched outside of any, by code that PyTorch does not see."
    return TraceNotice(
        code="unattributed-device-time",
        text=f"{fmt.share(share)} of device time has no operator: {reason}",
        count=int((unknown & ~activities.before_window).sum()),
        share=share,
        affects_conclusions=share > _TOLERABLE_UNATTRIBUTED,
    )


def find_ambiguous_launches(trace: Trace) -> TraceNotice | None:
    """Count activities whose correlation several processes used, none of them known to be the device's."""
    activities, calls = trace.activities, trace.calls
    recorded = calls.correlation[calls.correlation > 0]
    count = int(((activities.call < 0) & np.isin(activities.correlation, recorded)).sum())
    if not count:
        return None
    return TraceNotice(
        code="launches-ambiguous",
        text=f"{fmt.plural(count, 'device activity', 'device activities')} may belong to launches of several "
        "processes, which count them alike: give each process a trace of its own.",
        count=count,
        share=count / len(activities.call),
        affects_conclusions=True,
    )


def find_earlier_work(trace: Trace) -> TraceNotice | None:
    """Say how much of the device time in the file was queued before the window opened."""
    activities = trace.activities
    duration = activities.end_ns - activities.start_ns
    before, total = int(duration[activities.before_window].sum()), int(duration.sum())
    if before <= _WORTH_SAYING * total:
        return None
    return TraceNotice(
        code="queued-before-window",
        text=f"{fmt.duration(before / 1000)} of device time was queued before the window opened: it belongs to no step "
        "and no operator, and is in no figure per step.",
        count=int(activities.before_window.sum()),
        share=before / total,
    )


def find_missing_communication(trace: Trace) -> TraceNotice | None:
    """Say that a job of several ranks shows no communication: a silent 0 would be a lie."""
    world_size = trace.info.world_size or 1
    if world_size < 2 or not trace.device_recorded or trace.activities.communication.any():
        return None
    return TraceNotice(
        code="communication-not-recorded",
        text=f"The job has {fmt.count(world_size)} ranks, yet no kernel is known as communication: it is not recorded, "
        "or counts as compute.",
        affects_conclusions=True,
    )


def find_unknown_groups(trace: Trace) -> TraceNotice | None:
    """Count communication kernels whose process group is not recorded."""
    group = trace.activities.process_group[trace.activities.communication]
    count = int((group < 0).sum())
    if not count:
        return None
    known = "no groups are told apart" if count == len(group) else "groups are told apart for the others only"
    return TraceNotice(
        code="process-group-unknown",
        text=f"{_part(count, len(group), 'communication kernel')} "
        f"{fmt.noun(count, 'names', 'name')} no process group: {known}.",
        count=count,
        share=count / len(group),
    )


def _part(count: int, whole: int, singular: str, several: str | None = None) -> str:
    """Begin a sentence with how many of a whole."""
    text = fmt.part(count, whole, singular, several)
    return text[0].upper() + text[1:]


def _launched_by(trace: Trace, calls: Bool) -> Bool:
    chosen: Bool = np.append(calls, False)[trace.activities.call]
    return chosen


DEVICE_CHECKS = (
    find_missing_device,
    find_misaligned_clocks,
    find_lost_activities,
    find_graph_replays,
    find_unequal_replays,
    find_waits_for_unrecorded_work,
    find_unrecorded_work_between,
    find_unattributed_time,
    find_ambiguous_launches,
    find_earlier_work,
    find_missing_communication,
    find_unknown_groups,
)
