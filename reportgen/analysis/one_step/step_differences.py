"""What was different in the steps that stand out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from reportgen.analysis.model import BUDGET_PARTS
from reportgen.analysis.waiting.budget_result import part_of

if TYPE_CHECKING:
    from reportgen.analysis.arithmetic.grouping import Float64
    from reportgen.analysis.model import StepRow
    from reportgen.analysis.steps.steps import StepWindow
    from reportgen.analysis.waiting.budget_result import BudgetResult


def describe_steps(steps: StepWindow, budget: BudgetResult | None) -> tuple[StepRow, ...]:
    """Return the steps as the report lists them, each outlier with the part that made it long.

    That is the part whose time, as the trace shows it, lies furthest above its median over the ordinary steps. The
    settling step lies before the first completion, so the budget does not cover it and nothing is said of it.
    """
    rows = steps.rows()
    if budget is None or not any(row.outlier for row in rows):
        return rows
    parts_us = _parts_by_interval(budget)
    outlier = np.array([step >= 0 and rows[step].outlier for step in budget.interval_step], dtype=bool)
    if outlier.all():
        return rows
    excess_us = parts_us - np.median(parts_us[~outlier], axis=0)
    described = list(rows)
    for interval in np.flatnonzero(outlier):
        part = int(np.argmax(excess_us[interval]))
        step = int(budget.interval_step[interval])
        described[step] = msgspec.structs.replace(
            rows[step], differs_in=part_of(part), differs_by_us=float(excess_us[interval, part])
        )
    return tuple(described)


def _parts_by_interval(budget: BudgetResult) -> Float64:
    """Return the time of each part (columns) in each interval (rows), µs."""
    num_parts = len(BUDGET_PARTS)
    sums = np.zeros(budget.num_intervals * num_parts)
    for table, column in ((budget.work, budget.work.part), (budget.waits, budget.waits.cause)):
        key = table.interval.astype(np.int64) * num_parts + column
        sums += np.bincount(key, weights=(table.end_ns - table.start_ns) / 1e3, minlength=len(sums))
    return sums.reshape(budget.num_intervals, num_parts)
