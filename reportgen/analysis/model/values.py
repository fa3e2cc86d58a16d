"""Values that several sections share: a list cut short, a place in code, a place in a trace, a notice."""

from __future__ import annotations

from typing import Generic, Literal, TypeVar

import msgspec

Item = TypeVar("Item")


class Cut(msgspec.Struct, Generic[Item], frozen=True, kw_only=True):
    """A list that keeps its first `items` of `total`; `other_us` is what the rest adds up to (per step)."""

    items: tuple[Item, ...] = ()
    total: int = 0
    other_us: float | None = None


def told_step(number: int, ordinal: int | None) -> int:
    """Return what documents call a step: which of the recorded it is; where that is not told, n of `ProfilerStep#n`."""
    return number if ordinal is None else ordinal


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """A place in Python code. With `line_kind` "def" the line is where the function begins, not where it acts."""

    file: str
    line: int
    line_kind: Literal["call", "def"]
    function: str
    user: bool  # outside torch, transformers and the standard library
    beneath: str | None = None  # what the function had called there: a library's function or a built-in


class Where(msgspec.Struct, frozen=True, kw_only=True):
    """A place in a trace file, in the file's own clock (µs), to open in a viewer."""

    trace: str
    start_us: float
    end_us: float
    stream: int | None = None
    thread: str | None = None
    correlation: int | None = None


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    """Something missing or wrong that the reader must know; `share` is of what the text names."""

    code: str
    text: str
    count: int | None = None
    share: float | None = None
    affects_conclusions: bool = False
