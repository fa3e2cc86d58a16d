"""The optimizer's part of a step: how many activities an update takes, and what the step would lack without it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.grouping import total
from reportgen.analysis.model import OptimizerUpdate
from reportgen.analysis.spans import covered, union
from reportgen.analysis.window import durations_ns

if TYPE_CHECKING:
    from reportgen.analysis.budget_result import BudgetResult
    from reportgen.analysis.case_places import CasePlaces
    from reportgen.analysis.window import Counted
    from reportgen.trace.columns import Bool, Trace

# torch.optim's name for its own span: "Optimizer.step#AdamW.step".
_SPAN = re.compile(r"^Optimizer\.step#(?P<name>.+?)(?:\.step)?$")
# Autograd's node that hands a parameter its gradient: one for each parameter.
_GRADIENT = "torch::autograd::AccumulateGrad"


def list_optimizer_updates(
    trace: Trace, counted: Counted, budget: BudgetResult | None, places: CasePlaces
) -> tuple[OptimizerUpdate, ...]:
    """Measure what each optimizer's ``step`` launched in the recorded steps.

    The number of parameters is that of the gradients accumulated in a step, else how often the span's most frequent
    operator is called.
    """
    annotations = trace.annotations
    names = {int(code): _SPAN.match(trace.names[code]) for code in np.unique(annotations.name)}
    first, last = trace.window_start_ns, trace.window_end_ns
    updates = []
    for code, match in names.items():
        rows = np.flatnonzero(
            (annotations.name == code) & (annotations.start_ns >= first) & (annotations.end_ns <= last)
        )
        if match is not None and len(rows):
            updates.append(_measure(trace, counted, budget, places, match["name"], rows))
    return tuple(sorted(updates, key=lambda update: -update.extent_us_per_step))


def _measure(
    trace: Trace, counted: Counted, budget: BudgetResult | None, places: CasePlaces, name: str, rows: np.ndarray
) -> OptimizerUpdate:
    annotations, activities, steps = trace.annotations, trace.activities, counted.num_steps
    start, end = annotations.start_ns[rows], annotations.end_ns[rows]
    spans = union(start, end)
    launched = counted.activities & (activities.call >= 0)
    if len(trace.calls.start_ns):
        call = np.maximum(activities.call, 0)
        launched &= covered(spans, trace.calls.start_ns[call], trace.calls.start_ns[call] + 1) > 0
    within = covered(spans, trace.operators.start_ns, trace.operators.start_ns + 1) > 0
    device_us = float(durations_ns(activities)[launched].sum()) / 1e3 / steps
    waits_us = 0.0
    if budget is not None:
        waits = budget.waits
        share = covered(spans, waits.start_ns, waits.end_ns) / np.maximum(waits.end_ns - waits.start_ns, 1)
        waits_us = float((share * waits.true_us).sum()) / max(budget.num_intervals, 1)
    example = places.example(start, end)
    return OptimizerUpdate(
        name=name,
        activities_per_step=int(launched.sum()) / steps,
        parameters_per_step=_parameters(trace, counted, within & counted.operators) / steps,
        device_us_per_step=device_us,
        host_us_per_step=spans.total_ns / 1e3 / steps,
        extent_us_per_step=device_us + waits_us,
        source=places.source_at(int(start[0]), int(annotations.thread[rows[0]])),
        where=places.where(int(start[example]), int(end[example]), thread=int(annotations.thread[rows[example]])),
    )


def _parameters(trace: Trace, counted: Counted, within: Bool) -> int:
    operators = trace.operators
    gradients = {code for code, name in enumerate(trace.names) if name == _GRADIENT}
    accumulated = int((np.isin(operators.name, list(gradients)) & counted.operators).sum())
    if accumulated:
        return accumulated
    calls = total(np.where(within, operators.name, -1), None, len(trace.names))
    return int(calls.max(initial=0))
