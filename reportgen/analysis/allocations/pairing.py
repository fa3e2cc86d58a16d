"""Two histories of one program: which block of the snapshot is which allocation of the trace.

A snapshot knows the line of the call, a trace the operator, its shapes and the phase. In own runs they come from two
passes, in somebody else's capture from one; either way a step allocates the same sizes in the same order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.analysis.arithmetic.alignment import align

if TYPE_CHECKING:
    from reportgen.analysis.allocations.history import BlockTable, History
    from reportgen.trace.columns import Int32, Int64

# Steps with as many allocations, at least half of them of equal sizes, are paired one by one: a growing cache changes
# the sizes of a few.
_LEAST_EQUAL = 0.5


class Pairs(NamedTuple):
    """For each block of one history its twin in the other, -1 where it has none."""

    in_snapshot: Int32  # parallel to the trace's blocks
    in_trace: Int32  # parallel to the snapshot's blocks


def pair_histories(trace: History, snapshot: History) -> Pairs:
    """Pair the blocks step by step, from the back: the last steps of a program are the most alike."""
    pairs = Pairs(
        np.full(len(trace.blocks.first), -1, dtype=np.int32), np.full(len(snapshot.blocks.first), -1, dtype=np.int32)
    )
    mine, theirs = rows_by_step(trace), rows_by_step(snapshot)
    for one, other in _opposite(mine, theirs):
        rows, others = _pairs(trace.blocks, one, snapshot.blocks, other)
        pairs.in_snapshot[rows] = others
    for other, one in _opposite(theirs, mine):
        rows, others = _pairs(trace.blocks, one, snapshot.blocks, other)
        pairs.in_trace[others] = rows
    return pairs


def rows_by_step(history: History) -> list[Int64]:
    """Return for each step that allocates the rows of the blocks it allocated, in order."""
    first = history.blocks.first
    seen = np.flatnonzero(first >= 0)
    bounds = zip(history.steps.start.tolist(), history.steps.end.tolist(), strict=True)
    rows = [seen[(first[seen] >= start) & (first[seen] < end)] for start, end in bounds]
    return [step for step in rows if len(step)]


def _opposite(steps: list[Int64], others: list[Int64]) -> list[tuple[Int64, Int64]]:
    """Give each step the other side's step as far from the end, or its first."""
    if not others:
        return []
    return [(step, others[max(len(others) - 1 - back, 0)]) for back, step in enumerate(reversed(steps))]


def _pairs(one: BlockTable, rows: Int64, other: BlockTable, others: Int64) -> tuple[Int64, Int64]:
    sizes, other_sizes = one.bytes[rows], other.bytes[others]
    if len(rows) == len(others) and (sizes == other_sizes).mean() >= _LEAST_EQUAL:
        return rows, others
    partner: Int32 = align(sizes, other_sizes)
    found = partner >= 0
    return rows[found], others[partner[found]]
