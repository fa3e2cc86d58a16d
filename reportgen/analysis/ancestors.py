"""Walking up the call trees of operators and frames, for all rows at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from reportgen.trace.columns import Bool, Int32


def nearest(parent: Int32, wanted: Bool) -> Int32:
    """Return for each row the row itself or its innermost ancestor that is `wanted`, -1 where there is none.

    Every pass doubles the distance walked, so that 80 000 nested rows take 17 passes.
    """
    rows = np.arange(len(parent), dtype=np.int32)
    target = np.where(wanted, rows, parent).astype(np.int32)
    while True:
        further = follow(target, target)
        if np.array_equal(further, target):
            return target
        target = further


def follow(rows: Int32, link: Int32) -> Int32:
    """Return `link` at each of `rows`, and -1 where a row is -1."""
    if len(link) == 0:
        return np.full(len(rows), -1, dtype=np.int32)
    return np.where(rows >= 0, link[rows], -1).astype(np.int32)
