"""Times: microseconds as the file writes them, to whole nanoseconds, without losing a digit.

A double holds 53 bits. That is enough for any whole number of microseconds since 1970, and for three decimals up to
`EXACT_BELOW_US`; the seventeen digits of microseconds since 1970 with decimals do not fit and are decoded as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import numpy as np

from reportgen.trace.columns import Bool, Int64

# Below 2^43 µs (102 days) neighbouring doubles are less than 1 ns apart, so the nearest nanosecond is the right one.
EXACT_BELOW_US = 2.0**43

# Beyond this many µs (the year 2262) whole nanoseconds do not fit into 64 bits.
LARGEST_US = 9.2e15


def needs_exact(times_us: Sequence[int | float | None]) -> bool:
    """Tell whether some time has lost digits by being decoded as a double."""
    return any(type(time) is float and abs(time) >= EXACT_BELOW_US for time in times_us)


def to_ns(times_us: Sequence[int | float | Decimal | None]) -> tuple[Int64, Bool]:
    """Return whole nanoseconds, rounded to the nearest, and where the time is missing or beyond any clock (0 there)."""
    if any(isinstance(time, Decimal) for time in times_us[:1]):
        return _decimals_to_ns(times_us)
    microseconds = np.array(times_us, dtype=np.float64)
    missing = ~(np.abs(microseconds) < LARGEST_US)
    microseconds[missing] = 0.0
    whole = np.floor(microseconds)
    fraction = np.rint((microseconds - whole) * 1000.0)
    return whole.astype(np.int64) * 1000 + fraction.astype(np.int64), missing


def _decimals_to_ns(times_us: Sequence[int | float | Decimal | None]) -> tuple[Int64, Bool]:
    known = [Decimal(time) if time is not None and abs(time) < LARGEST_US else None for time in times_us]
    nanoseconds = [0 if time is None else round(time * 1000) for time in known]
    return np.array(nanoseconds, dtype=np.int64), np.array([time is None for time in known], dtype=np.bool_)
