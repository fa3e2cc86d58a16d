"""Numbers with a unit: times, sizes, rates, energies, shares and factors."""

from __future__ import annotations

import math
from collections.abc import Sequence

from reportgen.formatting.numbers import (
    NBSP,
    NOT_RECORDED,
    TIMES,
    Number,
    count,
    fixed,
    is_number,
    number,
    round_half_up,
)

TIME_UNITS = (("µs", 1.0), ("ms", 1e3), ("s", 1e6))
ENERGY_UNITS = (("µJ", 1e-6), ("mJ", 1e-3), ("J", 1.0), ("kJ", 1e3))
BYTE_UNITS = (("B", 1.0), ("KiB", 2.0**10), ("MiB", 2.0**20), ("GiB", 2.0**30), ("TiB", 2.0**40))


def quantity(value: Number, unit: str) -> str:
    """Write a figure of three digits and its unit."""
    return f"{number(value)}{NBSP}{unit}" if is_number(value) else NOT_RECORDED


def unit_for(value: float, units: Sequence[tuple[str, float]], limit: float) -> tuple[str, float]:
    """Choose the smallest unit in which `value`, once rounded to three digits, stays under `limit`."""
    for name, size in units:
        if abs(float(f"{abs(value) / size:.3g}")) < limit:
            return name, size
    return units[-1]


def time_unit(us: float) -> tuple[str, float]:
    """Return the unit for a time, µs, ms or s, and how many µs it has: 999.6 µs is 1.00 ms."""
    return unit_for(us, TIME_UNITS, 1000)


def duration(us: Number, unit: str | None = None) -> str:
    """Write a time in its own unit, or in `unit`: "6.60 ms"."""
    if us is None or not is_number(us):
        return NOT_RECORDED
    if us == 0 and unit is None:
        return f"0{NBSP}µs"
    name, size = (unit, dict(TIME_UNITS)[unit]) if unit else time_unit(us)
    return f"{number(us / size)}{NBSP}{name}"


def duration_of(part_us: Number, whole_us: Number) -> str:
    """Write a part out of its whole, both in the whole's unit: "1.30 of 6.60 ms"."""
    if part_us is None or whole_us is None or not (is_number(part_us) and is_number(whole_us)):
        return NOT_RECORDED
    name, size = step_unit(whole_us)
    return f"{number(part_us / size)} of {number(whole_us / size)}{NBSP}{name}"


def step_unit(us: float) -> tuple[str, float]:
    """Return the unit for a step: ms from 0.1 ms to 10 s."""
    if abs(us) < 100:
        return TIME_UNITS[0]
    return TIME_UNITS[1] if abs(us) < 1e7 else TIME_UNITS[2]


def step_time(us: Number) -> str:
    """Write the time of a step: "6.60 ms", also "0.58 ms"."""
    return duration(us, step_unit(us)[0]) if us is not None and is_number(us) else NOT_RECORDED


def spread(low_us: Number, high_us: Number) -> str:
    """Write a range of times in one unit: "6.00 to 7.30 ms"."""
    if low_us is None or high_us is None or not (is_number(low_us) and is_number(high_us)):
        return NOT_RECORDED
    name, size = step_unit(high_us)
    low, high = number(low_us / size), number(high_us / size)
    return f"{high}{NBSP}{name}" if low == high else f"{low} to {high}{NBSP}{name}"


def change(before_us: Number, after_us: Number) -> str:
    """Write what a step becomes: "6.60 → 1.54 ms"."""
    if before_us is None or after_us is None or not (is_number(before_us) and is_number(after_us)):
        return NOT_RECORDED
    name, size = step_unit(before_us)
    return f"{number(before_us / size)} → {number(after_us / size)}{NBSP}{name}"


def bytes_unit(value: float) -> tuple[str, float]:
    """Return the unit for a size, B to TiB, and how many bytes it has."""
    return unit_for(value, BYTE_UNITS, 1000)


def size(value: Number) -> str:
    """Write a size: "363 MiB", "6.13 GiB"; bytes are whole."""
    if value is None or not is_number(value):
        return NOT_RECORDED
    name, unit = bytes_unit(value)
    return f"{count(value) if unit == 1 else number(value / unit)}{NBSP}{name}"


def flop_rate(flops_per_s: Number) -> str:
    """Write a rate of arithmetic in TFLOP/s."""
    return quantity(None if flops_per_s is None else flops_per_s / 1e12, "TFLOP/s")


def byte_rate(bytes_per_s: Number) -> str:
    """Write a rate of transfer in TB/s (10¹² bytes)."""
    return quantity(None if bytes_per_s is None else bytes_per_s / 1e12, "TB/s")


def energy(joules: Number) -> str:
    """Write an energy: "4.88 J", "4.10 mJ"."""
    if joules is None or not is_number(joules):
        return NOT_RECORDED
    name, unit = unit_for(joules, ENERGY_UNITS, 1000)
    return quantity(joules / unit, name)


def share(value: Number, decimals: int = 1) -> str:
    """Write a share 0..1 as per cent: "19.7 %", "< 0.1 %", "> 99.9 %", "100 %" only where it is the whole."""
    if value is None or not is_number(value):
        return NOT_RECORDED
    if abs(value - 1) < 1e-6:
        return f"100{NBSP}%"
    if value != 0 and abs(value) < 1e-9:
        return f"<{NBSP}{10.0**-decimals:.{decimals}f}{NBSP}%"
    if 0 < value < 1 and round_half_up(value * 100, decimals) == 100:
        return f">{NBSP}{100 - 10.0**-decimals:.{decimals}f}{NBSP}%"
    return f"{'0' if value == 0 else fixed(value * 100, decimals)}{NBSP}%"


def factor(before: Number, after: Number) -> str:
    """Write how many times `before` is `after`, with two digits: "4.3×", "12×", "1.04×"."""
    if before is None or after is None or not (is_number(before) and is_number(after)) or after == 0:
        return NOT_RECORDED
    ratio = before / after
    if not math.isfinite(ratio):
        return NOT_RECORDED
    decimals = 0 if abs(ratio) >= 9.95 else 1 if abs(ratio) >= 1.1 else 2
    return fixed(ratio, decimals) + TIMES
