"""The one place where numbers become words: rounding, units, plurals, names.

Every function takes what analysis returns (µs, bytes, shares 0..1, counts) and gives text for a document. A value
that is `None`, infinite or no number reads "not recorded", never 0 and never "nan". Rounding is half up on the shortest
decimal that names the float, so 9.995 reads 10.0, as a reader would round it. Why the module lies this low:
`docs/decisions/0001-formatting-below-findings.md`.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from pathlib import PurePath
from typing import TypeAlias

Number: TypeAlias = float | int | None

NBSP = "\u00a0"  # before a unit and a per cent sign
THIN = "\u202f"  # in thousands
MINUS = "\u2212"
TIMES = "\u00d7"
NOT_RECORDED = "not recorded"
NOT_EVALUATED = "not evaluated"
NAMELESS = "(no name)"

MAX_DECIMALS = 2  # a figure in a sentence; finer ones take a smaller unit
TIME_UNITS = (("µs", 1.0), ("ms", 1e3), ("s", 1e6))
ENERGY_UNITS = (("µJ", 1e-6), ("mJ", 1e-3), ("J", 1.0), ("kJ", 1e3))
BYTE_UNITS = (("B", 1.0), ("KiB", 2.0**10), ("MiB", 2.0**20), ("GiB", 2.0**30), ("TiB", 2.0**40))
_SMALL_NUMBERS = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
# Operators whose last two matrices are the factors of a product; a bias before them is left out.
_PRODUCTS = frozenset({"mm", "bmm", "addmm", "baddbmm", "addbmm", "matmul", "linear", "_scaled_mm"})
_NO_TENSOR = frozenset({"", "Scalar", "ScalarList"})


# --- plain numbers


def is_number(value: object) -> bool:
    """Tell whether `value` can be printed as a figure: a finite number, and no bool."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _round(value: float, decimals: int) -> Decimal:
    return Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)


def _text(value: Decimal, decimals: int) -> str:
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
        value = float(_round(value, decimals))
        if value == 0:
            return f"<{NBSP}{smallest:.{MAX_DECIMALS}f}"
    return _text(_round(value, decimals), decimals)


def fixed(value: Number, decimals: int) -> str:
    """Write `value` with a given number of decimals; what is not 0 never reads as 0 ("< 0.01")."""
    if value is None or not is_number(value):
        return NOT_RECORDED
    rounded = _round(value, decimals)
    if rounded == 0 and value != 0:
        return f"<{NBSP}{10.0**-decimals:.{decimals}f}"
    return _text(rounded, decimals)


def count(value: Number) -> str:
    """Write a count: whole where it is whole (1 298), else with three digits (24.3, an average over steps)."""
    if value is None or not is_number(value):
        return NOT_RECORDED
    nearest = _round(value, 0)
    if abs(float(nearest) - value) < 1e-6 or abs(value) >= 1000:
        return _text(nearest, 0)
    return number(value)


def plural(value: Number, singular: str, several: str | None = None) -> str:
    """Write a count with its noun: "1 launch", "247 activities", "0 launches"."""
    return f"{count(value)}{NBSP}{noun(value, singular, several)}"


def noun(value: Number, singular: str, several: str | None = None) -> str:
    """Return the form of a noun that goes with `value`."""
    if count(value) == "1":
        return singular
    if several is not None:
        return several
    return singular + ("es" if singular.endswith(("s", "x", "ch", "sh")) else "s")


def part(value: int, whole: int, singular: str, several: str | None = None) -> str:
    """Write how many of a whole: "6 of 10 launches", "all 10 launches", "the only launch"."""
    if value == whole:
        return f"the only {singular}" if whole == 1 else f"all {plural(whole, singular, several)}"
    return f"{count(value)} of {plural(whole, singular, several)}"


def times(value: Number) -> str:
    """Write how often something happens: "once", "8 times", "1.5 times"."""
    return "once" if value == 1 else plural(value, "time")


def spelled(value: int) -> str:
    """Write a small count as a word ("two"), from thirteen on as a figure."""
    return _SMALL_NUMBERS[value] if 0 <= value < len(_SMALL_NUMBERS) else count(value)


def listing(items: Sequence[str], last: str = "and") -> str:
    """Join words as a sentence does: "a", "a and b", "a, b and c"."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {last} {items[-1]}"


def sentence_start(name: str) -> str:
    """Begin a sentence with a name: a plain word takes a capital ("Prefill"), an identifier stays ("sync_item")."""
    return name.capitalize() if name.isalpha() and name.islower() else name


# --- numbers with a unit


def quantity(value: Number, unit: str) -> str:
    """Write a figure of three digits and its unit."""
    return f"{number(value)}{NBSP}{unit}" if is_number(value) else NOT_RECORDED


def _unit_for(value: float, units: Sequence[tuple[str, float]], limit: float) -> tuple[str, float]:
    """Choose the smallest unit in which `value`, once rounded to three digits, stays under `limit`."""
    for name, size in units:
        if abs(float(f"{abs(value) / size:.3g}")) < limit:
            return name, size
    return units[-1]


def time_unit(us: float) -> tuple[str, float]:
    """Return the unit for a time, µs, ms or s, and how many µs it has: 999.6 µs is 1.00 ms."""
    return _unit_for(us, TIME_UNITS, 1000)


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
    return _unit_for(value, BYTE_UNITS, 1000)


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


def share(value: Number, decimals: int = 1) -> str:
    """Write a share 0..1 as per cent: "19.7 %", "< 0.1 %", "> 99.9 %", "100 %" only where it is the whole."""
    if value is None or not is_number(value):
        return NOT_RECORDED
    if abs(value - 1) < 1e-6:
        return f"100{NBSP}%"
    if value != 0 and abs(value) < 1e-9:
        return f"<{NBSP}{10.0**-decimals:.{decimals}f}{NBSP}%"
    if 0 < value < 1 and _round(value * 100, decimals) == 100:
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


# --- columns of a table


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
            text if text.startswith("<") and share == 0 else _text(share, decimals)
            for text, share in zip(cells, _apportion(complete, whole, decimals), strict=True)
        ]
    return Column(unit, tuple(cells), fixed(whole, decimals) if total is not None else "", decimals)


def _apportion(values: Sequence[float], total: float, decimals: int) -> list[Decimal]:
    """Round `values` so that they sum to the rounded `total`; leave them alone where they are not its parts."""
    rounded = [_round(value, decimals) for value in values]
    unit = Decimal(1).scaleb(-decimals)
    excess = sum(rounded, Decimal(0)) - _round(total, decimals)
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


def energy(joules: Number) -> str:
    """Write an energy: "4.88 J", "4.10 mJ"."""
    if joules is None or not is_number(joules):
        return NOT_RECORDED
    name, unit = _unit_for(joules, ENERGY_UNITS, 1000)
    return quantity(joules / unit, name)


def hidden_digits(cells: Sequence[str]) -> tuple[str, ...]:
    """Return for each cell what to print invisibly behind it, so that the decimal points of a column stand in line."""
    tails = [cell.rpartition(".")[2] if "." in cell else "" for cell in cells]
    widest = max((len(tail) for tail in tails), default=0)
    return tuple(
        ("" if not widest or not cell[-1:].isdigit() else ("" if tail else ".") + "0" * (widest - len(tail)))
        for cell, tail in zip(cells, tails, strict=True)
    )


# --- names


_UNPRINTABLE = frozenset({"Cc", "Cf", "Co", "Zl", "Zp"})
_JOINERS = "\u200c\u200d"  # part of words in some scripts, and of emoji


def legible(text: str, limit: int | None = None) -> str:
    """Make any text safe to print on one line: control and direction characters as escapes, lone surrogates replaced.

    An empty text reads "(no name)"; one over `limit` characters is cut in its middle.
    """
    text = " ".join(re.split(r"[ \t\r\n]+", text.encode("utf-8", "replace").decode("utf-8").strip(" \t\r\n")))
    text = shorten(text, limit)
    return shorten("".join(map(_escaped, text)), limit) or NAMELESS


def _escaped(character: str) -> str:
    printable = unicodedata.category(character) not in _UNPRINTABLE or character in _JOINERS
    return character if printable else f"\\u{ord(character):04x}"


def shorten(text: str, limit: int | None = 24) -> str:
    """Cut `text` in its middle to `limit` characters, so that its beginning and its end can still be read."""
    if limit is None or len(text) <= limit:
        return text
    tail = (limit - 1) // 2
    return f"{text[: limit - 1 - tail]}…{text[len(text) - tail :]}"


def operator_name(name: str, limit: int | None = None) -> str:
    """Write an operator as tables do: without the `aten::` that nearly all of them carry."""
    return legible(name.removeprefix("aten::"), limit)


def _dimensions(shape: Sequence[int]) -> str:
    # Dimensions up to 9999 are read as names (3072), longer ones need their thousands apart.
    if not shape:
        return "scalar"
    text = TIMES.join(f"{size:,}".replace(",", THIN) if abs(size) >= 10_000 else str(size) for size in shape)
    return f"[{text}]" if len(shape) == 1 else text


def shapes(
    input_shapes: Sequence[Sequence[int]] | None,
    input_types: Sequence[str] | None = None,
    name: str = "",
    limit: int | None = 3,
) -> str:
    """Write the shapes of an operator's inputs: "512×768 · 768×50 257" for a product, "3 × 1×12×512×64", "[0], 2×3".

    Inputs that are no tensors are left out (their type is empty or "Scalar"), the bias of a product too. After `limit`
    different shapes in a row the rest is counted.
    """
    if input_shapes is None:
        return NOT_RECORDED
    types = (*(input_types or ()), *[""] * len(input_shapes))
    tensors = [
        tuple(shape) for shape, kind in zip(input_shapes, types, strict=False) if shape or kind not in _NO_TENSOR
    ]
    if not tensors:
        return "no tensors"
    if name.removeprefix("aten::") in _PRODUCTS:
        factors = [shape for shape in tensors if len(shape) > 1][-2:]
        if len(factors) == 2:
            return " · ".join(_dimensions(shape) for shape in factors)
    groups: list[tuple[tuple[int, ...], int]] = []
    for shape in tensors:
        if groups and groups[-1][0] == shape:
            groups[-1] = (shape, groups[-1][1] + 1)
        else:
            groups.append((shape, 1))
    texts = [f"{times} {TIMES} {_dimensions(shape)}" if times > 1 else _dimensions(shape) for shape, times in groups]
    if limit is not None and len(texts) > limit:
        texts = [*texts[: limit - 1], f"{len(texts) - limit + 1} more"]
    return ", ".join(texts)


def code_place(function: str, file: str, line: int, line_kind: str) -> str:
    """Write where something happens: "in `hook` (planted.py:57)", "at planted.py:58 in `hook`" where the line is known.

    The line of a `def` never reads as the line that acts.
    """
    name = legible(PurePath(file.replace("\\", "/")).name, 40)
    if line_kind == "call":
        return f"at {name}:{line} in `{legible(function, 40)}`"
    return f"in `{legible(function, 40)}` ({name}:{line})"


def date(created_at: str) -> str:
    """Write the day of an ISO time: "29 November 2026"; a text that is no time comes back as it is."""
    try:
        when = datetime.fromisoformat(created_at)
    except ValueError:
        return legible(created_at)
    return f"{when.day} {_MONTHS[when.month - 1]} {when.year}"
