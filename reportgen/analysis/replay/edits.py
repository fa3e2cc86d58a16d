"""Fixes as changes of a program; they compose, in the order in which they are applied."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Protocol

import numpy as np

from reportgen.analysis.arithmetic.spans import covered, union
from reportgen.analysis.replay.program import NOTHING, HostEvents, Jobs, Program

if TYPE_CHECKING:
    from reportgen.analysis.replay.program import Float64
    from reportgen.trace.columns import Bool, Int64


# From the end of an activity to the start of the next in a replayed graph: the median of 135 such pauses on one H200
# (0.42 to 4.1 µs). Between queued launches it was 1.1 to 1.9 µs, and a step whose queue runs empty shows neither.
GRAPH_PAUSE_NS = 450.0


class Edit(Protocol):
    """A change of a program."""

    def apply(self, program: Program) -> Program:
        """Return the program with the change made."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class RemoveSyncs:
    """The host no longer waits in `calls` (rows of Trace.calls; None: in none), and does not make those calls."""

    calls: Int64 | None = None

    def apply(self, program: Program) -> Program:
        """Drop waits; a call that launches as well, such as a blocking copy, still launches."""
        host = program.host
        chosen = host.wait_job != NOTHING
        if self.calls is not None:
            chosen &= np.isin(host.call, self.calls)
        silent = chosen & (host.job < 0)
        call_ns = np.where(silent, 0.0, np.where(chosen, np.minimum(host.call_ns, program.launch_ns), host.call_ns))
        return _with_host(program, wait_job=np.where(chosen, NOTHING, host.wait_job), call_ns=call_ns)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ShortenHost:
    """Host time between `start_ns` and `end_ns` (of the trace, spans in any order) takes `keep` of what it took."""

    start_ns: Int64
    end_ns: Int64
    keep: float = 0.0

    def apply(self, program: Program) -> Program:
        """Shorten each stretch by its share that lies in the spans."""
        host = program.host
        share = _share_in(host, self.start_ns, self.end_ns)
        return _with_host(program, stretch_ns=host.stretch_ns * (1 - share * (1 - self.keep)))


@dataclasses.dataclass(frozen=True, kw_only=True)
class DropActivities:
    """The device does not do `activities` (rows of Trace.activities), and nobody launches them."""

    activities: Int64

    def apply(self, program: Program) -> Program:
        """Drop jobs whose activities are all dropped, with their launch calls; shorten others."""
        program = ScaleActivities(activities=self.activities, factor=0.0).apply(program)
        gone = program.jobs.active & (program.jobs.duration_ns <= 0) & _touched(program, self.activities)
        host = program.host
        of_gone = (host.job >= 0) & gone[np.maximum(host.job, 0)]
        program = _with_host(program, call_ns=np.where(of_gone & (host.wait_job == NOTHING), 0.0, host.call_ns))
        return _with_jobs(program, active=program.jobs.active & ~gone)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ScaleActivities:
    """`activities` (rows of Trace.activities) take `factor` of their time."""

    activities: Int64
    factor: float

    def apply(self, program: Program) -> Program:
        """Scale the part of each job that the activities make up, all taken to be of equal length within a job."""
        share = _share_of_jobs(program, self.activities)
        return _with_jobs(program, duration_ns=program.jobs.duration_ns * (1 - share * (1 - self.factor)))


@dataclasses.dataclass(frozen=True, kw_only=True)
class SetDurations:
    """Each of `activities` takes `duration_ns` (one for all, or one each), by its roofline or at a peer's rate."""

    activities: Int64
    duration_ns: float | Float64

    def apply(self, program: Program) -> Program:
        """Replace the part of each job that the activities make up."""
        share = _share_of_jobs(program, self.activities)
        each = np.broadcast_to(np.asarray(self.duration_ns, dtype=np.float64), self.activities.shape)
        known = _known(program, self.activities)
        added = np.bincount(_jobs_of(program, self.activities), weights=each[known], minlength=len(share))
        return _with_jobs(program, duration_ns=program.jobs.duration_ns * (1 - share) + added)


@dataclasses.dataclass(frozen=True, kw_only=True)
class HideCopies:
    """The copies `activities` run on a stream of their own, a step ahead, and the host does not wait for them."""

    activities: Int64

    def apply(self, program: Program) -> Program:
        """Move the jobs aside; nothing waits for them any more."""
        chosen = _touched(program, self.activities)
        host, jobs = program.host, program.jobs
        waits = (host.job >= 0) & chosen[np.maximum(host.job, 0)] & (host.wait_job != NOTHING)
        aside = int(jobs.stream.max(initial=-1)) + 1
        program = _with_host(
            program,
            wait_job=np.where(waits, NOTHING, host.wait_job),
            call_ns=np.where(waits, np.minimum(host.call_ns, program.launch_ns), host.call_ns),
        )
        return _with_jobs(program, stream=np.where(chosen, aside, jobs.stream))


@dataclasses.dataclass(frozen=True, kw_only=True)
class FuseKernels:
    """Runs of kernels are one each: `run` numbers `activities` (rows of Trace.activities) by the run they belong to."""

    activities: Int64
    run: Int64

    def apply(self, program: Program) -> Program:
        """Let the first job of each run do the work of all; the other launches and the host time before them go."""
        job = _jobs_of(program, self.activities)
        _, first, group = np.unique(self.run[_known(program, self.activities)], return_index=True, return_inverse=True)
        first_job = job[first]
        rest = np.setdiff1d(job, first_job)
        duration = program.jobs.duration_ns.copy()
        duration[first_job] = np.bincount(group, weights=program.jobs.duration_ns[job])
        duration[rest] = 0
        active = program.jobs.active.copy()
        active[rest] = False
        of_rest = np.isin(program.host.job, rest)
        program = _with_host(
            program,
            stretch_ns=np.where(of_rest, 0.0, program.host.stretch_ns),
            call_ns=np.where(of_rest, 0.0, program.host.call_ns),
        )
        return _with_jobs(program, duration_ns=duration, active=active)


@dataclasses.dataclass(frozen=True, kw_only=True)
class LaunchAsGraph:
    """Each step is issued as one launch; the device does what it did, one activity a graph's pause behind the other.

    Host time between `start_ns` and `end_ns` (of the trace, spans in any order) is not the cost of issuing work, and
    stays.
    """

    start_ns: Int64 = dataclasses.field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    end_ns: Int64 = dataclasses.field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def apply(self, program: Program) -> Program:
        """Leave one launch of host time a step; a graph holds no waits of the host."""
        host, jobs = program.host, program.jobs
        launches = np.flatnonzero(host.job >= 0)
        _, first = np.unique(host.step[launches], return_index=True)
        call_ns = np.zeros(len(host.call))
        call_ns[launches[first]] = program.launch_ns
        program = _with_host(
            program,
            stretch_ns=host.stretch_ns * _share_in(host, self.start_ns, self.end_ns),
            call_ns=call_ns,
            wait_job=np.full(len(host.call), NOTHING),
        )
        typical, pause = np.full(len(jobs.stream), program.latency_ns), np.full(len(jobs.stream), GRAPH_PAUSE_NS)
        return _with_jobs(program, latency_ns=typical, from_start=np.zeros(len(typical), dtype=bool), gap_ns=pause)


def _share_in(host: HostEvents, start_ns: Int64, end_ns: Int64) -> Float64:
    """Return which share of each stretch lies in the spans."""
    length = np.maximum(host.stretch_end_ns - host.stretch_start_ns, 1)
    return np.asarray(covered(union(start_ns, end_ns), host.stretch_start_ns, host.stretch_end_ns) / length)


def _with_host(program: Program, **columns: object) -> Program:
    host: HostEvents = dataclasses.replace(program.host, **columns)  # type: ignore[arg-type]
    return dataclasses.replace(program, host=host)


def _with_jobs(program: Program, **columns: object) -> Program:
    jobs: Jobs = dataclasses.replace(program.jobs, **columns)  # type: ignore[arg-type]
    return dataclasses.replace(program, jobs=jobs)


def _known(program: Program, activities: Int64) -> Bool:
    """Tell which activities are in the program; those of other steps are not."""
    return np.asarray(np.isin(activities, program.activity))


def _jobs_of(program: Program, activities: Int64) -> Int64:
    """Return the job of each activity that is in the program."""
    known = activities[_known(program, activities)]
    return np.asarray(program.job_of_activity[np.searchsorted(program.activity, known)], dtype=np.int64)


def _share_of_jobs(program: Program, activities: Int64) -> np.typing.NDArray[np.float64]:
    """Return which share of each job's activities is among `activities`."""
    num_jobs = len(program.jobs.stream)
    whole = np.bincount(program.job_of_activity, minlength=num_jobs)
    return np.bincount(_jobs_of(program, activities), minlength=num_jobs) / np.maximum(whole, 1)


def _touched(program: Program, activities: Int64) -> Bool:
    return _share_of_jobs(program, activities) > 0
