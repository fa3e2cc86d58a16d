"""The device's waits as a list: each gap with its cause, its place in the code and its place in the trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.model import CauseRow, Gap, Gaps
from reportgen.analysis.waiting.budget_result import PART_CODE, part_of
from reportgen.analysis.waiting.latency import list_leads
from reportgen.analysis.waiting.wait_places import list_wait_places

if TYPE_CHECKING:
    from reportgen.analysis.attribution.case_places import CasePlaces
    from reportgen.analysis.steps.window import Counted
    from reportgen.analysis.waiting.budget_result import BudgetResult
    from reportgen.trace.columns import Int64, Trace

MOST_GAPS = 50
# Where no launch found the device idle, nine in ten of the pauses between activities that were queued already are
# ordinary.
ORDINARY_QUANTILE = 0.9


def list_gaps_with_causes(trace: Trace, counted: Counted, budget: BudgetResult, places: CasePlaces) -> Gaps:
    """List the gaps of the budget's device, the longest first, and sum its waits by cause.

    A gap is of the cause that most of it has, and names the place where that cause took longest. Gaps shorter than the
    trace's own launch latency are neither counted nor listed; their time is in the sums. The sums are the budget's, per
    step; the lengths of the listed gaps are the trace's, the profiler's cost included. Where the host is the device a
    gap is a stretch in which no operator was open, and every one counts.
    """
    gaps = budget.gaps
    duration = gaps.end_ns - gaps.start_ns
    threshold_ns = measure_threshold_ns(trace, counted, budget)
    listed = np.flatnonzero(duration >= (0 if threshold_ns is None else threshold_ns))
    longest = listed[np.argsort(-duration[listed], kind="stable")][:MOST_GAPS]
    causes = sum_causes(budget)
    return Gaps(
        count_per_step=len(listed) / max(budget.num_intervals, 1),
        us_per_step=sum(row.us_per_step for row in causes),
        threshold_us=None if threshold_ns is None else threshold_ns / 1e3,
        causes=causes,
        places=list_wait_places(budget, places),
        items=tuple(_gap(trace, budget, places, int(row)) for row in longest),
    )


def sum_causes(budget: BudgetResult) -> tuple[CauseRow, ...]:
    """Return the budget's waits by cause, the profiler's own share as one of them, the largest first."""
    profiler = [
        CauseRow(cause=row.name, us_per_step=row.us_per_step)
        for row in budget.budget.parts
        if row.name == "profiler" and row.us_per_step > 0
    ]
    return tuple(sorted((*budget.causes, *profiler), key=lambda row: -row.us_per_step))


def measure_threshold_ns(trace: Trace, counted: Counted, budget: BudgetResult) -> float | None:
    """Return from which length on a pause of the device is a gap, by this very trace; None where nothing tells.

    It is what a launch onto an idle device takes from the call's start to the activity's. Where none found it idle it
    is an upper quantile of the pauses that are turnaround alone.
    """
    if budget.device is None:
        return None
    reach_ns = list_leads(trace, budget.device, counted.activities).reach_ns
    if reach_ns is not None:
        return reach_ns
    waits, num_gaps = budget.waits, len(budget.gaps.start_ns)
    others = np.bincount(waits.gap[waits.cause != PART_CODE["turnaround"]], minlength=num_gaps)
    ordinary = (budget.gaps.end_ns - budget.gaps.start_ns)[others == 0]
    return float(np.quantile(ordinary, ORDINARY_QUANTILE)) if len(ordinary) else None


def _gap(trace: Trace, budget: BudgetResult, places: CasePlaces, row: int) -> Gap:
    gaps, waits = budget.gaps, budget.waits
    pieces = np.arange(*np.searchsorted(waits.gap, [row, row + 1]))
    piece = _decisive(budget, pieces)
    start, end = int(gaps.start_ns[row]), int(gaps.end_ns[row])
    step = int(budget.interval_step[gaps.interval[row]])
    operator = int(waits.operator[piece])
    following = int(waits.next_activity[piece])
    source = places.source(frame=int(waits.frame[piece]), operator=operator, call=int(waits.call[piece]))
    return Gap(
        duration_us=(end - start) / 1e3,
        step=int(trace.steps.number[step]) if step >= 0 else 0,
        cause=part_of(int(waits.cause[piece])),
        operator=trace.names[trace.operators.name[operator]] if operator >= 0 else None,
        # At its ends the moment may be the caller's already.
        source=source or places.source_at(int(waits.start_ns[piece] + waits.end_ns[piece]) // 2),
        where=places.where(start, end, activity=following if following >= 0 else None),
        ordinal=max(step, 0) + 1,
    )


def _decisive(budget: BudgetResult, pieces: Int64) -> int:
    """Return the longest of a gap's pieces that are of its main cause."""
    waits = budget.waits
    length = (waits.end_ns - waits.start_ns)[pieces]
    cause = waits.cause[pieces]
    main = np.argmax(np.bincount(cause, weights=length))
    return int(pieces[np.argmax(np.where(cause == main, length, -1))])
