"""Spikes: memory that a function takes for itself and gives back before it returns."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.allocations.phases import steps_of
from reportgen.analysis.arithmetic.grouping import combine
from reportgen.analysis.arithmetic.links import follow
from reportgen.analysis.model import Spike, Where

if TYPE_CHECKING:
    from reportgen.analysis.allocations.evidence import Evidence
    from reportgen.analysis.allocations.history import History
    from reportgen.analysis.attribution.attribution import Attribution
    from reportgen.trace.columns import Int64, Trace

# From where a rise is a spike: a share of what the step started with, and in any case this many bytes.
SPIKE_SHARE = 0.2
LEAST_SPIKE_BYTES = 256 << 20
MOST_TRANSIENTS = 10


def spike_threshold(start_bytes: int) -> int:
    """Return the rise over a step's start from which a function's temporaries are a spike."""
    return max(int(SPIKE_SHARE * start_bytes), LEAST_SPIKE_BYTES)


def choose_spikes(transients: tuple[Spike, ...], limit_bytes: int) -> tuple[Spike, ...]:
    """Choose those that reach the limit and half as high as the highest: the others do not make the peak."""
    highest = max((spike.above_baseline_bytes for spike in transients), default=0)
    return tuple(it for it in transients if it.bytes >= limit_bytes and 2 * it.above_baseline_bytes >= highest)


def find_transients(evidence: Evidence, attribution: Attribution) -> tuple[Spike, ...]:
    """List the functions (operators outside any) whose own temporaries stood highest, the highest first.

    Counted are the blocks that were freed by the time the innermost user function that allocated them returned, or
    within one operator, each with that function alone. What a function returns or saves for the gradient is none.
    """
    history, scope = evidence.history, evidence.phases.scope
    rows = np.flatnonzero((scope >= 0) & (steps_of(history) >= 0))
    if len(rows) == 0:
        return ()
    peaks = _highest(history, rows, scope[rows])
    kind, _ = combine(*evidence.place_codes(peaks.largest))
    order = np.lexsort((peaks.event, -peaks.bytes))
    _, best = np.unique(kind[order], return_index=True)
    times = np.bincount(kind)
    ranked = sorted(order[best].tolist(), key=lambda index: (-int(peaks.bytes[index]), int(peaks.event[index])))
    num_steps = max(len(history.steps.start), 1)
    return tuple(
        _spike(evidence, attribution.detail, peaks, index, float(times[kind[index]]) / num_steps)
        for index in ranked[:MOST_TRANSIENTS]
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Peaks:
    """The highest stand of each scope's temporaries."""

    scope: Int64
    bytes: Int64
    event: Int64  # number of the event after which they stood highest
    largest: Int64  # row of the largest block then


def _highest(history: History, rows: Int64, scope: Int64) -> _Peaks:
    """Reckon each scope's own curve; all end at 0, so one running sum serves them all."""
    blocks = history.blocks
    event = np.concatenate((blocks.first[rows], blocks.last[rows]))
    change = np.concatenate((blocks.bytes[rows], -blocks.bytes[rows]))
    owner = np.concatenate((scope, scope))
    order = np.lexsort((event, owner))
    event, owner, level = event[order], owner[order], np.cumsum(change[order])
    opens = np.flatnonzero(np.diff(owner, prepend=-1))
    top = np.maximum.reduceat(level, opens)
    group = np.cumsum(np.diff(owner, prepend=-1) != 0) - 1
    at_top = np.flatnonzero(level == top[group])
    reached, where = np.unique(group[at_top], return_index=True)
    top_event = event[at_top[where]]
    # The largest block of each scope that is alive then.
    mine = np.searchsorted(owner[opens], scope)
    alive = np.flatnonzero((blocks.first[rows] <= top_event[mine]) & (top_event[mine] < blocks.last[rows]))
    by_size = alive[np.lexsort((-blocks.bytes[rows[alive]], mine[alive]))]
    _, leads = np.unique(mine[by_size], return_index=True)
    return _Peaks(scope=owner[opens][reached], bytes=top, event=top_event, largest=rows[by_size[leads]])


def _spike(evidence: Evidence, trace: Trace, peaks: _Peaks, index: int, count_per_step: float) -> Spike:
    history, blocks = evidence.history, evidence.history.blocks
    event, largest = int(peaks.event[index]), int(peaks.largest[index])
    of_scope = (evidence.phases.scope == peaks.scope[index]) & blocks.alive(event)
    start_ns = int(history.time_ns[blocks.first[of_scope].min()])
    end_ns = int(history.time_ns[blocks.last[of_scope].max()])
    step = history.steps.holding(event)
    baseline = (
        int(history.counter(history.steps.start[step : step + 1])[0])
        if len(history.steps.start)
        else history.start_bytes
    )
    place = _heaviest_place(evidence, np.flatnonzero(of_scope))
    operator, shapes, _ = evidence.operator(place)
    return Spike(
        bytes=int(peaks.bytes[index]),
        above_baseline_bytes=int(history.allocated[event]) - baseline,
        operator=operator,
        input_shapes=shapes,
        held_us=(end_ns - start_ns) / 1e3,
        source=evidence.source(place),
        where=Where(
            trace=trace.info.path.name,
            start_us=trace.origin_us + start_ns / 1e3,
            end_us=trace.origin_us + end_ns / 1e3,
            thread=_thread(evidence.history, trace, largest),
        ),
        count_per_step=count_per_step,
        num_blocks=int(of_scope.sum()),
        largest_block_bytes=int(blocks.bytes[largest]),
        within_operator=int(peaks.scope[index]) >= len(trace.frames.name),
    )


def _heaviest_place(evidence: Evidence, rows: Int64) -> int:
    """Return the largest block of the place that holds most of the blocks `rows`: the line that makes the peak."""
    sizes = evidence.history.blocks.bytes[rows]
    _, place = np.unique(evidence.place_codes(rows)[0], return_inverse=True)
    mine = np.flatnonzero(place == np.argmax(np.bincount(place, weights=sizes)))
    return int(rows[mine[np.argmax(sizes[mine])]])


def _thread(history: History, trace: Trace, row: int) -> str | None:
    thread = follow(history.blocks.operator[row : row + 1], trace.operators.thread)[0]
    return trace.threads[int(thread)].thread if thread >= 0 else None
