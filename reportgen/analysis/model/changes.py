"""The step as it would be with something changed: tried by the runner, or replayed."""

from __future__ import annotations

import msgspec

from reportgen.analysis.model.timing import StepTimes
from reportgen.recording import AlternativeOutcome


class Alternative(msgspec.Struct, frozen=True, kw_only=True):
    """The step with one change, tried: its time beside that of the step as it is, timed in blocks in turn."""

    name: str
    outcome: AlternativeOutcome
    reason: str | None = None
    original_us: StepTimes | None = None
    step_us: StepTimes | None = None
    speedup: float | None = None  # median of the original over the median of the changed step
    max_relative_difference: float | None = None


class ReplaySummary(msgspec.Struct, frozen=True, kw_only=True):
    """How well the replayed step reproduces the measured one; `usable` where gains may be read off.

    `base_us` is the replayed step without the profiler. `base_error` is by how much (share) the replay misses what was
    measured: `step_us` where that is unprofiled, else the profiled step, replayed with the profiler's share left in.
    """

    base_us: float
    step_us: float
    base_error: float
    usable: bool
