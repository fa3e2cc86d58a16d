"""The timing pass: steps without the profiler, warm and settled, in blocks between the other passes."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import TypeVar

from reportgen.recording import RecordedTiming, Samples, Scalar
from reportgen.runner import schedule
from reportgen.runner.stepping import Block, Stepper, time_block, time_step

Measured = TypeVar("Measured")
# A lap's steps that are left to the passes that are not timed.
_RESERVED_VISITS = 24


class Timekeeper:
    """Times a case's steps block by block and keeps what was measured.

    `sample` is called after each measured block, to read the device's clock and power beside it.
    """

    def __init__(self, stepper: Stepper, sample: Callable[[], None]) -> None:
        self._stepper = stepper
        self._sample = sample
        self._spent_us = 0.0
        self._settling_us: list[float] = []
        self._blocks: list[Block] = []
        self._later: list[Block] = []

    @property
    def step_us(self) -> float:
        """The step time as known so far."""
        if self._blocks:
            return statistics.median(value for block in self._blocks for value in self._counted(block))
        return self._settling_us[-1]

    def settle(self) -> None:
        """Run steps that are not measured until their time no longer drifts, or the time for it is used up."""
        self._settling_us = [self._settle_once(1)]
        while self._spent_us < schedule.SETTLING_S * 1e6 and (
            len(self._settling_us) < 3 or schedule.is_drifting(self._settling_us)
        ):
            self._settling_us.append(self._settle_once(schedule.settling_steps(self.step_us)))

    def measure_block(self) -> None:
        """Measure one block."""
        num_steps = schedule.block_steps(self.step_us)
        is_first_lap = self._stepper.is_first_lap
        block = self._timed(lambda: time_block(self._stepper, num_steps))
        (self._blocks if is_first_lap and self._stepper.is_first_lap else self._later).append(block)
        self._sample()

    def measure_until_settled(self) -> None:
        """Measure one more block, and others as long as the blocks drift and there is time and a lap left."""
        self.measure_block()
        while self._is_drifting() and self._spent_us < schedule.TIMING_S * 1e6 and self._has_visits_left():
            self.measure_block()

    def measure_revisits(self) -> None:
        """Where steps are counted in laps, go back and measure steps that were seen before."""
        if self._stepper.step.before is None:
            return
        num_steps = min(schedule.revisit_steps(self.step_us), self._stepper.index)
        self._stepper.start_lap()
        self._later.append(self._timed(lambda: time_block(self._stepper, num_steps)))

    def timing(self, conditions: dict[str, list[Scalar]]) -> RecordedTiming:
        """Return all that was measured up to now."""
        return RecordedTiming(
            mode="drained" if self._stepper.is_drained else "pipelined",
            pipelined=_samples([(block.intervals_us, block.intervals_starved_us) for block in self._blocks]),
            drained=_samples([(block.latencies_us, block.latencies_starved_us) for block in self._blocks]),
            revisit=_samples([(block.latencies_us, block.latencies_starved_us) for block in self._later]),
            conditions={name: list(column) for name, column in conditions.items()},
        )

    def _settle_once(self, num_steps: int) -> float:
        return self._timed(lambda: statistics.median(time_step(self._stepper) for _ in range(num_steps)))

    def _timed(self, work: Callable[[], Measured]) -> Measured:
        start = self._stepper.clock.now_us()
        result = work()
        self._spent_us += self._stepper.clock.now_us() - start
        return result

    def _counted(self, block: Block) -> tuple[float, ...]:
        """Return the times of the kind that counts as the step's."""
        return block.latencies_us if self._stepper.is_drained else block.intervals_us

    def _is_drifting(self) -> bool:
        return schedule.is_drifting([statistics.median(self._counted(block)) for block in self._blocks])

    def _has_visits_left(self) -> bool:
        left = self._stepper.num_first_visits_left
        return left is None or left >= schedule.block_steps(self.step_us) + _RESERVED_VISITS


def _samples(blocks: Sequence[tuple[tuple[float, ...], tuple[float, ...]]]) -> Samples | None:
    """Return the samples of `blocks`, each of times and waits for a core, or None where there are none."""
    filled = [(times, starved) for times, starved in blocks if times]
    if not filled:
        return None
    told = all(len(starved) == len(times) for times, starved in filled)
    return Samples(
        samples_us=tuple(value for times, _ in filled for value in times),
        blocks=tuple(number for number, (times, _) in enumerate(filled) for _ in times),
        settled=not schedule.is_drifting([statistics.median(times) for times, _ in filled]),
        starved_us=tuple(value for _, starved in filled for value in starved) if told else (),
    )
