"""Aligning two recordings of one program: which event of the first is which event of the second."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.trace.columns import Bool, Int32, Int64

# Bits of the table from which an alignment is traced back (64 MiB); larger ones are halved until they fit.
_TABLE_BITS = 2**29
# Pairs of events that are compared at most, some seconds of work: beyond it (100 000 unequal events against as many)
# the stretch between the common beginning and the common end stays unaligned and counts as not joined.
_MOST_PAIRS = 10**10


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
    if 0 < len(middle[0]) * len(middle[1]) <= _MOST_PAIRS:
        inner = _longest_common_subsequence(*middle)
        partner[head : len(one) - tail] = np.where(inner >= 0, inner + head, -1)
    return partner


def _common(equal: Bool) -> int:
    """Return how many leading entries are True."""
    different = np.flatnonzero(~equal)
    return int(different[0]) if len(different) else len(equal)


def _longest_common_subsequence(one: Int64, other: Int64) -> Int32:
    """Align two sequences exactly, in halves where their table would not fit (Hirschberg 1975)."""
    if len(one) < 2 or len(one) * len(other) <= _TABLE_BITS:
        return _trace_back(one, other)
    half = len(one) // 2
    before = _common_lengths(one[:half], other)
    after = _common_lengths(one[half:][::-1], other[::-1])[::-1]
    cut = int(np.argmax(before + after))
    second = _longest_common_subsequence(one[half:], other[cut:])
    first = _longest_common_subsequence(one[:half], other[:cut])
    return np.concatenate((first, np.where(second >= 0, second + cut, -1).astype(np.int32)))


def _rows(one: Int64, other: Int64) -> Iterator[int]:
    """Give the rows of the table, each held as the bits of one integer.

    Bit j of row i is clear where the longest common subsequence grows between columns j and j + 1: the recurrence of
    Hyyrö 2004, "Bit-parallel LCS-length computation revisited".
    """
    occurrences: dict[int, int] = {}
    for column, key in enumerate(other.tolist()):
        occurrences[key] = occurrences.get(key, 0) | (1 << column)
    everything = (1 << len(other)) - 1
    row = everything
    for key in one.tolist():
        matches = row & occurrences.get(key, 0)
        row = ((row + matches) | (row - matches)) & everything
        yield row


def _common_lengths(one: Int64, other: Int64) -> Int64:
    """Return the length of the longest common subsequence of `one` with each beginning of `other`."""
    (last,) = deque(_rows(one, other), maxlen=1)
    packed = np.frombuffer(last.to_bytes(len(other) // 8 + 1, "little"), dtype=np.uint8)
    grows = np.unpackbits(packed, bitorder="little")[: len(other)] == 0
    return np.concatenate(([0], np.cumsum(grows)))


def _trace_back(one: Int64, other: Int64) -> Int32:
    """Follow the table from its end to the pairs that make up a longest common subsequence."""
    rows = [(1 << len(other)) - 1, *_rows(one, other)]
    partner = np.full(len(one), -1, dtype=np.int32)
    line, column = len(one), len(other)
    while line and column:
        bit = 1 << (column - 1)
        if rows[line] & bit:
            column -= 1
            continue
        line -= 1
        if rows[line] & bit:
            column -= 1
            partner[line] = column
    return partner
