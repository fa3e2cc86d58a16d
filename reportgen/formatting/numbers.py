"""Plain numbers: rounding, digits, counts."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal
from typing import TypeAlias

Number: TypeAlias = float | int | None

NBSP = "\u00a0"  # before a unit and a per cent sign
THIN = "\u202f"  # in thousands
MINUS = "\u2212"
TIMES = "\u00d7"
NOT_RECORDED = "not recorded"
NOT_EVALUATED = "not evaluated"
MAX_DECIMALS = 2  # a figure in a sentence; finer ones take a smaller unit


def is_number(value: object) -> bool:
    """Tell whether `value` can be printed as a figure: a finite number, and no bool."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def round_half_up(value: float, decimals: int) -> Decimal:
    """Round half up on the shortest decimal that names the float."""
    return Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)


def decimal_text(value: Decimal, decimals: int) -> str:
    """Write a rounded decimal: thousands apart, a true minus."""
    text = f"{abs(value):,.{max(decimals, 0)}f}".replace(",", THIN)
    return MINUS + text if value < 0 else text


def number(value: Number, digits: int = 3) -> str:
    """Write `value` with `digits` significant digits, padded, at most two decimals: 6.60, 45.0, 363, 77 600."""
    if value is None or not is_number(value):
        return NOT_RECORDED
    if value == 0:
        return "0"
    smallest = 10.0**-MAX_DECIMALS
    decimals = MAX_DECIMALS
    for _ in range(2):  # 9.995 becomes 10.00 with two decimals, and then needs one
        decimals = min(MAX_DECIMALS, digits - 1 - math.floor(math.log10(max(abs(value), smallest))))
        value = float(round_half_up(value, decimals))
        if value == 0:
            return f"<{NBSP}{smallest:.{MAX_DECIMALS}f}"
    return decimal_text(round_half_up(value, decimals), decimals)


def fixed(value: Number, decimals: int) -> str:
    """Write `value` with a given number of decimals; what is not 0 never reads as 0 ("< 0.01")."""
    if value is None or not is_number(value):
        return NOT_RECORDED
    rounded = round_half_up(value, decimals)
    if rounded == 0 and value != 0:
        return f"<{NBSP}{10.0**-decimals:.{decimals}f}"
    return decimal_text(rounded, decimals)


def count(value: Number) -> str:
    """Write a count: whole where it is whole (1 298), else with three digits (24.3, an average over steps)."""
    if value is None or not is_number(value):
        return NOT_RECORDED
    nearest = round_half_up(value, 0)
    if abs(float(nearest) - value) < 1e-6 or abs(value) >= 1000:
        return decimal_text(nearest, 0)
    return number(value)
