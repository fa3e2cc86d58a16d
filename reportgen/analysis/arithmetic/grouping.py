"""Grouping of columns by integer codes, without a loop over rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from reportgen.trace.columns import Int64

Float64 = NDArray[np.float64]
# Products of code ranges up to here fit 64 bits with room to spare.
_MOST_KEYS = 2**62
# Entries of a table that is quicker to fill than as many rows are to sort.
_TABLE_LIMIT = 2**23


def combine(*columns: NDArray[np.integer]) -> tuple[Int64, Int64]:
    """Number the distinct rows of `columns` from 0.

    Returns the group of each row, and for each group the first row that is in it. Codes may be negative.
    """
    num_rows = len(columns[0])
    if num_rows == 0:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    key, num_keys = np.zeros(num_rows, dtype=np.int64), 1
    for column in columns:
        lowest = int(column.min())
        spread = int(column.max()) - lowest + 1
        if num_keys * spread > _MOST_KEYS:
            key, num_keys = _renumber(key, num_keys)
        key = key * spread + (column.astype(np.int64) - lowest)
        num_keys *= spread
    group, num_groups = _renumber(key, num_keys)
    first = np.empty(num_groups, dtype=np.int64)
    first[group[::-1]] = np.arange(num_rows - 1, -1, -1)
    return group, first


def _renumber(key: Int64, num_keys: int) -> tuple[Int64, int]:
    """Make keys dense, in their own order; by a table where the range is small, which beats sorting."""
    if num_keys <= _TABLE_LIMIT:
        present = np.zeros(num_keys, dtype=bool)
        present[key] = True
        return (np.cumsum(present) - 1)[key], int(present.sum())
    values, dense = np.unique(key, return_inverse=True)
    return dense.astype(np.int64), len(values)


def total(group: NDArray[np.integer], weight: NDArray[np.generic] | None, num_groups: int) -> Float64:
    """Add `weight` (or count rows) for each group; rows of group -1 are left out."""
    inside = group >= 0
    weights = None if weight is None else weight[inside].astype(np.float64)
    return np.bincount(group[inside], weights=weights, minlength=num_groups).astype(np.float64)


def heaviest(
    group: NDArray[np.integer], item: NDArray[np.integer], weight: NDArray[np.generic], most: int
) -> dict[int, list[int]]:
    """Return for each group its up to `most` items with the largest total weight, heaviest first.

    Rows whose group or item is -1 are left out. Ties go to the smaller item, so that the answer does not depend on
    the order of rows.
    """
    inside = (group >= 0) & (item >= 0)
    if not inside.any():
        return {}
    pair, first = combine(group[inside], item[inside])
    weights = total(pair, weight[inside], len(first))
    groups, items = group[inside][first], item[inside][first]
    order = np.lexsort((items, -weights, groups))
    ranked: dict[int, list[int]] = {}
    for row in order:
        chosen = ranked.setdefault(int(groups[row]), [])
        if len(chosen) < most:
            chosen.append(int(items[row]))
    return ranked
