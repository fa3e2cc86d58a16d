"""Words around numbers: plurals, small counts, enumerations, days."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from reportgen.formatting.names import legible
from reportgen.formatting.numbers import NBSP, Number, count

_SMALL_NUMBERS = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


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


def sample(value: Number) -> str:
    """Write a sample size, which no line is broken in: "n = 48"."""
    return f"n{NBSP}={NBSP}{count(value)}"


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


def date(created_at: str) -> str:
    """Write the day of an ISO time: "29 November 2026"; a text that is no time comes back as it is."""
    try:
        when = datetime.fromisoformat(created_at)
    except ValueError:
        return legible(created_at)
    return f"{when.day} {_MONTHS[when.month - 1]} {when.year}"
