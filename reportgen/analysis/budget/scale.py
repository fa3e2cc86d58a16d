"""The scale of the budget: what the profiler added is taken out, what building for new shapes takes is put in."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.model import Notice
from reportgen.analysis.waiting.anchoring import Share, place_total
from reportgen.analysis.waiting.budget_result import PART_CODE

if TYPE_CHECKING:
    from reportgen.analysis.budget.explain import Explained
    from reportgen.analysis.model import Timing

BUILD = PART_CODE["build"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Scale:
    """What the parts must sum to, and how the trace's stretches come to it."""

    basis: str
    step_us: float
    # What first visits cost beyond the profiled steps, which revisited the shapes of the timing pass, µs per step.
    first_lap_us: float = 0.0
    # What first visits cost where the profiled steps show them too: `build` is this long, the rest what is left.
    build_us: float | None = None
    notices: tuple[Notice, ...] = ()


def anchor(explained: Explained, timing: Timing, step_us: float) -> tuple[Share, Scale]:
    """Bring the profiled steps to the unprofiled step: what the profiler added is taken out, by recorded events.

    Return the share to take out, and the scale on which the parts then sum to `step_us`.
    """
    num, profiled_us = len(explained.covered.start_ns), explained.covered.step_us
    built = _shown_first_lap(explained, timing, step_us)
    if built is not None:
        return _anchored_apart(explained, built, step_us)
    first_lap_us = _missing_first_lap_us(explained, timing, step_us, profiled_us)
    total_ns = (profiled_us - (step_us - first_lap_us)) * 1e3 * num
    notices: tuple[Notice, ...] = ()
    if total_ns < 0:
        notices = (
            Notice(
                code="profiled-step-faster",
                text="The profiled steps were faster than the unprofiled ones; the profiler's share counts as 0.",
                share=1 - profiled_us / (step_us - first_lap_us),
            ),
        )
    share = place_total(explained.slots, max(total_ns, 0.0))
    return share, Scale(basis="unprofiled", step_us=step_us, first_lap_us=first_lap_us, notices=notices)


def _laps_differ(timing: Timing) -> bool:
    """Tell whether steps of the first lap are longer than those of later laps by more than both wander."""
    first, later = timing.drained, timing.revisit
    return first is not None and later is not None and first.p5_us > later.p95_us


@dataclasses.dataclass(frozen=True, kw_only=True)
class _FirstLap:
    """What building for new shapes takes a step: by the timing pass, and in the profiled steps."""

    timed_us: float
    shown_us: float


def _shown_first_lap(explained: Explained, timing: Timing, step_us: float) -> _FirstLap | None:
    """Return the first lap's own cost where the timing pass tells it and the profiled steps show it, else None.

    The step over new shapes less the step over the same shapes again is what building for them costs. How long that
    takes wanders by half from step to step, so that the profiled steps say nothing of its true length.
    """
    if timing.revisit is None or not _laps_differ(timing):
        return None
    timed_us = step_us - timing.revisit.median_us
    building = explained.pieces.cause == BUILD
    length_ns = (explained.pieces.end_ns - explained.pieces.start_ns)[building]
    shown_us = float(length_ns.sum()) / 1e3 / len(explained.covered.start_ns)
    return _FirstLap(timed_us=timed_us, shown_us=shown_us) if shown_us >= timed_us / 2 else None


def _anchored_apart(explained: Explained, built: _FirstLap, step_us: float) -> tuple[Share, Scale]:
    """Bring what builds to what building takes unprofiled, and the rest of the steps to a later lap's step."""
    num = len(explained.covered.start_ns)
    rest_us = step_us - built.timed_us
    total_ns = (explained.covered.step_us - built.shown_us - rest_us) * 1e3 * num
    slots = explained.slots
    slots = dataclasses.replace(slots, room_ns=np.where(slots.cause == BUILD, 0, slots.room_ns))
    share = place_total(slots, max(total_ns, 0.0))
    return share, Scale(basis="unprofiled", step_us=step_us, build_us=built.timed_us)


def _missing_first_lap_us(explained: Explained, timing: Timing, step_us: float, profiled_us: float) -> float:
    """Return what first visits add to `step_us` that the profiled steps do not show.

    Where each step visits a new shape, `step_us` is that of the first lap. Profiled steps that go over the same shapes
    again are of the kind of a later lap; the difference is what building for a new shape costs.
    """
    if timing.revisit is None or profiled_us >= step_us or not _laps_differ(timing):
        return 0.0
    missing_us = step_us - timing.revisit.median_us
    visits = explained.visits
    shown_us = float((visits.self_ns - visits.later_ns).sum()) / 1e3 / len(explained.covered.start_ns)
    return missing_us if missing_us > 0 and shown_us < missing_us / 2 else 0.0
