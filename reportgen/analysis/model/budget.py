"""The budget of a step: the closed list of its parts and their time."""

from __future__ import annotations

from typing import Literal, get_args

import msgspec

# The closed list of budget parts and of causes of waiting. The first three are work, the others waits.
BudgetPart = Literal[
    "compute",
    "communication",
    "copy",
    "launch",
    "launch-call",
    "turnaround",
    "sync",
    "input",
    "allocator",
    "build",
    "stall",
    "profiler",
    "unexplained",
]
BUDGET_PARTS: tuple[BudgetPart, ...] = get_args(BudgetPart)
WORK_PARTS: frozenset[BudgetPart] = frozenset({"compute", "communication", "copy"})


class BudgetRow(msgspec.Struct, frozen=True, kw_only=True):
    """One part of the budget; the interval is where the profiler's share leaves it open."""

    name: BudgetPart
    us_per_step: float
    low_us: float
    high_us: float


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """The step's time, every instant in exactly one part: `us_per_step` of the parts sum to `step_us`."""

    basis: Literal["unprofiled", "trace"]
    step_us: float
    parts: tuple[BudgetRow, ...]
