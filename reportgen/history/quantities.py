"""What is compared of a case from report to report, and how far each figure may move by itself."""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Callable
from typing import Literal

from reportgen import formatting as fmt
from reportgen.analysis.model import CaseAnalysis, StepTimes

QuantityName = Literal[
    "device_time", "activities", "kernels", "copies", "fills", "communication", "bytes", "peak_memory", "step_time"
]
# "exact": equal from run to run but for its tolerance, so one night decides. "timed": moves with the machine's mood,
# so it is judged against the spread between nights.
Stability = Literal["exact", "timed"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Quantity:
    """A figure of a case. It has moved when it differs by more than `tolerance` of the base and more than `floor`.

    `decides` is False for the kinds of activities: which of them it is says what changed, not whether it got worse.
    """

    name: QuantityName
    label: str
    stability: Stability
    tolerance: float
    floor: float
    unit: Literal["us", "bytes", "count"]
    read: Callable[[CaseAnalysis], float | None]
    decides: bool = True

    def text(self, value: float | None) -> str:
        """Write a value of this quantity."""
        if self.unit == "us":
            return fmt.duration(value)
        return fmt.size(value) if self.unit == "bytes" else fmt.count(value)

    def moved(self, base: float, new: float) -> bool:
        """Tell whether an exact figure went from `base` to `new` by more than it does by itself."""
        return abs(new - base) > max(self.tolerance * abs(base), self.floor)


def _device_time(case: CaseAnalysis) -> float | None:
    return case.device_time.activity_sum_us_per_step if case.device_time else None


def _activities(case: CaseAnalysis) -> float | None:
    return case.device_time.activities_per_step if case.device_time else None


def _of_kind(category: str) -> Callable[[CaseAnalysis], float | None]:
    def read(case: CaseAnalysis) -> float | None:
        kernels = case.kernels
        if _activities(case) is None or len(kernels.items) < kernels.total:
            return None  # of a cut list nobody can say how many there are
        return sum(kernel.calls_per_step for kernel in kernels.items if kernel.category == category)

    return read


def _bytes(case: CaseAnalysis) -> float | None:
    return case.utilisation.bytes_per_step if case.utilisation else None


def _peak_memory(case: CaseAnalysis) -> float | None:
    return case.memory.peak_allocated_bytes if case.memory else None


def step_time(case: CaseAnalysis) -> float | None:
    """Return the step time in µs, None where it was only seen under the profiler, which disturbs it.

    On a busy host it is the median of the steps that had their cores, where those are enough to have one: what others
    take away says nothing of the program, and is another amount every night.
    """
    times = _unprofiled(case)
    if case.timing is None or times is None:
        return case.timing.step_us if case.timing and case.timing.basis == "unprofiled" else None
    return case.timing.step_us if times.is_crowded else statistics.median(times.undisturbed_us)


def spread_within(case: CaseAnalysis) -> float:
    """Return the deviation of the logarithm of the step times within the case's run; 0 where it is not known.

    Told by the distance of the 5th from the 95th percentile, which is 3.29 deviations of a normal distribution. Samples
    of one run depend on each other, so that it says the least by which two runs differ, not the most.
    """
    timing = case.timing
    if timing is None or timing.basis != "unprofiled":
        return 0.0
    times = timing.counted
    if times is None or times.p5_us <= 0:
        return 0.0
    return math.log(times.p95_us / times.p5_us) / 3.29


def crowding(case: CaseAnalysis) -> str | None:
    """Return in words that others had the cores in so many steps that those left tell no step time, else None."""
    times = _unprofiled(case)
    if times is None or not times.is_crowded:
        return None
    num = len(times.undisturbed_us)
    return f"others had the cores ({num} of {fmt.plural(times.num_samples, 'step')} ran undisturbed)"


def _unprofiled(case: CaseAnalysis) -> StepTimes | None:
    """Return the samples behind the step time, where it is known of each how long it waited for a core."""
    timing = case.timing
    if timing is None or timing.basis != "unprofiled":
        return None
    times = timing.counted
    return times if times is not None and len(times.starved_us) == times.num_samples else None


_KINDS: tuple[tuple[QuantityName, str], ...] = (
    ("kernels", "kernel"),
    ("copies", "copy"),
    ("fills", "fill"),
    ("communication", "communication"),
)

# In order of stability. Device time: three captures of one model agree to 0.1 % (1.303, 1.303, 1.304 ms); 1 % leaves
# room for another day's clocks. Counts are whole: half an activity a step is one more in every other step.
QUANTITIES: tuple[Quantity, ...] = (
    Quantity(
        name="device_time",
        label="device time per step",
        stability="exact",
        tolerance=0.01,
        floor=2.0,
        unit="us",
        read=_device_time,
    ),
    Quantity(
        name="activities",
        label="activities per step",
        stability="exact",
        tolerance=0.0,
        floor=0.5,
        unit="count",
        read=_activities,
    ),
    *(
        Quantity(
            name=name,
            label=f"{name} per step",
            stability="exact",
            tolerance=0.0,
            floor=0.5,
            unit="count",
            read=_of_kind(category),
            decides=False,
        )
        for name, category in _KINDS
    ),
    Quantity(
        name="bytes",
        label="bytes moved per step",
        stability="exact",
        tolerance=0.002,
        floor=4096.0,
        unit="bytes",
        read=_bytes,
    ),
    Quantity(
        name="peak_memory",
        label="peak memory",
        stability="exact",
        tolerance=0.01,
        floor=2.0**20,
        unit="bytes",
        read=_peak_memory,
    ),
    Quantity(
        name="step_time", label="step time", stability="timed", tolerance=0.0, floor=0.0, unit="us", read=step_time
    ),
)
BY_NAME: dict[str, Quantity] = {quantity.name: quantity for quantity in QUANTITIES}


def figures(case: CaseAnalysis) -> dict[QuantityName, float]:
    """Return what was measured of `case`, by the names of `QUANTITIES`."""
    values = {quantity.name: quantity.read(case) for quantity in QUANTITIES}
    return {name: float(value) for name, value in values.items() if value is not None}
