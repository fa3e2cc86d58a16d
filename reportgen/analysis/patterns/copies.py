"""Copies by direction, kind of memory and place: how much they move, and how much of their time nothing hides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from reportgen.analysis.arithmetic.grouping import combine, total
from reportgen.analysis.arithmetic.links import follow
from reportgen.analysis.arithmetic.spans import covered
from reportgen.analysis.model import CopyRow
from reportgen.analysis.steps.window import durations_ns, main_device
from reportgen.analysis.totals.device_time import busy_spans, on_main_device
from reportgen.analysis.waiting.budget_result import PART_CODE
from reportgen.trace.columns import ActivityKind, CopyDirection

if TYPE_CHECKING:
    from reportgen.analysis.arithmetic.grouping import Float64
    from reportgen.analysis.attribution.case_places import CasePlaces
    from reportgen.analysis.steps.window import Counted
    from reportgen.analysis.waiting.budget_result import BudgetResult
    from reportgen.trace.columns import Trace

MOST_ROWS = 50

Direction = Literal["host-to-device", "device-to-host", "device-to-device", "peer-to-peer", "other"]
Memory = Literal["pageable", "pinned", "device", "unknown"]


class _Kind(NamedTuple):
    direction: Direction
    memory: Memory


_KINDS: dict[CopyDirection, _Kind] = {
    CopyDirection.DEVICE_TO_DEVICE: _Kind("device-to-device", "device"),
    CopyDirection.HOST_TO_DEVICE_PINNED: _Kind("host-to-device", "pinned"),
    CopyDirection.HOST_TO_DEVICE_PAGEABLE: _Kind("host-to-device", "pageable"),
    CopyDirection.DEVICE_TO_HOST_PINNED: _Kind("device-to-host", "pinned"),
    CopyDirection.DEVICE_TO_HOST_PAGEABLE: _Kind("device-to-host", "pageable"),
    CopyDirection.PEER_TO_PEER: _Kind("peer-to-peer", "device"),
    CopyDirection.HOST_TO_DEVICE: _Kind("host-to-device", "unknown"),
    CopyDirection.DEVICE_TO_HOST: _Kind("device-to-host", "unknown"),
}
_OTHER = _Kind("other", "unknown")


def list_copies(trace: Trace, counted: Counted, budget: BudgetResult | None, places: CasePlaces) -> tuple[CopyRow, ...]:
    """List the copies that the steps launched on the busiest device, by kind, operator and function, longest first.

    A copy is exposed where neither a kernel nor a communication runs beside it. Copies that are kernels (a change of
    type or layout on the device) are no activities of this kind; see `copy_chains`.
    """
    activities = trace.activities
    chosen = on_main_device(trace, counted) & (activities.kind == ActivityKind.COPY)
    rows = np.flatnonzero(chosen)
    if len(rows) == 0:
        return ()
    kernels = (activities.device == main_device(trace, counted)) & (activities.kind == ActivityKind.KERNEL)
    beside = busy_spans(trace, kernels)
    length_ns = durations_ns(activities)
    exposed_ns = length_ns[rows] - covered(beside, activities.start_ns[rows], activities.end_ns[rows])
    frame = places.attribution.activity_frame[rows]
    function = follow(frame, places.attribution.frames.user_name) if len(frame) else frame
    operator_name = follow(activities.operator[rows], trace.operators.name)
    group, first = combine(activities.copy_direction[rows], operator_name, function)
    cost_us = _cost_us(budget, len(trace.calls.start_ns))
    steps, intervals = counted.num_steps, max(budget.num_intervals, 1) if budget else 1

    def row(number: int) -> CopyRow:
        members = rows[group == number]
        longest = int(members[np.argmax(length_ns[members])])
        example = int(members[places.example(activities.start_ns[members], activities.end_ns[members])])
        moved = activities.bytes[members]
        calls = np.unique(activities.call[members])
        kind = _KINDS.get(CopyDirection(int(activities.copy_direction[longest])), _OTHER)
        operator = int(activities.operator[longest])
        return CopyRow(
            direction=kind.direction,
            memory=kind.memory,
            operator=trace.names[trace.operators.name[operator]] if operator >= 0 else None,
            source=places.attribution.frames.source(int(places.attribution.activity_frame[longest])),
            count_per_step=len(members) / steps,
            bytes_per_step=float(moved.sum()) / steps if (moved >= 0).all() else None,
            us_per_step=float(length_ns[members].sum()) / 1e3 / steps,
            exposed_us_per_step=float(exposed_ns[group == number].sum()) / 1e3 / steps,
            cost_us_per_step=float(cost_us[calls[calls >= 0]].sum()) / intervals,
            where=places.where(int(activities.start_ns[example]), int(activities.end_ns[example]), activity=example),
        )

    order = np.argsort(-total(group, length_ns[rows], len(first)), kind="stable")
    return tuple(row(int(number)) for number in order[:MOST_ROWS])


def _cost_us(budget: BudgetResult | None, num_calls: int) -> Float64:
    """Return for each call the device time lost while it held the host and until the queue was full again."""
    if budget is None:
        return np.zeros(num_calls)
    waits = budget.waits
    charged = np.where(waits.cause == PART_CODE["sync"], waits.call, -1)
    return total(charged, waits.true_us, num_calls)
