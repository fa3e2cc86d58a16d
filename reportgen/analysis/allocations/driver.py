"""The caching allocator's own calls to the driver: how often, and what they cost the step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.arithmetic.links import first_known, follow
from reportgen.analysis.model import Allocator
from reportgen.analysis.waiting.budget_result import PART_CODE

if TYPE_CHECKING:
    from reportgen.analysis.attribution.attribution import Attribution
    from reportgen.analysis.model import Source
    from reportgen.analysis.steps.window import Counted
    from reportgen.analysis.waiting.budget_result import BudgetResult
    from reportgen.trace.columns import Bool, Trace

DEVICE_MALLOCS = ("cudaMalloc", "cuMemAlloc", "cuMemCreate", "cuMemMap", "hipMalloc", "hipMemCreate", "hipMemMap")
DEVICE_FREES = ("cudaFree", "cuMemFree", "cuMemUnmap", "cuMemRelease", "hipFree", "hipMemUnmap", "hipMemRelease")
# The same families on pinned or plain host memory.
_HOST_MEMORY = ("Host", "Array")


def measure_allocator(
    attribution: Attribution, counted: Counted, budget: BudgetResult | None, retries: int | None
) -> Allocator | None:
    """Count the calls of the steps and take their cost from the budget; None where no runtime call was recorded."""
    trace = attribution.detail
    if len(trace.calls.start_ns) == 0:
        return None
    mallocs, frees = _called(trace, DEVICE_MALLOCS) & counted.calls, _called(trace, DEVICE_FREES) & counted.calls
    both = mallocs | frees
    spent_ns = (trace.calls.end_ns - trace.calls.start_ns)[both].sum()
    return Allocator(
        device_mallocs_per_step=int(mallocs.sum()) / counted.num_steps,
        device_frees_per_step=int(frees.sum()) / counted.num_steps,
        retries=retries,
        calls_us_per_step=int(spent_ns) / 1e3 / counted.num_steps,
        cost_us_per_step=_cost_us(budget),
        churning_steps=len(set(trace.calls.step[mallocs].tolist()) & set(trace.calls.step[frees].tolist())),
        source=_source(attribution, both),
    )


def _called(trace: Trace, prefixes: tuple[str, ...]) -> Bool:
    matches = [name.startswith(prefixes) and not any(word in name for word in _HOST_MEMORY) for name in trace.names]
    chosen: Bool = np.array([*matches, False])[trace.calls.name]
    return chosen


def _cost_us(budget: BudgetResult | None) -> float | None:
    if budget is None or budget.num_intervals == 0:
        return None
    waits = budget.waits
    return float(waits.true_us[waits.cause == PART_CODE["allocator"]].sum()) / budget.num_intervals


def _source(attribution: Attribution, chosen: Bool) -> Source | None:
    rows = np.flatnonzero(chosen)
    if len(rows) == 0:
        return None
    calls = attribution.detail.calls
    longest = rows[[int(np.argmax((calls.end_ns - calls.start_ns)[rows]))]]
    frame = first_known(calls.frame[longest], follow(calls.operator[longest], attribution.detail_frame))
    return attribution.frames.source(int(frame[0]))
