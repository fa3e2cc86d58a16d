"""Waits for the device that the program asked for: where, how often, and what they cost, refill included."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.arithmetic.grouping import combine, total
from reportgen.analysis.arithmetic.links import follow
from reportgen.analysis.model import Cut, Sync
from reportgen.analysis.waiting.budget_result import PART_CODE
from reportgen.analysis.waiting.call_kinds import classify_calls

if TYPE_CHECKING:
    from reportgen.analysis.arithmetic.grouping import Float64
    from reportgen.analysis.attribution.case_places import CasePlaces
    from reportgen.analysis.steps.window import Counted
    from reportgen.analysis.waiting.budget_result import BudgetResult
    from reportgen.trace.columns import Int64, Trace

MOST_SYNCS = 50


def list_syncs(trace: Trace, counted: Counted, budget: BudgetResult | None, places: CasePlaces) -> Cut[Sync]:
    """List the synchronizations of the steps by call, operator and function, the dearest first.

    A copy that holds the host until it is done counts as one. `blocked_us_per_step` is host time in the call;
    `cost_us_per_step` is device time lost, under the call and in the refill after it. Without the profiler (budget of
    basis "unprofiled") the cost is the budget's; of a foreign trace it is what the trace shows, since what recording
    made of a refill is not known, and beside it stands the cost with the middle of the profiler's share taken out.
    Without a budget the cost is 0.
    """
    kinds = classify_calls(trace)
    calls, operators = trace.calls, trace.operators
    rows = np.flatnonzero((kinds.synchronizes | kinds.blocks_on_copy) & counted.calls)
    if len(rows) == 0:
        return Cut()
    links = rows.astype(np.int32)
    none = np.full(len(rows), -1, dtype=np.int32)
    frame = places.frames(frame=calls.frame[rows], operator=calls.operator[rows], call=links)
    function = follow(frame, places.attribution.frames.user_name) if len(frame) else none
    group, first = combine(calls.name[rows], follow(calls.operator[rows], operators.name), function)
    num_groups = len(first)
    count = total(group, None, num_groups)
    blocked_ns = total(group, (calls.end_ns - calls.start_ns)[rows], num_groups)
    shown_us, true_us = (total(group, column[rows], num_groups) for column in _costs_us(budget, len(calls.start_ns)))
    cost_us = true_us if budget is not None and budget.budget.basis == "unprofiled" else shown_us
    intervals = max(budget.num_intervals, 1) if budget is not None else 1
    order = np.lexsort((-blocked_ns, -cost_us))

    def sync(number: int) -> Sync:
        members = rows[group == number]
        longest = int(members[np.argmax((calls.end_ns - calls.start_ns)[members])])
        example = int(members[places.example(calls.start_ns[members], calls.end_ns[members])])
        operator = int(calls.operator[longest])
        return Sync(
            call=trace.names[calls.name[longest]],
            operator=trace.names[operators.name[operator]] if operator >= 0 else None,
            count_per_step=float(count[number]) / counted.num_steps,
            blocked_us_per_step=float(blocked_ns[number]) / 1e3 / counted.num_steps,
            cost_us_per_step=float(cost_us[number]) / intervals,
            cost_without_profiler_us_per_step=float(true_us[number]) / intervals,
            source=places.source(frame=int(calls.frame[longest]), operator=operator, call=longest),
            where=places.where(
                int(calls.start_ns[example]), int(calls.end_ns[example]), thread=int(calls.thread[example])
            ),
        )

    return Cut(
        items=tuple(sync(int(number)) for number in order[:MOST_SYNCS]),
        total=num_groups,
        other_us=float(cost_us[order[MOST_SYNCS:]].sum()) / intervals,
    )


def _costs_us(budget: BudgetResult | None, num_calls: int) -> tuple[Float64, Float64]:
    """Return for each call the device time lost to it as recorded and without the profiler's share, all intervals."""
    if budget is None:
        return np.zeros(num_calls), np.zeros(num_calls)
    waits = budget.waits
    charged: Int64 = np.where(waits.cause == PART_CODE["sync"], waits.call, -1).astype(np.int64)
    shown_us = (waits.end_ns - waits.start_ns) / 1e3
    return total(charged, shown_us, num_calls), total(charged, waits.true_us, num_calls)
