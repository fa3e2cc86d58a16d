"""How long a step takes, and what each profiled step looked like."""

from __future__ import annotations

from typing import Literal

import msgspec

from reportgen.analysis.model.budget import BudgetPart
from reportgen.recording import StepMode

# A step ran undisturbed where its threads waited for a core for no more than this share of it. What fewer such steps
# say is left to chance; of few samples half must be such.
UNDISTURBED_SHARE = 0.02
FEWEST_UNDISTURBED = 10
# Of fewer samples the 5th percentile lies above the shortest of them by interpolation alone: one in twenty is below it.
FEWEST_FOR_PERCENTILES = 20


class StepTimes(msgspec.Struct, frozen=True, kw_only=True):
    """Step times of one kind; `samples_us` in the order they were taken.

    `starved_us` says of each sample how long the program's threads stood ready while others had the cores, added up;
    it is empty where the system does not tell.
    """

    median_us: float
    p5_us: float
    p95_us: float
    min_us: float
    max_us: float
    num_samples: int
    samples_us: tuple[float, ...]
    settled: bool = True
    starved_us: tuple[float, ...] = ()

    @property
    def is_few(self) -> bool:
        """Tell whether there are too few samples for a 5th percentile."""
        return self.num_samples < FEWEST_FOR_PERCENTILES

    @property
    def spread_us(self) -> tuple[float, float]:
        """Return the ends of the spread to tell: 5th and 95th percentile, of few samples the shortest and longest."""
        return (self.min_us, self.max_us) if self.is_few else (self.p5_us, self.p95_us)

    @property
    def undisturbed_us(self) -> tuple[float, ...]:
        """Return the samples whose threads had their cores; all of them where that is not told.

        Waits are no time to subtract: threads wait side by side, and theirs may add up to more than the step.
        """
        if not self.starved_us:
            return self.samples_us
        pairs = zip(self.samples_us, self.starved_us, strict=True)
        return tuple(us for us, away_us in pairs if away_us <= UNDISTURBED_SHARE * us)

    @property
    def is_crowded(self) -> bool:
        """Tell whether others had the cores in so many steps that those left say little."""
        return len(self.undisturbed_us) < min(FEWEST_UNDISTURBED, (self.num_samples + 1) // 2)


class ProfiledStep(msgspec.Struct, frozen=True, kw_only=True):
    """The same step under the profiler's passes (median); what the profiler does to it."""

    timeline: float | None = None
    detail: float | None = None


class Throughput(msgspec.Struct, frozen=True, kw_only=True):
    """Work done per second of unprofiled step time."""

    value: float
    unit: Literal["tokens/s", "samples/s", "steps/s"]


class Timing(msgspec.Struct, frozen=True, kw_only=True):
    """How long a step takes. `basis` is "trace" where no unprofiled timing exists."""

    step_us: float | None
    mode: StepMode
    basis: Literal["unprofiled", "trace"]
    pipelined: StepTimes | None = None
    drained: StepTimes | None = None
    first_step_us: float | None = None
    revisit: StepTimes | None = None
    profiled_step_us: ProfiledStep = ProfiledStep()
    throughput: Throughput | None = None

    @property
    def counted(self) -> StepTimes | None:
        """Return the times of the kind that counts as the step's, of which `step_us` is the median."""
        return self.pipelined if self.mode == "pipelined" else self.drained


class StepRow(msgspec.Struct, frozen=True, kw_only=True):
    """One profiled step. `interval_us` runs from the previous completion to this one."""

    index: int
    interval_us: float | None
    host_us: float
    device_us: float | None
    activities: int | None
    settling: bool
    outlier: bool
    # Of an outlier: the budget part that lies furthest above its median over the other steps, and by how much.
    differs_in: BudgetPart | None = None
    differs_by_us: float | None = None
    # Which of the recorded steps of its pass it is, from 1: documents call it so. `index` is the n of `ProfilerStep#n`.
    ordinal: int | None = None
