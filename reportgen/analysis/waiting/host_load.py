"""The host's own work in a step: its time less what it waited, stalled or built, and less what recording cost."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.arithmetic.spans import Spans, covered, union
from reportgen.analysis.waiting.budget_result import PART_CODE
from reportgen.analysis.waiting.call_kinds import classify_calls
from reportgen.analysis.waiting.first_visits import find_slow_visits
from reportgen.analysis.waiting.host_causes import collect_host_causes
from reportgen.analysis.waiting.profiler_share import measure_recording_costs
from reportgen.analysis.waiting.refill import list_launches
from reportgen.analysis.waiting.waits import find_host_threads

if TYPE_CHECKING:
    from reportgen.analysis.waiting.budget_result import BudgetResult
    from reportgen.trace.columns import Trace

# Waits in which the host did something else than issuing work.
_NOT_ISSUING = frozenset({"sync", "input", "allocator", "build", "stall"})


@dataclasses.dataclass(frozen=True, kw_only=True)
class HostLoad:
    """Host time of a step, µs; `low_us` less the most that recording can have cost, `high_us` less the least."""

    low_us: float
    middle_us: float
    high_us: float


def measure_host_load(trace: Trace, budget: BudgetResult, blocked_ns: float) -> HostLoad:
    """Measure the host's own time of a step: the median over steps, the settling first aside.

    Taken out are waits for the device, input, allocations, building, stalls and `blocked_ns` of launches that waited
    for a full queue. Where the step without the profiler is known, its host cannot take longer than it does.
    """
    device = budget.device if budget.device is not None else 0
    threads = find_host_threads(trace, list_launches(trace, device))
    steps = _host_steps(trace)
    others = _other_time(trace, budget, threads.main)
    own = (steps.end_ns - steps.start_ns) - covered(others, steps.start_ns, steps.end_ns)
    costs = measure_recording_costs(trace, np.array(threads.all, dtype=np.int32))
    least, most = costs.bound_total(steps.start_ns, steps.end_ns)
    own_us = np.maximum(own - blocked_ns, 0) / 1e3
    low = float(np.median(np.maximum(own_us - most / 1e3, 0)))
    high = float(np.median(np.maximum(own_us - least / 1e3, 0)))
    if budget.budget.basis == "unprofiled":
        # Of the step without the profiler, what is left beside the waits that have a cause of their own.
        others_us = sum(row.us_per_step for row in budget.budget.parts if row.name in _NOT_ISSUING)
        most_us = budget.budget.step_us - others_us
        low, high = min(low, most_us), min(high, most_us)
    return HostLoad(low_us=low, middle_us=(low + high) / 2, high_us=high)


def _host_steps(trace: Trace) -> Spans:
    """Return the spans of the step marks but the first; of a window without marks the whole."""
    steps = trace.steps
    if len(steps.number) == 0:
        return Spans(np.array([trace.window_start_ns]), np.array([trace.window_end_ns]))
    first = 1 if len(steps.number) > 1 else 0
    return Spans(steps.start_ns[first:], steps.end_ns[first:])


def _other_time(trace: Trace, budget: BudgetResult, main: int) -> Spans:
    """Return when the main thread did something else than issuing work, whoever waited for it.

    Stalls are taken from the budget's waits, where they have been told from ordinary stretches already.
    """
    causes = collect_host_causes(trace, classify_calls(trace), find_slow_visits(trace))
    here = (causes.thread == main) | (causes.thread < 0)
    stalled = (budget.waits.cause == PART_CODE["stall"]) & ~budget.waits.refill
    return union(
        np.concatenate((causes.start_ns[here], budget.waits.start_ns[stalled])),
        np.concatenate((causes.end_ns[here], budget.waits.end_ns[stalled])),
    )
