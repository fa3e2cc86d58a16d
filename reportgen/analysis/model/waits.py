"""The device's waits: by cause, by place, one by one, and those that the program asks for."""

from __future__ import annotations

import msgspec

from reportgen.analysis.model.budget import BudgetPart
from reportgen.analysis.model.values import Source, Where


class CauseRow(msgspec.Struct, frozen=True, kw_only=True):
    """The waits of one cause."""

    cause: BudgetPart
    us_per_step: float


class WaitPlace(msgspec.Struct, frozen=True, kw_only=True):
    """The waits of one cause that one function (and operator, where the cause is a call in it) is answerable for."""

    cause: BudgetPart
    operator: str | None
    source: Source | None
    us_per_step: float  # on the scale of the budget: without the profiler's share
    count_per_step: float  # stretches of waiting, as the trace shows them
    # In how many of the steps that the budget covers it occurs.
    num_steps: int
    where: Where | None = None  # the longest in the step that documents show, else of all


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch in which no stream of the device worked, as the trace shows it (profiler's cost included)."""

    duration_us: float
    step: int
    cause: BudgetPart
    operator: str | None
    source: Source | None
    where: Where | None
    # Which of the recorded steps of its pass it is, from 1: documents call it so. `step` is the n of `ProfilerStep#n`.
    ordinal: int | None = None


class Gaps(msgspec.Struct, frozen=True, kw_only=True):
    """The device's waits; `items` are the longest."""

    count_per_step: float
    us_per_step: float
    # Gaps shorter than this are launch latency of this very trace and are not listed.
    threshold_us: float | None = None
    causes: tuple[CauseRow, ...] = ()
    # Waits summed per cause and function, largest first.
    places: tuple[WaitPlace, ...] = ()
    items: tuple[Gap, ...] = ()


class Sync(msgspec.Struct, frozen=True, kw_only=True):
    """A wait for the device that the program asked for; `cost` is the whole: drain and refill.

    `cost_without_profiler_us_per_step` is the cost with the profiler's share taken out, as the budget's part sync has
    it; the two are one where the step was timed without the profiler.
    """

    call: str
    operator: str | None
    count_per_step: float
    blocked_us_per_step: float
    cost_us_per_step: float
    source: Source | None
    where: Where | None
    cost_without_profiler_us_per_step: float | None = None

    @property
    def best_cost_us(self) -> float:
        """The cost as well as it is known: without the profiler's share where that was told apart."""
        known = self.cost_without_profiler_us_per_step
        return self.cost_us_per_step if known is None else known
