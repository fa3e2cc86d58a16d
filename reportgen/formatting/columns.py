"""Columns of a table: one unit, decimal points in line, cells that sum to their total."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from reportgen.formatting.numbers import Number, decimal_text, fixed, is_number, round_half_up
from reportgen.formatting.units import TIME_UNITS, bytes_unit, time_unit


@dataclass(frozen=True)
class Column:
    """The cells of a column: one unit, one number of decimals; `total` is their sum where one was given."""

    unit: str
    cells: tuple[str, ...]
    total: str
    decimals: int


def column(values: Sequence[Number], total: Number = None, *, unit: str = "", scale: float = 1.0) -> Column:
    """Write a column of `values` divided by `scale`, in two decimals up to 100, one up to 10 000, then none.

    With `total`, where every value is known and they sum to it, the printed cells sum to the printed total: what
    rounding leaves over goes to the cells whose rounding was the furthest off (largest remainder).
    """
    known = [abs(value) / scale for value in (*values, total) if value is not None and is_number(value)]
    largest = max(known, default=0.0)
    decimals = 3 if largest < 1 else 2 if largest < 100 else 1 if largest < 10_000 else 0
    scaled = [value / scale if value is not None and is_number(value) else None for value in values]
    whole = total / scale if total is not None and is_number(total) else None
    cells = [fixed(value, decimals) for value in scaled]
    complete = [value for value in scaled if value is not None]
    if whole is not None and len(complete) == len(scaled):
        cells = [
            text if text.startswith("<") and share == 0 else decimal_text(share, decimals)
            for text, share in zip(cells, _apportion(complete, whole, decimals), strict=True)
        ]
    return Column(unit, tuple(cells), fixed(whole, decimals) if total is not None else "", decimals)


def _apportion(values: Sequence[float], total: float, decimals: int) -> list[Decimal]:
    """Round `values` so that they sum to the rounded `total`; leave them alone where they are not its parts."""
    rounded = [round_half_up(value, decimals) for value in values]
    unit = Decimal(1).scaleb(-decimals)
    excess = sum(rounded, Decimal(0)) - round_half_up(total, decimals)
    units = int(excess / unit)
    if units == 0 or abs(units) > len(values):
        return rounded
    by_error = sorted(range(len(values)), key=lambda i: float(rounded[i]) - values[i], reverse=units > 0)
    for i in by_error[: abs(units)]:
        rounded[i] -= unit.copy_sign(Decimal(units))
    return rounded


def time_column(values_us: Sequence[Number], total_us: Number = None, *, unit: str | None = None) -> Column:
    """Write a column of times in `unit`, or in the unit of the largest."""
    known = [abs(value) for value in (*values_us, total_us) if value is not None and is_number(value)]
    name, scale = (unit, dict(TIME_UNITS)[unit]) if unit else time_unit(max(known, default=0.0))
    return column(values_us, total_us, unit=name, scale=scale)


def size_column(values: Sequence[Number], total: Number = None) -> Column:
    """Write a column of sizes in the unit of the largest."""
    known = [abs(value) for value in (*values, total) if value is not None and is_number(value)]
    name, scale = bytes_unit(max(known, default=0.0))
    return column(values, total, unit=name, scale=scale)


def hidden_digits(cells: Sequence[str]) -> tuple[str, ...]:
    """Return for each cell what to print invisibly behind it, so that the decimal points of a column stand in line."""
    tails = [cell.rpartition(".")[2] if "." in cell else "" for cell in cells]
    widest = max((len(tail) for tail in tails), default=0)
    return tuple(
        ("" if not widest or not cell[-1:].isdigit() else ("" if tail else ".") + "0" * (widest - len(tail)))
        for cell, tail in zip(cells, tails, strict=True)
    )
