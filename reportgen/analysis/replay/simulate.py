"""Running a program until its period settles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.analysis.replay.program import NOTHING

if TYPE_CHECKING:
    from reportgen.analysis.replay.program import Program

# The period has settled when two repetitions differ by less than this share of it.
SETTLED = 1e-3
MIN_REPETITIONS = 3
MOST_REPETITIONS = 12


def measure_period_ns(program: Program) -> float:
    """Return the time from one completion of the program's last step to the next, per step.

    A drained program repeats itself at once: its period is the mean latency of its steps.
    """
    if program.drained:
        return _Machine(program).latency_ns()
    machine, before, period = _Machine(program), 0.0, 0.0
    for repetition in range(MOST_REPETITIONS):
        completed = machine.repeat()
        previous, period = period, completed - before
        before = completed
        if repetition >= MIN_REPETITIONS - 1 and abs(period - previous) <= SETTLED * period:
            break
    return period / program.num_steps


class _Machine:
    """Host, queues and streams; plain lists, which a loop over single events reads fastest."""

    def __init__(self, program: Program) -> None:
        host, jobs = program.host, program.jobs
        self._program = program
        self._events: list[tuple[float, float, int, int, float, bool]] = list(
            zip(host.stretch_ns.tolist(), host.call_ns.tolist(), host.job.tolist(), host.wait_job.tolist(),
                host.return_ns.tolist(), (host.call < 0).tolist(), strict=True)
        )  # fmt: skip
        self._jobs: list[tuple[int, float, float, bool, float, int, bool]] = list(
            zip(jobs.stream.tolist(), jobs.duration_ns.tolist(), jobs.latency_ns.tolist(), jobs.from_start.tolist(),
                jobs.gap_ns.tolist(), jobs.after_job.tolist(), jobs.active.tolist(), strict=True)
        )  # fmt: skip
        num_streams = int(jobs.stream.max(initial=-1)) + 1
        # A stream that never worked is free since long, and there is no pause after nothing.
        self._free = [float("-inf")] * num_streams
        self._done = [0.0] * len(self._jobs)
        self._host = 0.0
        self._reached: float = 0.0  # the latest end of any job
        self._latencies: list[float] = []

    def latency_ns(self) -> float:
        """Run once, each step from an idle device, and return the mean time from its start to its completion."""
        self.repeat()
        return sum(self._latencies) / len(self._latencies) if self._latencies else 0.0

    def repeat(self) -> float:
        """Run the program once more and return when its last step was complete."""
        earlier, self._done = self._done, [0.0] * len(self._jobs)
        now, done, reached = self._host, self._done, self._reached
        begun, drained = now, self._program.drained
        for stretch, length, job, waits_for, returns, ends_step in self._events:
            now += stretch
            called = now
            now += length
            if job >= 0:
                done[job] = self._start(job, called, now, earlier)
                reached = max(reached, done[job])
            if waits_for != NOTHING:
                # Python's own negative indices lead to the end of the repetition before.
                ready = done[waits_for] if waits_for >= 0 else _at(earlier, waits_for)
                now = max(now, ready + returns)
            if ends_step and drained:
                now = max(now, reached)
                self._latencies.append(now - begun)
                begun = now
        self._host, self._reached = now, reached
        return float(max(now, reached))

    def _start(self, job: int, called: float, returned: float, earlier: list[float]) -> float:
        """Give a job to its stream and return when it is done."""
        stream, duration, latency, from_start, gap, after, active = self._jobs[job]
        if not active:
            return max(self._free[stream], 0.0)
        start = max((called if from_start else returned) + latency, called, self._free[stream] + gap)
        if after != NOTHING:
            start = max(start, self._done[after] if after >= 0 else _at(earlier, after))
        end = start + duration
        self._free[stream] = end
        return end


def _at(done: list[float], row: int) -> float:
    """Return an entry of the repetition before; one from before that is long over."""
    return done[row] if -row <= len(done) else 0.0
