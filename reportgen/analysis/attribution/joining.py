"""Joining the passes of one run: each event of the timeline pass with its twin in the detail pass.

The timeline pass says when, the detail pass which operator, shape and function. Twins are found by aligning sequences
within a step and a stream (or thread), never by position: the passes may differ in the events that they hold.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.arithmetic.alignment import align
from reportgen.analysis.arithmetic.grouping import combine
from reportgen.analysis.arithmetic.links import follow
from reportgen.analysis.attribution.step_shapes import shapes_stay
from reportgen.analysis.model import Joining, Notice
from reportgen.analysis.steps.window import durations_ns

if TYPE_CHECKING:
    from reportgen.analysis.steps.window import Counted
    from reportgen.trace.columns import Bool, Int32, Int64, Trace


# Twins of a step that did the same work are launched alike, but for what grows from step to step: in decoding over a
# growing cache 91 to 95 % of the activities are. A training step over texts of other lengths comes to about 60 %.
_ALIKE = 0.75


@dataclasses.dataclass(frozen=True, kw_only=True)
class Join:
    """Rows of the detail pass for the rows of the timeline pass, -1 where there is no twin.

    `other_shapes` tells for each step of the timeline whether no step of the detail pass did the same work: what its
    twins know of shapes does not hold for it.
    """

    activity: Int32
    operator: Int32
    other_shapes: Bool


def join(timeline: Trace, detail: Trace) -> Join:
    """Join two passes; a trace joined with itself is its own twin everywhere."""
    if timeline is detail:
        return Join(
            activity=np.arange(len(timeline.activities.start_ns), dtype=np.int32),
            operator=np.arange(len(timeline.operators.start_ns), dtype=np.int32),
            other_shapes=np.zeros(len(timeline.steps.start_ns), dtype=bool),
        )
    names = _common_codes(timeline.names, detail.names)
    sides, num_steps = _activity_sides(timeline, detail, names), len(timeline.steps.start_ns)
    activity = _join_sides(*sides)
    if len(activity):
        other_shapes = _find_other_shapes(*sides, activity, num_steps)
    else:  # nothing in the timeline tells one shape from another
        other_shapes = np.full(num_steps, not shapes_stay(detail))
    return Join(activity=activity, operator=_join_operators(timeline, detail, names), other_shapes=other_shapes)


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Side:
    """One pass as sequences: for each row its lane (stream or thread), its step, and its key, exact and loose."""

    lane: Int64
    step: Int32
    exact: Int64
    loose: Int64


def measure_joining(twins: Join, timeline: Trace, counted: Counted) -> Joining | None:
    """Return which share of the counted activities, and of their time, found a twin; None where there are none."""
    duration = durations_ns(timeline.activities)[counted.activities]
    joined = twins.activity[counted.activities] >= 0
    if not duration.any():
        return None
    return Joining(
        share_of_activities=float(joined.mean()), share_of_device=float(duration[joined].sum() / duration.sum())
    )


def joining_notices(twins: Join, timeline: Trace, counted: Counted) -> tuple[Notice, ...]:
    """Say how much of the device time has no shape because no step of the detail pass had the same ones."""
    if twins.other_shapes.any() and not timeline.device_recorded:
        text = (
            "Shapes change from step to step: those that were recorded are not those of the steps that were timed, "
            "whose operators are listed by name."
        )
        return (Notice(code="shapes-vary", text=text, count=int(twins.other_shapes.sum())),)
    duration = np.where(counted.activities, durations_ns(timeline.activities), 0)
    inside = counted.activities & in_steps(timeline.activities.step, twins.other_shapes)
    if not duration[inside].any():
        return ()
    num_steps = len(np.unique(timeline.activities.step[inside]))
    text = (
        f"The shapes of {num_steps} profiled {'step' if num_steps == 1 else 'steps'} were not recorded: shapes change "
        "from step to step, and the pass that records them met others. That device time has its operators, but no roof."
    )
    return (
        Notice(code="shapes-vary", text=text, count=num_steps, share=float(duration[inside].sum() / duration.sum())),
    )


def in_steps(step: Int32, chosen: Bool) -> Bool:
    """Tell for each entry of `step` whether that step is `chosen`; one outside all steps is not."""
    inside: Bool = np.append(chosen, False)[np.maximum(step, -1)]
    return inside


def _find_other_shapes(timeline: _Side, detail: _Side, twin: Int32, num_steps: int) -> Bool:
    """Return for each step whether fewer than `_ALIKE` of its twins were launched with the same geometry."""
    joined = (twin >= 0) & (timeline.step >= 0)
    same = timeline.exact[joined] == detail.exact[twin[joined]]
    step = timeline.step[joined]
    num_same, num_joined = np.bincount(step[same], minlength=num_steps), np.bincount(step, minlength=num_steps)
    other: Bool = num_same < _ALIKE * num_joined
    return other


def _activity_sides(timeline: Trace, detail: Trace, names: Int64) -> tuple[_Side, _Side]:
    shapes = _common_codes(timeline.dimensions, detail.dimensions)
    sides = []
    for trace, name_code, shape_code in (
        (timeline, names, shapes),
        (detail, np.arange(len(detail.names)), np.arange(len(detail.dimensions))),
    ):
        rows = trace.activities
        name = name_code[rows.name]
        dimensions = np.where(rows.dimensions >= 0, np.append(shape_code, -1)[rows.dimensions], -1)
        sides.append(
            _Side(
                lane=_lanes(rows.device, rows.stream),
                step=np.where(rows.before_window, -2, rows.step).astype(np.int32),
                exact=name * 2**32 + dimensions,
                loose=name,
            )
        )
    return sides[0], sides[1]


def _join_operators(timeline: Trace, detail: Trace, names: Int64) -> Int32:
    sides = []
    for trace, name_code in ((timeline, names), (detail, np.arange(len(detail.names)))):
        rows = trace.operators
        name = name_code[rows.name]
        around = np.where(rows.parent >= 0, name[rows.parent], -1) if len(name) else name
        sides.append(_Side(lane=_lanes(rows.thread), step=rows.step, exact=name * 2**32 + around, loose=name))
    return _join_sides(*sides)


def _lanes(*columns: Int32 | Int64) -> Int64:
    """Number lanes by how much they hold, most first: ids of streams and threads differ from pass to pass."""
    lane, first = combine(*columns)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(-np.bincount(lane, minlength=len(first)), kind="stable")] = np.arange(len(first))
    return rank[lane]


def _common_codes(one: Sequence[Hashable], other: Sequence[Hashable]) -> Int64:
    """Return for each entry of `one` its position in `other`; entries it lacks get numbers of their own."""
    position = {entry: code for code, entry in enumerate(other)}
    return np.array([position.get(entry, len(other) + code) for code, entry in enumerate(one)], dtype=np.int64)


def _join_sides(timeline: _Side, detail: _Side) -> Int32:
    """Align lane by lane and step by step, first on exact keys, then what is left between twins on loose ones."""
    twin = np.full(len(timeline.lane), -1, dtype=np.int32)
    blocks = _blocks(detail)
    for (lane, _), rows in _blocks(timeline).items():
        candidates = [other for (other_lane, _), other in blocks.items() if other_lane == lane]
        if not candidates:
            continue
        partner = _most_alike(timeline.exact[rows], candidates, detail.exact)
        twin[rows] = _align_block(timeline, detail, rows, partner)
    return twin


def _blocks(side: _Side) -> dict[tuple[int, int], Int64]:
    """Return the rows of each (lane, step), in order; rows outside all steps are a block of their own."""
    if len(side.lane) == 0:
        return {}
    block, first = combine(side.lane, side.step)
    order = np.argsort(block, kind="stable")
    bounds = np.searchsorted(block[order], np.arange(len(first) + 1))
    return {
        (int(side.lane[row]), int(side.step[row])): order[bounds[number] : bounds[number + 1]]
        for number, row in enumerate(first)
        if side.step[row] != -2
    }


def _most_alike(keys: Int64, candidates: list[Int64], detail_keys: Int64) -> Int64:
    """Return the candidate block that shares the most events with `keys`; of equals the last, which is the warmest."""
    for rows in reversed(candidates):
        if np.array_equal(detail_keys[rows], keys):
            return rows
    return max(reversed(candidates), key=lambda rows: _num_shared(keys, detail_keys[rows]))


def _num_shared(one: Int64, other: Int64) -> int:
    values, codes = np.unique(np.concatenate((one, other)), return_inverse=True)
    counts = [np.bincount(part, minlength=len(values)) for part in (codes[: len(one)], codes[len(one) :])]
    return int(np.minimum(*counts).sum())


def _align_block(timeline: _Side, detail: _Side, rows: Int64, partner: Int64) -> Int32:
    """Return the twin of each of `rows` in the block `partner`."""
    position = align(timeline.exact[rows], detail.exact[partner])
    for hole, start, end in _holes(position, len(partner)):
        loose = align(timeline.loose[rows[hole]], detail.loose[partner[start:end]])
        position[hole] = np.where(loose >= 0, loose + start, -1)
    return follow(position, partner.astype(np.int32))


def _holes(position: Int32, length: int) -> list[tuple[slice, int, int]]:
    """Return the stretches without a partner: their rows, and the unused stretch of the other side between."""
    joined: Bool = position >= 0
    borders = np.flatnonzero(np.diff(np.concatenate(([True], joined, [True])).astype(np.int8)))
    holes = []
    for begin, end in zip(borders[::2].tolist(), borders[1::2].tolist(), strict=True):
        start = int(position[begin - 1]) + 1 if begin else 0
        stop = int(position[end]) if end < len(position) else length
        if stop > start:
            holes.append((slice(begin, end), start, stop))
    return holes
