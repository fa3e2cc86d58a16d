"""How many steps each pass takes, from how long one step is: a budget of seconds, not a kind of machine, decides."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

# Timing, in all at most this long a case, what it takes at the least excepted.
TIMING_S = 15.0
# Steps before the first measured block, until the step no longer drifts.
SETTLING_S = 2.0
# One block of timed steps; blocks lie before, between and after the profiled passes.
BLOCK_S = 1.0
MIN_BLOCK_STEPS, MAX_BLOCK_STEPS = 3, 48
# The steps seen again where each step of a lap has a shape of its own.
REVISIT_S = 3.0
# A window of a profiled pass. Three recorded steps are the least: the first only settles, two give an interval each.
WINDOW_S = 6.0
TIMELINE_STEPS = (3, 5)
DETAIL_STEPS = (2, 3)
DETAIL_WARMUP_STEPS = (1, 3)
# Medians of three blocks that rise or fall throughout by more than this are drifting. Smaller than the spread from
# minute to minute of an unprofiled step (a tenth), larger than that of medians of neighbouring blocks.
MAX_DRIFT = 0.05


@dataclasses.dataclass(frozen=True, kw_only=True)
class Window:
    """A profiled window: steps under the profiler that are not recorded, then recorded ones."""

    warmup_steps: int
    recorded_steps: int


def block_steps(step_us: float) -> int:
    """Return how many steps a timed block takes."""
    return _within(BLOCK_S, step_us, (MIN_BLOCK_STEPS, MAX_BLOCK_STEPS))


def settling_steps(step_us: float) -> int:
    """Return how many steps one of the blocks takes by which settling is judged."""
    return _within(SETTLING_S / 10, step_us, (1, 16))


def revisit_steps(step_us: float) -> int:
    """Return how many steps of the first lap are visited again."""
    return _within(REVISIT_S, step_us, (MIN_BLOCK_STEPS, MAX_BLOCK_STEPS))


def timeline_window(step_us: float) -> Window:
    """Return the window of the timeline pass."""
    return Window(warmup_steps=1, recorded_steps=_within(WINDOW_S, step_us, TIMELINE_STEPS))


def detail_window(step_us: float) -> Window:
    """Return the window of the detail pass; half of its time is for steps that are not recorded."""
    return Window(
        warmup_steps=_within(WINDOW_S / 2, step_us, DETAIL_WARMUP_STEPS),
        recorded_steps=_within(WINDOW_S / 2, step_us, DETAIL_STEPS),
    )


def is_drifting(medians: Sequence[float]) -> bool:
    """Say whether the last three of `medians` rise or fall throughout, by more than `MAX_DRIFT` in all.

    Fewer than three show no drift.
    """
    first, second, third = medians[-3:] if len(medians) >= 3 else (0.0, 0.0, 0.0)
    throughout = first < second < third or first > second > third
    return throughout and abs(third - first) > MAX_DRIFT * second


def _within(seconds: float, step_us: float, limits: tuple[int, int]) -> int:
    least, most = limits
    return max(least, min(most, int(seconds * 1e6 / max(step_us, 1e-3))))
