"""What the rows of a table leave of the whole that they are parts of."""

from __future__ import annotations

from collections.abc import Sequence

# A difference of sums below this share of them is of their last digits.
_ROUNDING = 1e-9


def left_over(whole_us: float, parts_us: Sequence[float]) -> float:
    """Return what `parts_us` leave of `whole_us`; 0 where the sums differ in their last digits alone."""
    left_us = whole_us - sum(parts_us)
    return left_us if left_us > _ROUNDING * whole_us else 0.0
