"""Aligning two recordings of one program: which event of the first is which event of the second."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from reportgen.trace.columns import Bool, Int32, Int64

# Bits of the table that an exact alignment keeps; beyond it (32 000 unequal events against as many) the stretch
# between the common beginning and the common end stays unaligned and counts as not joined.
_MOST_BITS = 2**30


def align(one: Int64, other: Int64) -> Int32:
    """Return for each key of `one` the position of its partner in `other`, -1 where it has none.

    Partners carry equal keys, keep their order, and are as many as possible (a longest common subsequence). Equal
    sequences, common beginnings and common ends cost one comparison.
    """
    partner = np.full(len(one), -1, dtype=np.int32)
    shorter = min(len(one), len(other))
    head = _common(one[:shorter] == other[:shorter])
    partner[:head] = np.arange(head)
    tail = _common((one[len(one) - shorter :] == other[len(other) - shorter :])[::-1])
    tail = min(tail, shorter - head)
    if tail:
        partner[len(one) - tail :] = np.arange(len(other) - tail, len(other))
    middle = one[head : len(one) - tail], other[head : len(other) - tail]
    if 0 < len(middle[0]) * len(middle[1]) <= _MOST_BITS:
        inner = _longest_common_subsequence(*middle)
        partner[head : len(one) - tail] = np.where(inner >= 0, inner + head, -1)
    return partner


def _common(equal: Bool) -> int:
    """Return how many leading entries are True."""
    different = np.flatnonzero(~equal)
    return int(different[0]) if len(different) else len(equal)


def _longest_common_subsequence(one: Int64, other: Int64) -> Int32:
    """Align two sequences exactly, a row of the table held as the bits of one integer.

    Bit j of row i is clear where the table grows between columns j and j + 1: Hyyrö's bit-parallel recurrence
    (Hyyrö 2004, "Bit-parallel LCS-length computation revisited"), traced back from the end.
    """
    occurrences: dict[int, int] = {}
    for column, key in enumerate(other.tolist()):
        occurrences[key] = occurrences.get(key, 0) | (1 << column)
    everything = (1 << len(other)) - 1
    row, rows = everything, []
    for key in one.tolist():
        matches = row & occurrences.get(key, 0)
        row = ((row + matches) | (row - matches)) & everything
        rows.append(row)
    partner = np.full(len(one), -1, dtype=np.int32)
    line, column = len(one), len(other)
    while line and column:
        if rows[line - 1] >> (column - 1) & 1:
            column -= 1
            continue
        line -= 1
        above = rows[line - 1] if line else everything
        if above >> (column - 1) & 1:
            column -= 1
            partner[line] = column
    return partner
