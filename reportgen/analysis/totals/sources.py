"""Functions of the user's own code: the device time they launch, the host time they take, the waits they cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.arithmetic.grouping import Float64, total
from reportgen.analysis.arithmetic.links import follow
from reportgen.analysis.model import Cut, SourceRow
from reportgen.analysis.steps.window import durations_ns
from reportgen.trace.calltree import build_call_tree

if TYPE_CHECKING:
    from reportgen.analysis.attribution.case_places import CasePlaces
    from reportgen.analysis.attribution.twin_clock import HostStretches
    from reportgen.analysis.steps.window import Counted
    from reportgen.analysis.waiting.budget_result import BudgetResult
    from reportgen.trace.columns import Int64

MOST_SOURCES = 50


def rank_sources(places: CasePlaces, counted: Counted, budget: BudgetResult | None) -> Cut[SourceRow]:
    """List the user's functions by what they cost the step: their device time and the device waits they cause.

    An event belongs to the innermost user function around it alone, so no time counts twice. Host time is the time in
    which that function was the innermost one on the thread that runs the steps, the settling one left out, as from
    the waits. Without a device it decides the order. Lines are those of the ``def``.
    """
    attribution = places.attribution
    frames, num_names = attribution.frames, len(attribution.detail.names)
    activities = attribution.timeline.activities
    function = np.where(counted.activities, follow(attribution.activity_frame, frames.user_name), -1)
    device = total(function, durations_ns(activities), num_names) / 1e3 / counted.num_steps
    host = _host_us(places, num_names)
    waiting = _waiting_us(places, budget, num_names) if budget is not None else None
    device_recorded = attribution.timeline.device_recorded
    cost = device + (0 if waiting is None else waiting) if device_recorded else host
    order = np.lexsort((-host, -cost))
    order = order[(cost[order] > 0) | (host[order] > 0)]

    def row(name: int) -> SourceRow:
        source = frames.function(name)
        return SourceRow(
            file=source.file,
            line=source.line,
            line_kind=source.line_kind,
            function=source.function,
            device_us_per_step=float(device[name]) if device_recorded else None,
            host_us_per_step=float(host[name]),
            waiting_us_per_step=None if waiting is None else float(waiting[name]),
        )

    return Cut(
        items=tuple(row(int(name)) for name in order[:MOST_SOURCES]),
        total=len(order),
        other_us=float(cost[order[MOST_SOURCES:]].sum()),
    )


def _host_us(places: CasePlaces, num_names: int) -> Float64:
    """Add up each function's host time a step, by name code: each stretch is shared out as the detail pass was."""
    frames = places.attribution.detail.frames
    user_frames = np.flatnonzero(places.attribution.frames.user == np.arange(len(frames.name)))
    tree = build_call_tree(frames.start_ns[user_frames], frames.end_ns[user_frames], frames.thread[user_frames])
    stretches = places.host_stretches()
    sums = np.zeros(num_names)
    for thread in np.unique(stretches.detail_thread):
        of_thread = user_frames[frames.thread[user_frames] == thread]
        if thread < 0 or len(of_thread) == 0:
            continue
        changes = np.unique(np.concatenate((frames.start_ns[of_thread], frames.end_ns[of_thread])))
        innermost = tree.innermost_open(np.full(len(changes), thread, dtype=np.int32), changes)
        function = np.where(innermost >= 0, frames.name[user_frames[innermost]], -1)
        sums += _shared_out(stretches, stretches.detail_thread == thread, changes, function, num_names)
    return sums / 1e3 / stretches.num_steps


def _shared_out(
    stretches: HostStretches, chosen: np.typing.NDArray[np.bool_], changes: Int64, function: Int64, num_names: int
) -> Float64:
    """Share the `chosen` stretches among functions; `function` holds from each of `changes` to the next."""
    start, end = stretches.detail_start_ns[chosen], stretches.detail_end_ns[chosen]
    first = np.searchsorted(changes, start, side="right") - 1
    last = np.searchsorted(changes, end, side="left") - 1
    pieces = np.maximum(last - first + 1, 1)
    owner = np.repeat(np.arange(len(start)), pieces)
    piece = first[owner] + np.arange(len(owner)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    borders = np.append(changes, np.iinfo(np.int64).max)
    begins = np.maximum(np.where(piece >= 0, borders[piece], start[owner]), start[owner])
    ends = np.minimum(borders[piece + 1], end[owner])
    length = np.maximum(end - start, 1)[owner]
    # A stretch that took no time in the detail pass goes to the function that was open there.
    share = np.where(end[owner] > start[owner], np.maximum(ends - begins, 0) / length, 1.0)
    code = np.where(piece >= 0, function[piece], -1)
    return total(code, stretches.duration_ns[chosen][owner] * share, num_names)


def _waiting_us(places: CasePlaces, budget: BudgetResult, num_names: int) -> Float64:
    """Add up the device waits that each function causes, per step, without the profiler's share."""
    waits = budget.waits
    frame = places.frames(frame=waits.frame, operator=waits.operator, call=waits.call)
    nameless = np.flatnonzero(frame < 0)
    frame[nameless] = places.frames_at((waits.start_ns[nameless] + waits.end_ns[nameless]) // 2)
    function = follow(frame, places.attribution.frames.user_name)
    return total(function, waits.true_us, num_names) / max(budget.num_intervals, 1)
