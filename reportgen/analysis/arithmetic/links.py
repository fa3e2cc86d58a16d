"""Following links from table to table, for all rows at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from reportgen.trace.columns import Int32


def follow(rows: Int32, link: Int32) -> Int32:
    """Return `link` at each of `rows`, and -1 where a row is -1."""
    if len(link) == 0:
        return np.full(len(rows), -1, dtype=np.int32)
    return np.where(rows >= 0, link[rows], -1).astype(np.int32)


def first_known(*candidates: Int32) -> Int32:
    """Return for each row the first of the candidates that is no -1."""
    known = candidates[0]
    for candidate in candidates[1:]:
        known = np.where(known >= 0, known, candidate).astype(np.int32)
    return known
