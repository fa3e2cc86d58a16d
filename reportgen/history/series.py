"""Judge the last night of a series: against the level since the last change, with the spread between nights.

A level begins with the first night, and anew with each change that is reported, so a change is an alarm on one night
and the level of the nights after it.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import NamedTuple

from reportgen.history import noise
from reportgen.history.model import Verdict
from reportgen.history.quantities import Quantity

# Nights whose median is the level of an exact figure: those right after the change, so that it cannot creep.
_LEVEL_NIGHTS = 5
# A step time that moved by less is nobody's concern, however surely it did.
_SMALLEST_STEP_CHANGE = 0.02
# One night far off, even two in a row, are as likely bad nights of the machine as a change of the code: where one night
# in twenty is wild, two would alarm 14 % of histories of 60 nights, the median of three or more under 1 %.
FEWEST_NIGHTS = 3
# Deviations from which a night is said to need more nights.
_SUSPICIOUS = 2.0


class Change(NamedTuple):
    """A change of level: from the night with this index on, known on the night `known`, both from 0."""

    start: int
    known: int
    base: float
    new: float


class Reading(NamedTuple):
    """What the last night of a series says. `base` is the level before it or before the change.

    `needs_nights` is one more than `noise.MOST_NIGHTS` where so many do not tell what there seems to be.
    """

    verdict: Verdict
    base: float | None
    new: float
    start: int | None = None
    needs_nights: int | None = None


def changes(values: Sequence[float], quantity: Quantity) -> list[Change]:
    """Return every change of level that was told as the nights came, oldest first."""
    found: list[Change] = []
    start = 0
    for night in range(1, len(values)):
        change = _change_on(values, start, night, quantity)
        if change is not None:
            found.append(change)
            start = change.start
    return found


def read_last(values: Sequence[float], quantity: Quantity) -> Reading:
    """Return what the last of `values`, oldest first and at least one, says of a quantity."""
    told = changes(values, quantity)
    last = len(values) - 1
    new = values[last]
    if told and told[-1].known == last:
        change = told[-1]
        verdict: Verdict = "worse" if change.new > change.base else "better"
        return Reading(verdict if quantity.decides else "changed", change.base, change.new, change.start)
    base = values[told[-1].start if told else 0 : last]
    if not base:
        return Reading("not-comparable", None, new)
    if quantity.stability == "exact":
        level = _level(base)
        return Reading("unchanged" if new == level else "within-noise", level, new)
    base = _before_the_turn(base, new)
    return Reading("within-noise", math.exp(statistics.fmean(_steady(base))), new, needs_nights=_needs(base, new))


def _change_on(values: Sequence[float], start: int, night: int, quantity: Quantity) -> Change | None:
    if quantity.stability == "exact":
        base = _level(values[start:night])
        return Change(night, night, base, values[night]) if quantity.moved(base, values[night]) else None
    return _step_change(values, start, night)


def _level(values: Sequence[float]) -> float:
    return statistics.median(values[:_LEVEL_NIGHTS])


def _step_change(values: Sequence[float], start: int, night: int) -> Change | None:
    """Ask whether the last two to ten nights up to `night` lie elsewhere than those before them since `start`."""
    logs = [math.log(value) for value in values[start : night + 1]]
    best: tuple[float, Change] | None = None
    for num_new in range(FEWEST_NIGHTS, min(noise.MOST_NIGHTS, len(logs) - noise.FEWEST_BASE_NIGHTS) + 1):
        base = noise.without_wild(logs[:-num_new][-noise.MOST_BASE_NIGHTS :])
        new = logs[-num_new:]
        level, effect = statistics.fmean(base), statistics.median(new) - statistics.fmean(base)
        limit = noise.threshold(noise.deviation(base), len(base), num_new, len(base) - 1)
        nearest = min(new) - level if effect > 0 else level - max(new)
        # Each of the nights must lie on that side, well off the level: one wild night does not make a change.
        if abs(effect) <= max(limit, _SMALLEST_STEP_CHANGE) or nearest < abs(effect) / 4.0:
            continue
        if best is None or abs(effect) / limit > best[0]:
            change = Change(night + 1 - num_new, night, math.exp(level), math.exp(statistics.median(new)))
            best = (abs(effect) / limit, change)
    return best[1] if best else None


def level_logs(values: Sequence[float], quantity: Quantity) -> list[float]:
    """Return the logarithms of the nights that make the level of the last of `values`, without the wild ones."""
    told = changes(values, quantity)
    return _steady(values[told[-1].start if told else 0 :]) if values else []


def _steady(values: Sequence[float]) -> list[float]:
    return noise.without_wild([math.log(value) for value in values[-noise.MOST_BASE_NIGHTS :]])


def _before_the_turn(base: Sequence[float], new: float) -> Sequence[float]:
    """Leave out the nights right before the last that lie as far off: they are what it may confirm, not the level."""
    logs = [math.log(value) for value in base]
    level = statistics.median(logs)
    effect = math.log(new) - level
    if abs(effect) < _SMALLEST_STEP_CHANGE:
        return base
    end = len(logs)
    while end > noise.FEWEST_BASE_NIGHTS and (logs[end - 1] - level) / effect >= 0.5:
        end -= 1
    return base[:end]


def _needs(base: Sequence[float], new: float) -> int | None:
    """Return how many nights like the last would make a change of it; None where it is nothing to speak of."""
    if len(base) < noise.FEWEST_BASE_NIGHTS:
        return None
    logs = _steady(base)
    deviation, effect = noise.deviation(logs), math.log(new) - statistics.fmean(logs)
    if abs(effect) < max(_SUSPICIOUS * deviation, _SMALLEST_STEP_CHANGE):
        return None
    needed = noise.nights_needed(effect, deviation, len(logs), len(logs) - 1)
    return max(needed, FEWEST_NIGHTS) if needed else noise.MOST_NIGHTS + 1


def night_value(values: Sequence[float], base: float | None, quantity: Quantity) -> float:
    """Return the figure of a night that was measured more than once.

    Of an exact figure the one nearest to the level before: what does not come twice is no change of the code. Of a step
    time the mean.
    """
    if quantity.stability == "timed" or base is None:
        return statistics.fmean(values)
    return min(values, key=lambda value: abs(value - base))
