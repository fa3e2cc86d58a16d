"""What recording cost the host, and how much of the device's waits that explains.

Each recorded event took host time to record. The costs below are lower and upper bounds of it, measured as differences
of passes on three models on one machine; on another they are weights rather than amounts.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from reportgen.analysis.arithmetic.grouping import Float64
    from reportgen.trace.columns import Bool, Int32, Int64, Trace

# Host time of recording one event, ns: (low, high).
CALL_NS = (1_200, 3_700)
OPERATOR_NS = (1_000, 1_600)
SHAPES_NS = (300, 800)
FRAME_NS = (300, 900)
MEMORY_NS = (200, 500)
# One function called this often from one call of another is a loop that polls: it fills the wait, it does not cause it,
# and without the profiler it would only turn faster. The longest ordinary loops run over a model's parameters.
POLLING_CALLS = 1_000
# Of an unprofiled step, recording cannot have cost more than this many times the middle of the bounds above.
MOST_SCALE = 4.0
_SEARCH_ROUNDS = 40
# Position of the runtime calls among the kinds of recorded events.
CALLS = 0


@dataclasses.dataclass(frozen=True, kw_only=True)
class RecordingCosts:
    """Cumulative cost of recording over host time, on the threads that were asked for."""

    time_ns: Int64  # of each recorded event, sorted
    low_ns: Int64  # cumulative, one entry longer than `time_ns`
    high_ns: Int64
    # The same by kind of event; empty on a single kind.
    kinds: tuple[RecordingCosts, ...] = ()

    def between(self, start_ns: Int64, end_ns: Int64) -> tuple[Int64, Int64]:
        """Return lower and upper bound of what was spent on events that began in [start, end)."""
        first = np.searchsorted(self.time_ns, start_ns, side="left")
        stop = np.maximum(np.searchsorted(self.time_ns, end_ns, side="left"), first)
        return self.low_ns[stop] - self.low_ns[first], self.high_ns[stop] - self.high_ns[first]

    def bound_total(self, start_ns: Int64, end_ns: Int64) -> tuple[Float64, Float64]:
        """Return lower and upper bound of the sum over all kinds of events.

        The kinds' costs were bounded one by one: that all lie at one end at once is out of the question, so their half
        widths add up in quadrature. For long stretches; such bounds of parts do not add up to those of the whole.
        """
        bounds = [np.stack(kind.between(start_ns, end_ns)) for kind in self.kinds]
        middle = sum((low + high for low, high in bounds), np.zeros(len(start_ns))) / 2
        half = np.sqrt(sum(((high - low) ** 2.0 for low, high in bounds), np.zeros(len(start_ns)))) / 2
        return middle - half, middle + half


def measure_recording_costs(trace: Trace, threads: Int32 | None = None) -> RecordingCosts:
    """Add up what recording cost on `threads` (rows of Trace.threads; None: on all)."""
    operators, frames, memory = trace.operators, trace.frames, trace.memory
    with_shapes = operators.signature >= 0
    parts = [
        _events(trace.calls.start_ns, trace.calls.thread, threads, CALL_NS),
        _events(operators.start_ns[~with_shapes], operators.thread[~with_shapes], threads, OPERATOR_NS),
        _events(operators.start_ns[with_shapes], operators.thread[with_shapes], threads, _sum(OPERATOR_NS, SHAPES_NS)),
        _events(memory.time_ns, memory.thread, threads, MEMORY_NS),
    ]
    counted = ~polling_frames(trace)
    parts.append(_events(frames.start_ns[counted], frames.thread[counted], threads, FRAME_NS))
    whole = _Events(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    return _costs(whole, tuple(_costs(kind) for kind in parts))


def polling_frames(trace: Trace) -> Bool:
    """Return the frames that one call of a function repeats over `POLLING_CALLS` times."""
    frames = trace.frames
    polling = np.zeros(len(frames.start_ns), dtype=bool)
    child = np.flatnonzero(frames.parent >= 0)
    if len(child) == 0:
        return polling
    num_children = np.bincount(frames.parent[child], minlength=len(polling))
    child = child[num_children[frames.parent[child]] > POLLING_CALLS]
    key = frames.parent[child].astype(np.int64) * len(trace.names) + frames.name[child]
    _, group, count = np.unique(key, return_inverse=True, return_counts=True)
    polling[child[count[group] > POLLING_CALLS]] = True
    return polling


def place_share(wait_ns: Int64, cost_ns: Int64, segment: Int64) -> Int64:
    """Return how much of each wait the costs before it explain.

    Within a segment a cost that one wait was too short for shortens the next ones: the host would have been that much
    ahead. `segment` is non-decreasing; at its borders the host's lead is lost, and with it what was left over.

    With r the share placed, a the costs and w the waits, all summed within the segment up to a wait,
    r = min(r_before + w, a); so r - w is the running minimum of a - w and 0.
    """
    if len(wait_ns) == 0:
        return wait_ns
    opens = np.concatenate(([True], segment[1:] != segment[:-1]))
    wait_sum, cost_sum = _sum_within(wait_ns, opens), _sum_within(cost_ns, opens)
    slack = np.minimum(cost_sum - wait_sum, 0)
    # Each segment lies so far below the one before that a running minimum starts afresh in it.
    level = np.cumsum(opens) * (int(wait_ns.sum()) + 1)
    placed = wait_sum + np.minimum.accumulate(slack - level) + level
    return np.asarray(np.diff(placed, prepend=0) + np.where(opens, np.concatenate(([0], placed[:-1])), 0))


def scale_to_total(wait_ns: Int64, cost_ns: Int64, segment: Int64, total_ns: int) -> Int64:
    """Return the share of each wait when costs are weights and the shares add up to `total_ns`, or less.

    The sum falls short where waits have no recorded events before them, or where the weights would have to grow beyond
    `MOST_SCALE`.
    """
    low, high = 0.0, MOST_SCALE
    placed = place_share(wait_ns, _scaled(cost_ns, high), segment)
    if int(placed.sum()) <= total_ns:
        return placed
    for _ in range(_SEARCH_ROUNDS):
        middle = (low + high) / 2
        placed = place_share(wait_ns, _scaled(cost_ns, middle), segment)
        if int(placed.sum()) > total_ns:
            high = middle
        else:
            low = middle
    return place_share(wait_ns, _scaled(cost_ns, low), segment)


class _Events(NamedTuple):
    time_ns: Int64
    low_ns: Int64
    high_ns: Int64


def _events(time_ns: Int64, thread: Int32, threads: Int32 | None, cost_ns: tuple[int, int]) -> _Events:
    if threads is not None:
        time_ns = time_ns[np.isin(thread, threads)]
    return _Events(time_ns, np.full(len(time_ns), cost_ns[0]), np.full(len(time_ns), cost_ns[1]))


def _costs(events: _Events, kinds: tuple[RecordingCosts, ...] = ()) -> RecordingCosts:
    order = np.argsort(events.time_ns, kind="stable")
    return RecordingCosts(
        time_ns=events.time_ns[order],
        low_ns=_cumulate(events.low_ns[order]),
        high_ns=_cumulate(events.high_ns[order]),
        kinds=kinds,
    )


def _sum(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return one[0] + other[0], one[1] + other[1]


def _cumulate(cost_ns: Int64) -> Int64:
    return np.concatenate(([0], np.cumsum(cost_ns)))


def _scaled(cost_ns: Int64, scale: float) -> Int64:
    return np.asarray(np.rint(cost_ns * scale), dtype=np.int64)


def _sum_within(values: Int64, opens: Bool) -> Int64:
    """Return the running sum of `values`, starting afresh where a segment opens."""
    total = np.cumsum(values)
    first = np.flatnonzero(opens)
    before = np.repeat(total[first] - values[first], np.diff(np.concatenate((first, [len(values)]))))
    return np.asarray(total - before)
