"""What the device was given: jobs on streams, what each waited for, and what the host waited for."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.replay.program import NOTHING, Jobs
from reportgen.trace.columns import CopyDirection

if TYPE_CHECKING:
    from reportgen.analysis.replay.program import Float64
    from reportgen.analysis.replay.sequence import Sequence
    from reportgen.trace.columns import Bool, Int64, Trace

# The clocks of host and device agree to within this; a wait that ends so soon after a job ended waited for it.
CLOCK_NS = 5_000
# A pause of a stream that is longer, after all that it could wait for, is looked up on other streams.
ORDINARY_PAUSE_NS = 10_000
_PAGEABLE = (CopyDirection.HOST_TO_DEVICE_PAGEABLE, CopyDirection.DEVICE_TO_HOST_PAGEABLE)


@dataclasses.dataclass(frozen=True, kw_only=True)
class JobTable:
    """Jobs and how the host's events refer to them; the columns up to `own_ns` are by event."""

    jobs: Jobs
    job_of_event: Int64
    wait_job: Int64
    return_ns: Float64
    own_ns: Int64  # host time in the call, waiting aside
    latency_ns: float  # typical, of launches onto an idle stream
    gap_ns: float  # typical, between activities that were queued
    activity: Int64
    job_of_activity: Int64


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Recorded:
    """When jobs ran in the trace; `event` is the row of the sequence that launched each."""

    event: Int64
    stream: Int64
    start_ns: Int64
    end_ns: Int64
    called_ns: Int64
    returned_ns: Int64
    free_ns: Int64  # when its stream had done what came before it
    by_host: Bool


def build_jobs(trace: Trace, sequence: Sequence) -> JobTable:
    """Make one job of what each call launched, in order of launch."""
    activities, calls = trace.activities, trace.calls
    event_of_call = np.full(len(calls.start_ns), -1, dtype=np.int64)
    events = np.flatnonzero(sequence.call >= 0)
    event_of_call[sequence.call[events]] = events
    rows = np.flatnonzero(activities.call >= 0)
    rows = rows[event_of_call[activities.call[rows]] >= 0]
    event, first, job_of_activity = np.unique(
        event_of_call[activities.call[rows]], return_index=True, return_inverse=True
    )
    end = np.zeros(len(event), dtype=np.int64)
    np.maximum.at(end, job_of_activity, activities.end_ns[rows])
    key = np.stack((activities.device[rows[first]].astype(np.int64), activities.stream[rows[first]]))
    stream = np.unique(key, axis=1, return_inverse=True)[1].ravel().astype(np.int64)
    call = sequence.call[event]
    recorded = _Recorded(
        event=event, stream=stream, start_ns=activities.start_ns[rows[first]], end_ns=end,
        called_ns=calls.start_ns[call], returned_ns=calls.end_ns[call], free_ns=_previous_end(trace)[rows[first]],
        by_host=np.isin(activities.copy_direction[rows[first]], _PAGEABLE),
    )  # fmt: skip
    job_of_event = np.full(len(sequence.call), -1, dtype=np.int64)
    job_of_event[event] = np.arange(len(event))
    jobs, latency, gap = _tell_waits_apart(recorded, blocking=sequence.waits[event])
    wait_job, return_ns, own_ns = _host_waits(sequence, recorded, np.sort(activities.end_ns))
    return JobTable(
        jobs=jobs, job_of_event=job_of_event, wait_job=wait_job, return_ns=return_ns, own_ns=own_ns,
        latency_ns=latency, gap_ns=gap, activity=rows, job_of_activity=job_of_activity.ravel().astype(np.int64),
    )  # fmt: skip


def _tell_waits_apart(recorded: _Recorded, blocking: Bool) -> tuple[Jobs, float, float]:
    """Tell what each job waited for last: its launch, its stream, or a job of another stream.

    The pause that it showed is kept for that one; for the others it is what is typical of the trace.
    """
    free = recorded.free_ns
    arrived = np.where(blocking, recorded.called_ns, recorded.returned_ns)
    by_launch = arrived >= free
    latency, gap = recorded.start_ns - arrived, recorded.start_ns - free
    after = _find_dependencies(recorded, np.maximum(arrived, free))
    depends = after != NOTHING
    launched, queued = by_launch & ~blocking & ~depends, ~by_launch & ~depends
    typical_latency = float(np.median(latency[launched])) if launched.any() else 0.0
    typical_gap = float(np.median(gap[queued])) if queued.any() else 0.0
    jobs = Jobs(
        stream=recorded.stream,
        duration_ns=(recorded.end_ns - recorded.start_ns).astype(np.float64),
        latency_ns=np.where(by_launch & ~depends, latency, np.where(blocking, 0.0, typical_latency)),
        from_start=blocking,
        gap_ns=np.where(queued, np.maximum(gap, 0), typical_gap).astype(np.float64),
        after_job=after,
        by_host=recorded.by_host,
        active=np.ones(len(recorded.stream), dtype=bool),
    )
    return jobs, typical_latency, typical_gap


def _previous_end(trace: Trace) -> Int64:
    """Return when the activity before each on its stream was done, whoever launched it; far back for the first."""
    activities = trace.activities
    order = np.lexsort((activities.start_ns, activities.stream, activities.device))
    free = np.full(len(order), -(2**60), dtype=np.int64)
    stream, device = activities.stream[order], activities.device[order]
    same = (stream[1:] == stream[:-1]) & (device[1:] == device[:-1])
    free[order[1:][same]] = activities.end_ns[order[:-1][same]]
    return free


def _find_dependencies(recorded: _Recorded, ready_ns: Int64) -> Int64:
    """Return the job of another stream that each late job began right after, NOTHING where there is none."""
    after = np.full(len(recorded.stream), NOTHING, dtype=np.int64)
    by_end = np.argsort(recorded.end_ns, kind="stable")
    ends = recorded.end_ns[by_end]
    for job in np.flatnonzero(recorded.start_ns - ready_ns > ORDINARY_PAUSE_NS).tolist():
        last = int(np.searchsorted(ends, recorded.start_ns[job], side="right")) - 1
        while last >= 0 and recorded.start_ns[job] - ends[last] <= ORDINARY_PAUSE_NS:
            other = int(by_end[last])
            if recorded.stream[other] != recorded.stream[job] and other < job:
                after[job] = other
                break
            last -= 1
    return after


def _host_waits(sequence: Sequence, recorded: _Recorded, all_ends_ns: Int64) -> tuple[Int64, Float64, Int64]:
    """Return for each event the job that it waited for, how long after that job's end it returned, and its own time.

    A call that waits for what it launches itself returns around that job's end: a copy from pageable memory even before
    it, once the host has carried its last piece. For any other the job is the one that ended last of those launched
    until then that were over when the call returned. Where there is none it is the last one of the repetition before,
    and what tells when that was over is whatever ended last in the trace (`all_ends_ns`, sorted).
    """
    wait_job = np.full(len(sequence.call), NOTHING, dtype=np.int64)
    return_ns = np.zeros(len(sequence.call))
    own_ns = sequence.busy_ns.copy()
    for event in np.flatnonzero(sequence.waits).tolist():
        returned = int(sequence.call_end_ns[event])
        stop = int(np.searchsorted(recorded.event, event, side="right"))
        if stop and recorded.event[stop - 1] == event and recorded.start_ns[stop - 1] < returned:
            wait_job[event] = stop - 1
            return_ns[event], own_ns[event] = returned - recorded.end_ns[stop - 1], 0
            continue
        over = np.flatnonzero(recorded.end_ns[:stop] <= returned + CLOCK_NS)
        if len(over):
            wait_job[event] = job = int(over[np.argmax(recorded.end_ns[over])])
            ended = int(recorded.end_ns[job])
        else:
            wait_job[event] = -1
            before = int(np.searchsorted(all_ends_ns, returned + CLOCK_NS, side="right")) - 1
            ended = int(all_ends_ns[before]) if before >= 0 else int(sequence.stretch_end_ns[event])
        if ended > sequence.stretch_end_ns[event]:
            return_ns[event], own_ns[event] = max(returned - ended, 0), 0
    return wait_job, return_ns, own_ns
