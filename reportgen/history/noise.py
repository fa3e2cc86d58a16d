"""How far a step time moves from night to night by itself, and how many nights a change needs to be told from that.

The unit is the night. The samples of one run are not independent of each other: twelve fresh runs of the same code,
compared sample by sample, called 55 of 66 identical pairs different. So a run counts as one observation, its median,
and what decides is the spread between runs. Steps times are compared as logarithms, a change as a ratio.
"""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Sequence

# Two-sided chance of a false alarm in one test of a step time; with up to `MOST_NIGHTS` tests a night and 30 nights,
# under 1 % of unchanged histories raise one (docs/history.md holds the simulation).
ALPHA = 2e-5
POWER = 0.99
# Two runs alone do not tell the spread between nights. Measured: one model's step wandered between 5.9 and 7.1 ms from
# one minute to the next, so two runs decide only what lies far outside of that.
ASSUMED_SPREAD = 0.08
# Nights that decide together, and nights of the base: fewer do not tell the spread, older ones another machine.
MOST_NIGHTS = 10
FEWEST_BASE_NIGHTS = 8
MOST_BASE_NIGHTS = 30
# No machine is steadier than this from night to night, however alike a few of its nights were.
SMALLEST_SPREAD = 0.005

# Nights further off than this many deviations are left out of a base: a neighbour at work, a cold machine.
_WILD = 5.0

_NORMAL = statistics.NormalDist()


def log_ratio(base: float, new: float) -> float:
    """Return ln(new / base) of two positive times."""
    return math.log(new / base)


def spread(values: Sequence[float]) -> float:
    """Return the standard deviation of the logarithms of at least two `values`, never under `SMALLEST_SPREAD`."""
    return deviation([math.log(value) for value in values])


def deviation(logs: Sequence[float]) -> float:
    """Return the standard deviation of at least two logarithms, never under `SMALLEST_SPREAD`."""
    mean = math.fsum(logs) / len(logs)
    squares = math.fsum((value - mean) ** 2 for value in logs)
    return max(math.sqrt(squares / (len(logs) - 1)), SMALLEST_SPREAD)


def without_wild(logs: Sequence[float]) -> list[float]:
    """Leave out the nights that lie so far from the others that they belong to none of their kind.

    Far is `_WILD` deviations, which are told by the median distance from the median (1.4826 of it is a normal
    deviation) so that the wild nights themselves do not hide in them.
    """
    middle = statistics.median(logs)
    distance = statistics.median(abs(value - middle) for value in logs)
    limit = _WILD * max(1.4826 * distance, SMALLEST_SPREAD)
    return [value for value in logs if abs(value - middle) <= limit]


@functools.cache
def critical(degrees: int | None = None) -> float:
    """Return the quantile of `ALPHA`, two-sided: of Student's t with `degrees`, of the normal without."""
    if degrees is None:
        return _NORMAL.inv_cdf(1.0 - ALPHA / 2.0)
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 1.0 - ALPHA / 2.0))


def threshold(deviation: float, num_base: int, num_new: int, degrees: int | None = None) -> float:
    """Return the smallest |log ratio| of a median of new nights and a mean of those before that is no noise."""
    return critical(degrees) * deviation * _error(num_base, num_new)


def _error(num_base: int, num_new: int) -> float:
    """Return the standard error of a level before and after, in deviations: the median of three or more costs more."""
    cost = math.pi / 2.0 if num_new > 2 else 1.0
    return math.sqrt(1.0 / num_base + cost / num_new)


def nights_needed(
    effect: float, deviation: float, num_base: int | None = None, degrees: int | None = None
) -> int | None:
    """Return how many nights tell the log ratio `effect` with a chance of `POWER`; None where `MOST_NIGHTS` do not.

    `num_base` are the nights there are already of the base; None where each side must gather as many anew. `degrees`
    are those of `deviation`, None where it is taken as known.
    """
    needs = critical(degrees) + _NORMAL.inv_cdf(POWER)
    for nights in range(1, MOST_NIGHTS + 1):
        if needs * deviation * _error(num_base or nights, nights) <= abs(effect):
            return nights
    return None
