"""Times: microseconds as the file writes them, to whole nanoseconds, without losing a digit.

A double holds 53 bits. That is enough for any whole number of microseconds since 1970, and for three decimals up to
`EXACT_BELOW_US`; the seventeen digits of microseconds since 1970 with decimals do not fit and are decoded as text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal

import numpy as np

from reportgen.trace.columns import Bool, Int64

# Below 2^43 µs (102 days) neighbouring doubles are less than 1 ns apart, so the nearest nanosecond is the right one.
EXACT_BELOW_US = 2.0**43

# The year 2065. Of three times of this size the whole nanoseconds can be added in 64 bits, whatever their signs.
LARGEST_US = 3.0e15


def needs_exact(times_us: Iterable[int | float | Decimal | None]) -> bool:
    """Tell whether some time has lost digits by being decoded as a double."""
    return any(type(time) is float and (time >= EXACT_BELOW_US or time <= -EXACT_BELOW_US) for time in times_us)


def to_ns(times_us: Sequence[int | float | Decimal | None]) -> tuple[Int64, Bool]:
    """Return whole nanoseconds, rounded to the nearest, and where the time is missing or beyond any clock (0 there)."""
    # Decoding turns to decimals once and stays with them, so the last time tells whether there are any.
    if isinstance(next((time for time in reversed(times_us) if time is not None), None), Decimal):
        return _decimals_to_ns(times_us)
    try:
        microseconds = np.array(times_us, dtype=np.float64)
    except OverflowError:
        # Whole numbers of more digits than a double can stand for.
        return _decimals_to_ns(times_us)
    missing = ~(np.abs(microseconds) < LARGEST_US)
    microseconds[missing] = 0.0
    whole = np.floor(microseconds)
    fraction = np.rint((microseconds - whole) * 1000.0)
    return whole.astype(np.int64) * 1000 + fraction.astype(np.int64), missing


def _decimals_to_ns(times_us: Sequence[int | float | Decimal | None]) -> tuple[Int64, Bool]:
    missing = [time is None or not -LARGEST_US < time < LARGEST_US for time in times_us]
    nanoseconds = [
        0 if lacks or time is None else round(Decimal(time) * 1000)
        for time, lacks in zip(times_us, missing, strict=True)
    ]
    return np.array(nanoseconds, dtype=np.int64), np.array(missing, dtype=np.bool_)
