"""Building a replay from a trace: who launched what, what waited for what, and what of it was the profiler's."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.replay.jobs import build_jobs
from reportgen.analysis.replay.program import NOTHING, HostEvents, Program
from reportgen.analysis.replay.replay import WANDER, Replay
from reportgen.analysis.replay.sequence import Sequence, list_sequence
from reportgen.analysis.replay.simulate import measure_period_ns
from reportgen.analysis.waiting.profiler_share import MOST_SCALE, measure_recording_costs, place_share
from reportgen.analysis.waiting.refill import list_launches
from reportgen.analysis.waiting.waits import find_host_threads

if TYPE_CHECKING:
    from reportgen.analysis.model import Timing
    from reportgen.analysis.replay.jobs import JobTable
    from reportgen.analysis.replay.program import Float64
    from reportgen.analysis.steps.steps import StepWindow
    from reportgen.analysis.waiting.profiler_share import RecordingCosts
    from reportgen.recording import StepMode
    from reportgen.trace.columns import Int64, Trace

_ROUNDS = 12
# The host of one and the same machine was up to this many times slower from one run to the next.
MOST_PACE = 2.0
# A base as near as this is left as it is.
NEAR = 0.002


def build_replay(
    trace: Trace, steps: StepWindow, timing: Timing | None, device: int, *, mode: StepMode | None = None
) -> Replay | None:
    """Build the model of the case's step on `device`; None where nothing was launched on it in the steps.

    With an unprofiled step time the profiler's share is set so that the model takes as long, as far as it can; else it
    is bounded by what recording costs. `mode` says how steps follow each other where it is not as in `timing`; the base
    error is that of the mode that was recorded.
    """
    recorded_mode = timing.mode if timing is not None else "pipelined"
    sequence = list_sequence(trace, steps)
    jobs = build_jobs(trace, sequence)
    if len(jobs.jobs.stream) == 0:
        return None
    draft = _Draft(
        sequence=sequence, jobs=jobs, drained=recorded_mode == "drained" or steps.basis == "window",
        costs=_costs(trace, sequence, device),
    )  # fmt: skip
    profiled_ns = steps.covered(recorded_mode).step_us * 1e3
    recorded = draft.program(np.zeros(len(draft.costs[0])))
    replayed_ns = measure_period_ns(recorded)
    error = abs(replayed_ns / profiled_ns - 1) if profiled_ns > 0 else float("inf")
    programs: list[Program]
    timed = timing is not None and timing.basis == "unprofiled"
    if timing is not None and timed and timing.step_us:
        program = _paced(_anchored(draft, timing.step_us * 1e3), timing)
        programs = [program, program, program]
        error = abs(measure_period_ns(program) / (timing.step_us * 1e3) - 1)
    else:
        low, high = draft.costs
        programs = [draft.program(high), draft.program((low + high) / 2), draft.program(low)]
    if mode is not None:
        recorded, *programs = (dataclasses.replace(one, drained=mode == "drained") for one in (recorded, *programs))
    least, middle, most = programs
    return Replay(
        program=middle, least=least, most=most, base_error=error,
        recorded=None if timed else recorded, wander=0.0 if timed else WANDER,
    )  # fmt: skip


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Draft:
    """A program but for the profiler's share."""

    sequence: Sequence
    jobs: JobTable
    drained: bool
    costs: tuple[Float64, Float64]  # by stretch and call in turn: what recording cost at least and at most

    def program(self, cost_ns: Float64) -> Program:
        """Return the program without `cost_ns` in each stretch and call; what one has no room for, the next gives."""
        sequence, jobs = self.sequence, self.jobs
        length = _interleave(sequence.stretch_ns, jobs.own_ns)
        share = place_share(length, np.rint(cost_ns).astype(np.int64), np.zeros(len(length), dtype=np.int64))
        true_ns = (length - share).astype(np.float64)
        host = HostEvents(
            call=sequence.call,
            step=sequence.step,
            stretch_ns=true_ns[0::2],
            stretch_start_ns=sequence.stretch_start_ns,
            stretch_end_ns=sequence.stretch_end_ns,
            call_ns=true_ns[1::2],
            job=jobs.job_of_event,
            wait_job=jobs.wait_job,
            return_ns=jobs.return_ns,
        )
        launching = (jobs.job_of_event >= 0) & (jobs.wait_job == NOTHING)
        launch_ns = float(np.median(host.call_ns[launching])) if launching.any() else 0.0
        return Program(
            host=host, jobs=jobs.jobs, num_steps=sequence.num_steps, drained=self.drained, launch_ns=launch_ns,
            latency_ns=jobs.latency_ns, gap_ns=jobs.gap_ns,
            activity=jobs.activity, job_of_activity=jobs.job_of_activity,
        )  # fmt: skip


def _anchored(draft: _Draft, step_ns: float) -> Program:
    """Return the program whose period is `step_ns`, costs being weights; the nearest one where none has it."""
    middle = (draft.costs[0] + draft.costs[1]) / 2
    low, high = 0.0, MOST_SCALE
    for _ in range(_ROUNDS):
        scale = (low + high) / 2
        if measure_period_ns(draft.program(middle * scale)) > step_ns:
            low = scale
        else:
            high = scale
    return draft.program(middle * (low + high) / 2)


def _paced(program: Program, timing: Timing) -> Program:
    """Return the program with its host as quick as in the timing pass.

    What recording cost aside, the recorded steps may be any of those that were timed: where the program takes as long
    as some of them do, all that the host does is scaled until it takes what `timing` says: its own time, and copies of
    pageable memory, which it carries. One outside their spread is left.
    """
    times = timing.drained if timing.mode == "drained" else timing.pipelined
    step_ns, period_ns = (timing.step_us or 0.0) * 1e3, measure_period_ns(program)
    if (
        times is None
        or abs(period_ns - step_ns) <= NEAR * step_ns
        or not times.p5_us * 1e3 <= period_ns <= times.p95_us * 1e3
    ):
        return program
    low, high = 1 / MOST_PACE, MOST_PACE
    for _ in range(_ROUNDS):
        pace = (low + high) / 2
        if measure_period_ns(_with_pace(program, pace)) > step_ns:
            high = pace
        else:
            low = pace
    return _with_pace(program, (low + high) / 2)


def _with_pace(program: Program, pace: float) -> Program:
    host, jobs = program.host, program.jobs
    carried = np.append(jobs.by_host, False)  # the last one stands for no job
    job = np.where(host.wait_job >= 0, host.wait_job, len(jobs.by_host))
    return dataclasses.replace(
        program,
        host=dataclasses.replace(
            host,
            stretch_ns=host.stretch_ns * pace,
            call_ns=host.call_ns * pace,
            return_ns=np.where(carried[job], host.return_ns * pace, host.return_ns),
        ),
        jobs=dataclasses.replace(
            jobs,
            duration_ns=np.where(jobs.by_host, jobs.duration_ns * pace, jobs.duration_ns),
            latency_ns=np.where(jobs.by_host, jobs.latency_ns * pace, jobs.latency_ns),
        ),
    )


def _costs(trace: Trace, sequence: Sequence, device: int) -> tuple[Float64, Float64]:
    """Return what recording cost in each stretch and each call, at least and at most."""
    threads = find_host_threads(trace, list_launches(trace, device))
    costs = measure_recording_costs(trace, np.array(threads.all, dtype=np.int32))
    start = _interleave(sequence.stretch_start_ns, sequence.stretch_end_ns)
    end = _interleave(sequence.stretch_end_ns, sequence.call_end_ns)
    low, high = _between(costs, start, end)
    return low, high


def _between(costs: RecordingCosts, start_ns: Int64, end_ns: Int64) -> tuple[Float64, Float64]:
    low, high = costs.between(start_ns, np.maximum(end_ns, start_ns))
    return low.astype(np.float64), high.astype(np.float64)


def _interleave(one: Int64, other: Int64) -> Int64:
    """Return the entries of both in turn."""
    return np.stack((one, other), axis=1).ravel()
