"""Rows that are collected batch by batch and become whole columns at the end, and values as numbers of columns."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from reportgen.trace.columns import Int32, Int64

Key = TypeVar("Key", bound=Hashable)
Columns = dict[str, NDArray[Any]]

# The largest and smallest number that a column holds.
_INT64 = np.iinfo(np.int64)
_LARGEST = float(np.finfo(np.float64).max)


class Codes(dict[Key, int]):
    """Number distinct things in the order in which they first occur."""

    def __missing__(self, key: Key) -> int:
        """Give `key` the next number."""
        code = self[key] = len(self)
        return code

    def of(self, keys: Iterable[Key]) -> Int32:
        """Return the numbers of `keys`, numbering what is new."""
        return np.array([self[key] for key in keys], dtype=np.int32)


class Rows:
    """The columns of one table, batch by batch."""

    def __init__(self) -> None:
        self._batches: list[Columns] = []

    def add(self, columns: Columns) -> None:
        """Append a batch; every batch has the same columns."""
        self._batches.append(columns)

    def joined(self) -> Columns | None:
        """Return the whole columns, or None where no row was added; the batches are given up."""
        if not self._batches:
            return None
        joined: Columns = {}
        for name in tuple(self._batches[0]):
            joined[name] = np.concatenate([batch.pop(name) for batch in self._batches])
        self._batches.clear()
        return joined


def integers(values: Sequence[int | None], absent: int = -1) -> Int64:
    """Return `values` as 64-bit integers, with `absent` for None and for what does not fit."""
    if values.count(None) == len(values):
        return np.full(len(values), absent, dtype=np.int64)
    filled = [absent if value is None else value for value in values]
    try:
        return np.array(filled, dtype=np.int64)
    except OverflowError:
        return np.array([v if _INT64.min <= v <= _INT64.max else absent for v in filled], dtype=np.int64)


def trailing_number(text: int | str | None) -> int:
    """Return an id as a number: 7 for 7, "7" and "stream 7", -1 where there is none."""
    if isinstance(text, int):
        return text
    if text is None:
        return -1
    digits = text.rpartition(" ")[2]
    # Text of more digits than a 64-bit number has is no id.
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 19 else -1


def finite(values: Sequence[int | float | None]) -> NDArray[np.float64]:
    """Return `values` as doubles, with nan for None and for what is not finite."""
    # Few traces have any, and NumPy is slow at None.
    if values.count(None) == len(values):
        return np.full(len(values), np.nan)
    return np.array([np.nan if v is None or not abs(v) < _LARGEST else v for v in values], dtype=np.float64)
