"""What a fix can give: bounds on the gain, in the step's own time (Amdahl's law; gains are never added up)."""

from __future__ import annotations

from typing import Literal

from reportgen.analysis.model import Budget, BudgetPart
from reportgen.findings.model import Gain


def bounded_gain(
    *, step_us: float, cost_us: float, floor_us: float, resource: Literal["host", "device", "both"], edit: str
) -> Gain:
    """Bound the gain of a fix that removes `cost_us`: ``min(cost, step - floor)``, never below 0.

    `floor_us` is what the step cannot go under whatever the fix does: the busy time of the resource that is
    left to wait for (device busy where host time goes, host busy where device time goes).
    """
    at_most = max(0.0, min(cost_us, step_us - floor_us))
    return Gain(
        at_most_us_per_step=at_most,
        at_least_us_per_step=0.0,
        share_of_step=at_most / step_us if step_us > 0 else None,
        step_after_us=step_us - at_most,
        resource=resource,
        method="bound",
        edit=edit,
    )


def part_us(budget: Budget, *names: BudgetPart) -> float:
    """Return the time per step that the budget gives to the parts `names` together."""
    return sum(row.us_per_step for row in budget.parts if row.name in names)
