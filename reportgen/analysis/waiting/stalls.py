"""Stalls: one place in host code that holds up the launches, step after step.

A stretch between launches is as long as the host needs to get from one to the next; a stall stands out from the trace's
own stretches. Within such a stretch it is either a function or operator that begins and ends there, or a hole: time in
one function in which nothing of substance begins or ends. How many trivial functions are called in a hole does not
matter; a loop that polls a clock writes 80 000 of them.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.arithmetic.intervals import FAR_NS, intersect, subtract
from reportgen.analysis.arithmetic.spans import Spans
from reportgen.analysis.waiting.host_causes import HostCauses, stall_causes

if TYPE_CHECKING:
    from reportgen.analysis.waiting.profiler_share import RecordingCosts
    from reportgen.trace.columns import Bool, Frames, Int64, Operators, Trace

# A stall takes 3 % of the step, and ten of the trace's own stretches between launches. Where there are hardly any
# launches a step, one stretch is most of it; a third of a step is long whatever the others are.
MIN_SHARE = 0.03
MIN_STRETCHES = 10
SURE_SHARE = 0.3
MIN_STEPS = 2
# Calls of one function from one call of another that make a loop, whose turns are not the place.
LOOP_CALLS = 10


@dataclasses.dataclass(frozen=True, kw_only=True)
class Stretches:
    """Where to look: spans of host time without launches, and how long a step and an ordinary stretch are."""

    spans: Spans
    step_ns: float
    ordinary_ns: float

    @property
    def least_ns(self) -> float:
        """Return from which length on a stretch can be a stall."""
        least = max(MIN_STRETCHES * self.ordinary_ns, MIN_SHARE * self.step_ns)
        return min(least, SURE_SHARE * self.step_ns)


class _Lane:
    """The frames or the operators of one thread, to be asked for those of a stretch and those open at a moment."""

    def __init__(self, table: Frames | Operators, thread: int) -> None:
        self._table = table
        self._rows = np.flatnonzero(table.thread == thread)
        self._start_ns = table.start_ns[self._rows]

    def beginning_in(self, start_ns: int, end_ns: int) -> Int64:
        """Return the rows that begin in [start, end)."""
        first, stop = np.searchsorted(self._start_ns, [start_ns, end_ns])
        return self._rows[first:stop]

    def first_from(self, time_ns: int) -> int:
        """Return the first row that begins at a time or later, -1 where none does."""
        index = int(np.searchsorted(self._start_ns, time_ns))
        return int(self._rows[index]) if index < len(self._rows) else -1

    def open_at(self, time_ns: int) -> list[int]:
        """Return the rows open at a time, the innermost first."""
        index = int(np.searchsorted(self._start_ns, time_ns, side="right")) - 1
        row, found = int(self._rows[index]) if index >= 0 else -1, []
        while row >= 0:
            if self._table.end_ns[row] > time_ns:
                found.append(row)
            row = int(self._table.parent[row])
        return found

    def innermost_around(self, start_ns: int, end_ns: int) -> int:
        """Return the innermost row that is open from start to end, -1 where none is."""
        return next((row for row in self.open_at(start_ns) if self._table.end_ns[row] >= end_ns), -1)


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Thread:
    """One thread to look on; on the `last` one, code outside all frames and operators is a place as well."""

    index: int
    frames: _Lane
    operators: _Lane
    last: bool


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Place:
    start_ns: int
    end_ns: int
    frame: int
    operator: int
    thread: int
    following: int = -1  # row of the operator that ends a hole


def find_stretches(borders: Spans, taken: Spans, steps: Spans, step_ns: float) -> Stretches:
    """Return the host time of `steps` between `borders` (launches, waits, allocations) that nothing else has taken.

    It begins with the first border, since what comes before is the profiler starting, and goes on to the end of the
    last step, whose mark the host leaves before the profiler stops.
    """
    within = intersect(steps, _from_the_first(borders))
    between = subtract(within, borders)
    length = between.end_ns - between.start_ns
    ordinary_ns = float(np.median(length)) if len(length) else 0.0
    return Stretches(spans=subtract(between, taken), step_ns=step_ns, ordinary_ns=ordinary_ns)


def find_stalls(trace: Trace, stretches: Stretches, threads: list[int], costs: RecordingCosts) -> HostCauses:
    """Return the stalls on `threads`: long enough even if recording cost what it costs at most, in two steps or more.

    The threads are asked in turn for what holds a stretch up: the launching ones first, the main one last.
    """
    spans, least_ns = stretches.spans, stretches.least_ns
    long = np.flatnonzero(spans.end_ns - spans.start_ns >= max(least_ns, 1))
    if len(long) == 0:
        return HostCauses.none()
    lanes = [
        _Thread(index=thread, frames=_Lane(trace.frames, thread), operators=_Lane(trace.operators, thread),
                last=thread == threads[-1])
        for thread in threads
    ]  # fmt: skip
    found: list[_Place] = []
    for row in long.tolist():
        stretch = (int(spans.start_ns[row]), int(spans.end_ns[row]))
        for lane in lanes:
            places = _places(trace, lane, stretch, least_ns)
            found += [place for place in places if _outlasts(place, costs, least_ns)]
            if places:
                break
    return _as_causes(_recurring(trace, found))


def _from_the_first(borders: Spans) -> Spans:
    """Return all time from the first border on."""
    return Spans(borders.start_ns[:1], np.full_like(borders.start_ns[:1], FAR_NS))


def _as_causes(places: list[_Place]) -> HostCauses:
    if not places:
        return HostCauses.none()
    columns = [(place.start_ns, place.end_ns, place.thread, place.operator, place.frame) for place in places]
    start, end, thread, operator, frame = np.array(columns, dtype=np.int64).T
    return stall_causes(start, end, thread.astype(np.int32), operator.astype(np.int32), frame.astype(np.int32))


def _outlasts(place: _Place, costs: RecordingCosts, least_ns: float) -> bool:
    """Tell whether a place is long enough without what recording cost at most."""
    _, most = costs.between(np.array([place.start_ns]), np.array([place.end_ns]))
    return place.end_ns - place.start_ns - int(most[0]) >= least_ns


def _recurring(trace: Trace, found: list[_Place]) -> list[_Place]:
    """Return the places that were found in two steps or more; in a window of one step, all."""
    steps = trace.steps
    if len(steps.number) < MIN_STEPS:
        return found
    seen: dict[tuple[int, ...], set[int]] = {}
    keys = [_key(trace, place) for place in found]
    for key, place in zip(keys, found, strict=True):
        seen.setdefault(key, set()).add(_step_of(trace, place.start_ns))
    return [place for key, place in zip(keys, found, strict=True) if len(seen[key]) >= MIN_STEPS]


def _key(trace: Trace, place: _Place) -> tuple[int, ...]:
    """Return by what a place is recognised: function and operator, or where neither is open, what comes next.

    What comes next in the next step is the step's end, which the last one has as well.
    """
    names = trace.operators.name
    operator = int(names[place.operator]) if place.operator >= 0 else -1
    if place.frame >= 0 or operator >= 0:
        return place.thread, int(trace.frames.name[place.frame]) if place.frame >= 0 else -1, operator, -1
    following = place.following
    if following >= 0 and _step_of(trace, int(trace.operators.start_ns[following])) == _step_of(trace, place.start_ns):
        return place.thread, -1, -1, int(names[following])
    return place.thread, -1, -1, -1


def _step_of(trace: Trace, time_ns: int) -> int:
    return int(np.searchsorted(trace.steps.start_ns, time_ns, side="right")) - 1


def _places(trace: Trace, lane: _Thread, stretch: tuple[int, int], least_ns: float) -> list[_Place]:
    """Return what holds up one stretch on one thread: the innermost long spans inside it, else its long holes."""
    frames, operators = lane.frames.beginning_in(*stretch), lane.operators.beginning_in(*stretch)
    contained = _contained(trace, lane, (frames, operators), stretch[1], least_ns)
    if contained:
        return contained
    frames = frames[~_trivial(trace, frames)]
    frames = np.concatenate((frames, lane.frames.open_at(stretch[0]))).astype(np.int64)
    operators = np.concatenate((operators, lane.operators.open_at(stretch[0]))).astype(np.int64)
    tables = ((trace.frames, frames), (trace.operators, operators))
    cuts = np.concatenate([times[rows] for table, rows in tables for times in (table.start_ns, table.end_ns)])
    return _holes(lane, cuts, stretch, least_ns)


def _contained(trace: Trace, lane: _Thread, rows: tuple[Int64, Int64], end_ns: int, least_ns: float) -> list[_Place]:
    """Return the long functions and operators of a stretch that hold no other long one."""
    places = []
    for table, begun in ((trace.frames, rows[0]), (trace.operators, rows[1])):
        long = begun[(table.end_ns[begun] <= end_ns) & (table.end_ns[begun] - table.start_ns[begun] >= least_ns)]
        for row in long.tolist():
            start, end = int(table.start_ns[row]), int(table.end_ns[row])
            if table is trace.frames:
                places.append(_Place(start_ns=start, end_ns=end, thread=lane.index, frame=row, operator=-1))
            else:
                frame = int(trace.operators.frame[row])
                places.append(_Place(start_ns=start, end_ns=end, thread=lane.index, frame=frame, operator=row))
    return [place for place in places if not any(_holds(place, other) for other in places)]


def _holds(outer: _Place, inner: _Place) -> bool:
    """Tell whether one span holds another; of two equal ones the operator, or else the later row, is the inner."""
    if (outer.start_ns, outer.end_ns) == (inner.start_ns, inner.end_ns):
        return (outer.operator, outer.frame) < (inner.operator, inner.frame)
    return outer.start_ns <= inner.start_ns and inner.end_ns <= outer.end_ns


def _trivial(trace: Trace, rows: Int64) -> Bool:
    """Tell the functions that are no place of their own: those that call nothing, and a loop's turns with all in them.

    `rows` are in order of start, so that a function precedes what it calls.
    """
    if len(rows) == 0:
        return np.zeros(0, dtype=bool)
    parent = trace.frames.parent[rows]
    calls_none = ~np.isin(rows, parent)
    key = parent.astype(np.int64) * len(trace.names) + trace.frames.name[rows]
    _, group, count = np.unique(key, return_inverse=True, return_counts=True)
    in_loop = count[group] >= LOOP_CALLS
    position = np.minimum(np.searchsorted(rows, parent), len(rows) - 1)
    among = rows[position] == parent
    while True:
        spread = in_loop | (among & in_loop[position])
        if np.array_equal(spread, in_loop):
            return np.asarray(calls_none | in_loop)
        in_loop = spread


def _holes(lane: _Thread, cuts: Int64, stretch: tuple[int, int], least_ns: float) -> list[_Place]:
    """Return the long pauses between `cuts` in a stretch, with what is open during each."""
    start, end = stretch
    edges = np.unique(np.concatenate(([start], cuts[(cuts > start) & (cuts < end)], [end])))
    places = []
    for index in np.flatnonzero(np.diff(edges) >= least_ns).tolist():
        hole = int(edges[index]), int(edges[index + 1])
        frame, operator = lane.frames.innermost_around(*hole), lane.operators.innermost_around(*hole)
        # A launching thread on which nothing is open waits for the main one.
        if frame >= 0 or operator >= 0 or lane.last:
            following = lane.operators.first_from(hole[1])
            places.append(_Place(start_ns=hole[0], end_ns=hole[1], thread=lane.index, frame=frame, operator=operator,
                                 following=following))  # fmt: skip
    return places
