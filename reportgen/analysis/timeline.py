"""One step as a strip: what the host did, what each stream did, and for whom the device waited."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.budget_result import part_of
from reportgen.analysis.model import Lane, Segment, Timeline
from reportgen.analysis.spans import Spans, covered, union
from reportgen.trace.columns import ActivityKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reportgen.analysis.budget_result import BudgetResult
    from reportgen.analysis.model import BudgetPart
    from reportgen.analysis.steps import StepWindow
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
    return Lane(name="operators", kind="host", segments=_binned([(part, operators)], bins))


def _launch_lane(trace: Trace, bins: Int64) -> Lane:
    launching = trace.calls.is_launch
    calls = union(trace.calls.start_ns[launching], trace.calls.end_ns[launching])
    return Lane(name="launches", kind="launch", segments=_binned([("launch-call", calls)], bins))


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
        layers: list[tuple[BudgetPart, Spans]] = [
            (part, union(activities.start_ns[own & chosen], activities.end_ns[own & chosen]))
            for part, chosen in parts.items()
        ]
        name = f"device {device}, stream {stream}" if several_devices else f"stream {stream}"
        yield Lane(name=name, kind="device", segments=_binned(layers, bins))


def _cause_lane(budget: BudgetResult, bins: Int64) -> Lane:
    waits = budget.waits
    layers: list[tuple[BudgetPart, Spans]] = [
        (part_of(code), union(waits.start_ns[waits.cause == code], waits.end_ns[waits.cause == code]))
        for code in np.unique(waits.cause).tolist()
    ]
    return Lane(name="waits", kind="cause", segments=_binned(layers, bins))


def _binned(layers: list[tuple[BudgetPart, Spans]], bins: Int64) -> tuple[Segment, ...]:
    """Fill each bin with the part that covers most of it; equal neighbours become one segment.

    `share` is what all parts together cover of the bin.
    """
    if not layers:
        return ()
    widths = np.maximum(np.diff(bins), 1)
    cover = np.stack([covered(spans, bins[:-1], bins[1:]) for _, spans in layers]) / widths
    share = np.round(np.minimum(cover.sum(axis=0), 1.0), 2)
    part = np.where(share >= LEAST_SHARE, cover.argmax(axis=0), -1)
    opens = np.flatnonzero(np.concatenate(([True], (part[1:] != part[:-1]) | (share[1:] != share[:-1]))))
    ends = np.append(opens[1:], len(part))
    return tuple(
        Segment(
            start_us=float(bins[first] - bins[0]) / 1e3,
            duration_us=float(bins[last] - bins[first]) / 1e3,
            part=layers[part[first]][0],
            share=float(share[first]),
        )
        for first, last in zip(opens.tolist(), ends.tolist(), strict=True)
        if part[first] >= 0
    )
