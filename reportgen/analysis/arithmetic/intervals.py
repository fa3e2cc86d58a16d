"""Cutting time spans by each other: complements, overlaps, and layers painted over layers.

Builds on `spans`: a `Spans` is sorted and disjoint. Everything is vectorised; times are int64 nanoseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.analysis.arithmetic.spans import Spans

if TYPE_CHECKING:
    from reportgen.trace.columns import Int64

# Beyond any time of a trace, with room to subtract.
FAR_NS = 2**62


class Overlaps(NamedTuple):
    """Where two disjoint sets of spans overlap, sorted; `left` and `right` are the rows that do."""

    start_ns: Int64
    end_ns: Int64
    left: Int64
    right: Int64


class Painted(NamedTuple):
    """Disjoint stretches, sorted, with the row that is visible in each; neighbours differ in row or leave a hole."""

    start_ns: Int64
    end_ns: Int64
    row: Int64


def complement(spans: Spans) -> Spans:
    """Return all that `spans` leaves of the time between -FAR_NS and FAR_NS."""
    start = np.concatenate(([-FAR_NS], spans.end_ns))
    end = np.concatenate((spans.start_ns, [FAR_NS]))
    some = end > start
    return Spans(start[some], end[some])


def overlaps(left: Spans, right: Spans) -> Overlaps:
    """Return each stretch in which a span of `left` and one of `right` overlap. Both must be disjoint and sorted."""
    first = np.searchsorted(right.end_ns, left.start_ns, side="right")
    stop = np.searchsorted(right.start_ns, left.end_ns, side="left")
    count = np.maximum(stop - first, 0)
    left_row = np.repeat(np.arange(len(left.start_ns)), count)
    right_row = expand_ranges(first, count)
    start = np.maximum(left.start_ns[left_row], right.start_ns[right_row])
    end = np.minimum(left.end_ns[left_row], right.end_ns[right_row])
    some = end > start
    return Overlaps(start[some], end[some], left_row[some], right_row[some])


def intersect(left: Spans, right: Spans) -> Spans:
    """Return what both cover."""
    both = overlaps(left, right)
    return Spans(both.start_ns, both.end_ns)


def subtract(spans: Spans, taken: Spans) -> Spans:
    """Return what is left of `spans` outside `taken`."""
    return intersect(spans, complement(taken))


def locate(spans: Spans, time_ns: Int64) -> Int64:
    """Return the row of the span that holds each time (start <= time < end), -1 where none does."""
    row = np.searchsorted(spans.start_ns, time_ns, side="right") - 1
    if len(spans.start_ns) == 0:
        return row
    return np.where((row >= 0) & (time_ns < spans.end_ns[row]), row, -1)


def expand_ranges(first: Int64, count: Int64) -> Int64:
    """Return first[0], first[0] + 1, … count[0] of them, then those of the next range, in one array."""
    total = int(count.sum())
    ends = np.cumsum(count)
    return np.arange(total) - np.repeat(ends - count, count) + np.repeat(first, count)


def paint(start_ns: Int64, end_ns: Int64, priority: Int64) -> Painted:
    """Return which row is visible when spans are painted over each other, the highest priority on top.

    Spans of one priority do not cover each other: the one that started first stays visible to its end.
    """
    if not (end_ns > start_ns).any():
        none = np.zeros(0, dtype=np.int64)
        return Painted(none, none, none)
    cuts = np.unique(np.concatenate((start_ns, end_ns)))
    owner = np.full(len(cuts) - 1, -1, dtype=np.int64)
    for level in np.unique(priority):
        rows = np.flatnonzero((priority == level) & (end_ns > start_ns))
        rows = rows[np.lexsort((-end_ns[rows], start_ns[rows]))]
        reach = np.maximum.accumulate(end_ns[rows])
        start = np.maximum(start_ns[rows], np.concatenate(([-FAR_NS], reach[:-1])))
        visible = end_ns[rows] > start
        rows, start = rows[visible], start[visible]
        found = locate(Spans(start, end_ns[rows]), cuts[:-1])
        owner[found >= 0] = rows[found[found >= 0]]
    return _merge_neighbours(cuts, owner)


def _merge_neighbours(cuts: Int64, owner: Int64) -> Painted:
    """Join stretches between `cuts` that show the same row; drop those that show none."""
    opens = np.concatenate(([True], owner[1:] != owner[:-1]))
    first = np.flatnonzero(opens)
    last = np.concatenate((first[1:], [len(owner)]))
    shown = owner[first] >= 0
    return Painted(cuts[first][shown], cuts[last][shown], owner[first][shown])
