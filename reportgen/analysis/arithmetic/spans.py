"""Arithmetic on time spans: sorted, disjoint unions of intervals in nanoseconds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from reportgen.trace.columns import Int64


class Spans(NamedTuple):
    """Disjoint, non-touching intervals sorted by start."""

    start_ns: Int64
    end_ns: Int64

    @property
    def total_ns(self) -> int:
        """Return the length of all intervals together."""
        return int((self.end_ns - self.start_ns).sum())


def union(start_ns: Int64, end_ns: Int64) -> Spans:
    """Merge intervals that overlap or touch; empty ones vanish."""
    longer = end_ns > start_ns
    start_ns, end_ns = start_ns[longer], end_ns[longer]
    if len(start_ns) == 0:
        return Spans(start_ns, end_ns)
    order = np.argsort(start_ns, kind="stable")
    start_ns, end_ns = start_ns[order], end_ns[order]
    reach = np.maximum.accumulate(end_ns)
    opens = np.concatenate(([True], start_ns[1:] > reach[:-1]))
    closes = np.concatenate((opens[1:], [True]))
    return Spans(start_ns[opens], reach[closes])


def covered(spans: Spans, start_ns: Int64, end_ns: Int64) -> Int64:
    """Return for each interval how many of its nanoseconds lie inside `spans`."""
    return covered_until(spans, end_ns) - covered_until(spans, start_ns)


def covered_until(spans: Spans, time_ns: Int64) -> Int64:
    """Return for each time how many nanoseconds of `spans` lie before it."""
    if len(spans.start_ns) == 0:
        return np.zeros(len(time_ns), dtype=np.int64)
    lengths = spans.end_ns - spans.start_ns
    before = np.concatenate(([0], np.cumsum(lengths)))
    row = np.searchsorted(spans.start_ns, time_ns, side="right") - 1
    inside = np.minimum(time_ns - spans.start_ns[row], lengths[row])
    return np.asarray(np.where(row < 0, 0, before[row] + inside), dtype=np.int64)


def overlap_ns(one: Spans, other: Spans) -> int:
    """Return how long both are covered."""
    return int(covered(other, one.start_ns, one.end_ns).sum())
