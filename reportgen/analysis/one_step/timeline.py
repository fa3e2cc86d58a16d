"""One step as a strip: what the host did, what each stream did, and for whom the device waited."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.arithmetic.spans import Spans, covered, union
from reportgen.analysis.model import Lane, Segment, Timeline
from reportgen.analysis.waiting.budget_result import part_of
from reportgen.trace.columns import ActivityKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reportgen.analysis.arithmetic.grouping import Float64
    from reportgen.analysis.model import BudgetPart, LaneKind
    from reportgen.analysis.steps.steps import StepWindow
    from reportgen.analysis.waiting.budget_result import BudgetResult, Waits
    from reportgen.recording import StepMode
    from reportgen.trace.columns import Bool, Int64, Trace

# On a page 170 mm wide a bin is half a millimetre: below it nobody sees a difference.
NUM_BINS = 300
# Less of a bin than this is no mark.
LEAST_SHARE = 0.005
MOST_STREAMS = 8


def pick_step(steps: StepWindow, mode: StepMode) -> tuple[int, int, int] | None:
    """Return row, start and end of the step of median length, outliers aside; None where there is none.

    The row is -1 for a window without step marks. The bounds are those that the budget covers.
    """
    stretches = steps.covered(mode)
    ordinary = np.array([step < 0 or not steps.outliers[step] for step in stretches.step], dtype=bool)
    rows = np.flatnonzero(ordinary) if ordinary.any() else np.arange(len(stretches.step))
    rows = rows[(stretches.end_ns > stretches.start_ns)[rows]]
    if len(rows) == 0:
        return None
    by_length = rows[np.argsort((stretches.end_ns - stretches.start_ns)[rows], kind="stable")]
    chosen = by_length[(len(by_length) - 1) // 2]
    return int(stretches.step[chosen]), int(stretches.start_ns[chosen]), int(stretches.end_ns[chosen])


def draw_timeline(
    trace: Trace, steps: StepWindow, mode: StepMode, budget: BudgetResult | None, *, own_run: bool
) -> Timeline | None:
    """Bin the median step into lanes of at most `NUM_BINS` segments, whatever the number of its events."""
    picked = pick_step(steps, mode)
    if picked is None:
        return None
    step, start_ns, end_ns = picked
    bins = np.round(np.linspace(start_ns, end_ns, NUM_BINS + 1)).astype(np.int64)
    lanes = [_host_lane(trace, bins), _launch_lane(trace, bins), *_device_lanes(trace, bins)]
    if budget is not None:
        lanes.append(_cause_lane(budget, bins))
    return Timeline(
        step=int(steps.number[step]) if step >= 0 else 0,
        duration_us=(end_ns - start_ns) / 1e3,
        basis="timeline" if own_run else "trace",
        lanes=tuple(lane for lane in lanes if lane.segments),
        ordinal=max(step, 0) + 1,
    )


def part_of_activities(trace: Trace) -> dict[BudgetPart, Bool]:
    """Select the activities of each part that is work: communication first, then copies and fills, else compute."""
    activities = trace.activities
    moves = np.isin(activities.kind, (ActivityKind.COPY, ActivityKind.FILL)) & ~activities.communication
    return {"communication": activities.communication, "copy": moves, "compute": ~moves & ~activities.communication}


def _host_lane(trace: Trace, bins: Int64) -> Lane:
    """Show when an operator was open on any thread: the host is the device where there is none, else it launches."""
    part: BudgetPart = "launch" if trace.device_recorded or trace.device_expected else "compute"
    operators = union(trace.operators.start_ns, trace.operators.end_ns)
    return _lane("operators", "host", {part: _filled_ns(operators, bins)}, bins)


def _launch_lane(trace: Trace, bins: Int64) -> Lane:
    launching = trace.calls.is_launch
    calls = union(trace.calls.start_ns[launching], trace.calls.end_ns[launching])
    return _lane("launches", "launch", {"launch-call": _filled_ns(calls, bins)}, bins)


def _device_lanes(trace: Trace, bins: Int64) -> Iterable[Lane]:
    """Return a lane for each stream that works in the step, the busiest first."""
    activities = trace.activities
    inside = (activities.end_ns > bins[0]) & (activities.start_ns < bins[-1])
    streams, lane = np.unique(
        np.stack((activities.device[inside].astype(np.int64), activities.stream[inside])), axis=1, return_inverse=True
    )
    work = np.bincount(lane.ravel(), weights=(activities.end_ns - activities.start_ns)[inside])
    several_devices = len(np.unique(streams[0])) > 1
    parts = part_of_activities(trace)
    for index in np.argsort(-work, kind="stable")[:MOST_STREAMS]:
        device, stream = streams[:, index].tolist()
        own = inside & (activities.device == device) & (activities.stream == stream)
        filled = {
            part: _filled_ns(union(activities.start_ns[own & chosen], activities.end_ns[own & chosen]), bins)
            for part, chosen in parts.items()
        }
        name = f"device {device}, stream {stream}" if several_devices else f"stream {stream}"
        yield _lane(name, "device", filled, bins)


def _cause_lane(budget: BudgetResult, bins: Int64) -> Lane:
    """Show the waits by cause; what the profiler's share explains of a wait is the profiler's, as in the budget."""
    waits = budget.waits
    length_ns = (waits.end_ns - waits.start_ns).astype(np.float64)
    # Where the step was slower without the profiler, waits are longer on the budget's scale than they are here.
    own_ns = np.minimum(waits.true_us * 1e3, length_ns)
    filled: dict[BudgetPart, Float64] = {
        part_of(code): _spread_ns(waits, np.where(waits.cause == code, own_ns, 0.0), bins)
        for code in np.unique(waits.cause).tolist()
    }
    profiler_ns = _spread_ns(waits, length_ns - own_ns, bins)
    filled["profiler"] = filled.get("profiler", 0.0) + profiler_ns
    return _lane("waits", "cause", filled, bins)


def _filled_ns(spans: Spans, bins: Int64) -> Float64:
    """Return how much of each bin the spans cover."""
    return covered(spans, bins[:-1], bins[1:]).astype(np.float64)


def _spread_ns(waits: Waits, amount_ns: Float64, bins: Int64) -> Float64:
    """Return what falls into each bin of an amount that each wait has, evenly over its length."""
    if len(amount_ns) == 0:
        return np.zeros(len(bins) - 1)
    upto = np.cumsum(amount_ns)
    edges = np.stack((waits.start_ns, waits.end_ns), axis=1).ravel()
    return np.diff(np.interp(bins, edges, np.stack((upto - amount_ns, upto), axis=1).ravel()))


def _lane(name: str, kind: LaneKind, filled_ns: Mapping[BudgetPart, Float64], bins: Int64) -> Lane:
    """Fill each bin with the part that covers most of it; equal neighbours become one segment.

    `filled_ns` is what each part covers of each bin; a segment's `share` is what all parts together cover of it.
    """
    parts = list(filled_ns)
    if not parts:
        return Lane(name=name, kind=kind, segments=())
    widths = np.maximum(np.diff(bins), 1)
    cover = np.stack([filled_ns[part] for part in parts])
    share = np.round(np.minimum(cover.sum(axis=0) / widths, 1.0), 2)
    part = np.where(share >= LEAST_SHARE, cover.argmax(axis=0), -1)
    opens = np.flatnonzero(np.concatenate(([True], (part[1:] != part[:-1]) | (share[1:] != share[:-1]))))
    ends = np.append(opens[1:], len(part))
    segments = tuple(
        Segment(
            start_us=float(bins[first] - bins[0]) / 1e3,
            duration_us=float(bins[last] - bins[first]) / 1e3,
            part=parts[part[first]],
            share=float(share[first]),
        )
        for first, last in zip(opens.tolist(), ends.tolist(), strict=True)
        if part[first] >= 0
    )
    us = {name: round(float(row.sum()) / 1e3, 3) for name, row in zip(parts, cover, strict=True)}
    return Lane(
        name=name, kind=kind, segments=segments, us_by_part={name: value for name, value in us.items() if value}
    )
