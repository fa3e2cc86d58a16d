"""Running a case's steps in the order that `Step` promises, and timing them without a profiler.

Nothing here knows torch: when a device is done is told by a `Clock`.
"""

from __future__ import annotations

import dataclasses
from itertools import pairwise
from typing import Any, Protocol

from reportgen.runner.core_waits import CoreWaits
from reportgen.workload import NUM_FIRST_VISITS, Step


class Clock(Protocol):
    """Tells the time, and when the work that was issued is done."""

    # True where a step is done when it returns: the host is the device.
    is_synchronous: bool

    def now_us(self) -> float:
        """Return the time."""

    def drain(self) -> None:
        """Wait until all work that was issued is done."""

    def start(self) -> None:
        """Drain, and be ready to give marks."""

    def mark(self) -> Any:
        """Queue a mark behind the work issued so far."""

    def reached_us(self, mark: Any) -> float:
        """Return when the device reached `mark`; only once the clock is drained."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Block:
    """Times of a block of steps run in a row: intervals between completions, and latencies from an idle device.

    `intervals_starved_us` and `latencies_starved_us` say how long the program's threads stood ready for a core
    meanwhile, one value a time; they are empty where the system does not tell.
    """

    intervals_us: tuple[float, ...] = ()
    latencies_us: tuple[float, ...] = ()
    intervals_starved_us: tuple[float, ...] = ()
    latencies_starved_us: tuple[float, ...] = ()


class Stepper:
    """The steps of a case, one after the other.

    Where the step has a `before`, steps are counted through a lap and prepared on a drained device.
    """

    def __init__(self, step: Step, clock: Clock, core_waits: CoreWaits | None = None) -> None:
        self.step = step
        self.clock = clock
        self.core_waits = core_waits or CoreWaits()
        self.index = 0
        self.num_run = 0
        self._num_laps_begun = 1

    @property
    def is_drained(self) -> bool:
        """Whether each step starts on an idle device: the workload says so, or `before` makes it so."""
        return self.step.mode == "drained" or self.step.before is not None

    @property
    def is_first_lap(self) -> bool:
        """Whether no index came twice; always so where steps are not counted in laps."""
        return self.step.before is None or self._num_laps_begun == 1

    @property
    def num_first_visits_left(self) -> int | None:
        """How many steps are left of the first lap; None where steps are not counted in laps."""
        if self.step.before is None:
            return None
        return NUM_FIRST_VISITS - self.index if self.is_first_lap else 0

    def prepare(self) -> None:
        """Make the next step ready; waits for the device where steps start on an idle one."""
        if self.step.before is not None:
            if self.index == NUM_FIRST_VISITS:
                self.start_lap()
            self.clock.drain()
            self.step.before(self.index)
        if self.is_drained:
            self.clock.drain()

    def run(self) -> None:
        """Run the step that was prepared."""
        self.step.run()
        self.index += 1
        self.num_run += 1

    def start_lap(self) -> None:
        """Go back to the lap's first step: from here on every step is seen again."""
        self.index = 0
        self._num_laps_begun += 1


def time_block(stepper: Stepper, num_steps: int) -> Block:
    """Run `num_steps` steps in each way that the case has a time for, and time them."""
    stepper.core_waits.watch()
    try:
        if stepper.step.before is not None:
            return _latencies(stepper, num_steps)
        if stepper.clock.is_synchronous:
            return _host_block(stepper, num_steps)
        intervals, latencies = _intervals(stepper, num_steps), _latencies(stepper, num_steps)
    finally:
        stepper.core_waits.close()
    return dataclasses.replace(
        intervals, latencies_us=latencies.latencies_us, latencies_starved_us=latencies.latencies_starved_us
    )


def _latencies(stepper: Stepper, num_steps: int) -> Block:
    """Time steps from the host's start on an idle device to the last completion."""
    totals, latencies = [stepper.core_waits.total_us()], []
    for _ in range(num_steps):
        latencies.append(time_step(stepper))
        totals.append(stepper.core_waits.total_us())
    return Block(latencies_us=tuple(latencies), latencies_starved_us=_differences(totals))


def time_step(stepper: Stepper) -> float:
    """Run one step on a drained device and return its time to completion."""
    clock = stepper.clock
    stepper.prepare()
    clock.drain()
    start = clock.now_us()
    stepper.run()
    clock.drain()
    return clock.now_us() - start


def _intervals(stepper: Stepper, num_steps: int) -> Block:
    """Time steps issued back to back: `num_steps` intervals between the completions of one step more.

    A step is complete when the device reaches the mark queued behind it, or at its end on the host if that is later.
    """
    clock = stepper.clock
    clock.start()
    ends, totals = [], []
    for _ in range(num_steps + 1):
        stepper.run()
        ends.append((clock.mark(), clock.now_us()))
        totals.append(stepper.core_waits.total_us())
    clock.drain()
    completions = [max(clock.reached_us(mark), host_end) for mark, host_end in ends]
    intervals = tuple(later - earlier for earlier, later in pairwise(completions))
    return Block(intervals_us=intervals, intervals_starved_us=_differences(totals))


def _host_block(stepper: Stepper, num_steps: int) -> Block:
    """Time steps that are done when they return: one run gives both kinds of time.

    Between two steps nothing happens but that the waits for a core are read, which belongs to neither.
    """
    clock = stepper.clock
    latencies, totals = [], [stepper.core_waits.total_us()]
    for _ in range(num_steps):
        start = clock.now_us()
        stepper.run()
        latencies.append(clock.now_us() - start)
        totals.append(stepper.core_waits.total_us())
    starved = _differences(totals)
    return Block(
        intervals_us=tuple(latencies[1:]),
        latencies_us=tuple(latencies),
        intervals_starved_us=starved[1:],
        latencies_starved_us=starved,
    )


def _differences(totals: list[float | None]) -> tuple[float, ...]:
    """Return how much was added between neighbours; nothing where a total is not known."""
    known = [total for total in totals if total is not None]
    if len(known) < len(totals):
        return ()
    # A watched thread that ended takes its waits along.
    return tuple(max(0.0, later - earlier) for earlier, later in pairwise(known))
