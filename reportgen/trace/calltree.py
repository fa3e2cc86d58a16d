"""Which span of a thread was open at a moment: the one question that all linking asks.

Spans of one thread nest as their calls did, but recorded ones not always: a child may outlive its parent, clocks are
rounded. So nothing here relies on nesting. *Open* at `t` means ``start <= t < end``, and the innermost open span is the
one that started last.

With spans in order of start, that is the last span up to a position whose end lies after `t`. Looking backwards from
there, a span that ended can be skipped together with all before it that ended no later: each span keeps the row of the
nearest earlier one that ended later (`outlasted_by`), and a search follows these. The searches of all threads and all
moments run side by side, a round being one hop for each that is still looking; they take as many rounds as calls nest.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from reportgen.trace.columns import Int32, Int64


@dataclasses.dataclass(frozen=True, kw_only=True)
class CallTree:
    """The spans of a table, thread by thread, ready to be asked which was open when.

    All arrays but `parent` are in order of thread, then start; `rows` leads back to the table.
    """

    rows: Int64
    start_ns: Int64
    end_ns: Int64
    bounds: Int64  # spans of thread t are bounds[t]:bounds[t + 1]
    outlasted_by: Int32  # position of the nearest earlier span of the thread that ended later, -1 where there is none
    parent: Int32  # in order of the table: row of the innermost span open at the start, -1 where there is none

    def innermost_open(self, thread: Int32, time_ns: Int64) -> Int32:
        """Give, for each moment on a thread, the row of the innermost span open then, or -1."""
        last = np.full(len(time_ns), -1, dtype=np.int32)
        num_threads = len(self.bounds) - 1
        order, bounds = _group_by_thread(thread, max(num_threads, int(thread.max(initial=-1)) + 1))
        for index in np.flatnonzero(np.diff(bounds[: num_threads + 1])):
            moments = order[bounds[index] : bounds[index + 1]]
            first, stop = self.bounds[index], self.bounds[index + 1]
            started = np.searchsorted(self.start_ns[first:stop], time_ns[moments], side="right")
            last[moments] = np.where(started > 0, first + started - 1, -1)
        found = _follow(last, time_ns, self.end_ns, self.outlasted_by)
        return _rows_at(self.rows, found)


def build_call_tree(start_ns: Int64, end_ns: Int64, thread: Int32) -> CallTree:
    """Arrange spans, which must be sorted by start (ties: the longer first), as a tree of calls for each thread."""
    rows, bounds = _group_by_thread(thread, int(thread.max(initial=-1)) + 1)
    start, end = start_ns[rows], end_ns[rows]
    previous = np.arange(-1, len(rows) - 1, dtype=np.int32)
    previous[bounds[:-1][np.diff(bounds) > 0]] = -1
    outlasted_by = _nearest_that_ended_later(previous, end)
    parent = np.empty(len(rows), dtype=np.int32)
    parent[rows] = _rows_at(rows, _follow(previous, start, end, outlasted_by))
    return CallTree(rows=rows, start_ns=start, end_ns=end, bounds=bounds, outlasted_by=outlasted_by, parent=parent)


def nearest_with(parent: Int32, has: np.typing.NDArray[np.bool_]) -> Int32:
    """Give, for each row of a tree, the row of the nearest among itself and its ancestors that `has`, or -1."""
    found = np.where(has, np.arange(len(parent), dtype=np.int32), parent)
    looking = np.flatnonzero(~has & (parent >= 0))
    while looking.size:
        at = found[looking]
        looking, at = looking[~has[at]], at[~has[at]]
        found[looking] = found[at]
        looking = looking[found[looking] >= 0]
    return found


def _group_by_thread(thread: Int32, num_threads: int) -> tuple[Int64, Int64]:
    """Give the rows in order of thread, each thread's in their own order, and where each thread's begin."""
    bounds = np.zeros(num_threads + 1, dtype=np.int64)
    np.cumsum(np.bincount(thread, minlength=num_threads), out=bounds[1:])
    # Few threads fit 16 bits, for which NumPy's stable sort counts instead of comparing.
    keys = thread.astype(np.uint16) if num_threads < 1 << 16 else thread
    return np.argsort(keys, kind="stable"), bounds


def _nearest_that_ended_later(previous: Int32, end: Int64) -> Int32:
    """Give, for each span, the nearest earlier one that ended later.

    A search that is still on its way may be followed as well: what it skipped ended no later than it did. So each
    round doubles the distance, and a thousand calls in a row take ten rounds.
    """
    found = previous.copy()
    looking = np.flatnonzero(found >= 0).astype(np.int32)
    while looking.size:
        at = found[looking]
        ended = end[at] <= end[looking]
        looking = looking[ended]
        found[looking] = found[at[ended]]
        looking = looking[found[looking] >= 0]
    return found


def _follow(first: Int32, time: Int64, end: Int64, outlasted_by: Int32) -> Int32:
    """Follow `outlasted_by` from each first position to the span that is still open at its time, or -1."""
    found = first.copy()
    looking = np.flatnonzero(found >= 0).astype(np.int32)
    while looking.size:
        at = found[looking]
        ended = end[at] <= time[looking]
        looking = looking[ended]
        found[looking] = outlasted_by[at[ended]]
        looking = looking[found[looking] >= 0]
    return found


def _rows_at(rows: Int64, position: Int32) -> Int32:
    if not len(rows):
        return position
    return np.where(position >= 0, rows[position], -1).astype(np.int32)
