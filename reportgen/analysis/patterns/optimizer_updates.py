"""The optimizer's part of a step: how many activities an update takes, and what the step would lack without it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.arithmetic.grouping import total
from reportgen.analysis.arithmetic.spans import covered, union
from reportgen.analysis.model import OptimizerUpdate
from reportgen.analysis.steps.window import durations_ns

if TYPE_CHECKING:
    from collections.abc import Callable

    from reportgen.analysis.attribution.case_places import CasePlaces
    from reportgen.analysis.steps.window import Counted
    from reportgen.analysis.waiting.budget_result import BudgetResult
    from reportgen.trace.columns import Bool, Int64, Trace

# torch.optim's name for its own span: "Optimizer.step#AdamW.step".
_SPAN = re.compile(r"^Optimizer\.step#(?P<name>.+?)(?:\.step)?$")
# Autograd's node that hands a parameter its gradient: one for each parameter and backward pass.
_GRADIENT = "torch::autograd::AccumulateGrad"
# What the engine writes around each node that it runs, on whichever thread.
_ENGINE = "autograd::engine::evaluate_function: "


def list_optimizer_updates(
    trace: Trace, counted: Counted, budget: BudgetResult | None, places: CasePlaces
) -> tuple[OptimizerUpdate, ...]:
    """Measure what each optimizer's ``step`` launched in the recorded steps.

    The number of parameters is that of the gradients handed over for an update, each pass of gradient accumulation
    once (`_parameters`); without gradients it is how often the span's most frequent operator is called.
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
        parameters_per_step=_parameters(trace, counted, rows, within & counted.operators) / steps,
        device_us_per_step=device_us,
        host_us_per_step=spans.total_ns / 1e3 / steps,
        extent_us_per_step=device_us + waits_us,
        source=places.source_at(int(start[0]), int(annotations.thread[rows[0]])),
        where=places.where(int(start[example]), int(end[example]), thread=int(annotations.thread[rows[example]])),
    )


def _parameters(trace: Trace, counted: Counted, rows: Int64, within: Bool) -> int:
    """Count the tensors that the calls `rows` of an optimizer update.

    An update has the parameters of the backward passes since the call before. Passes that hand over as many gradients
    of the same shapes, where shapes were recorded, are micro-batches of the same parameters and count once. Others
    may share parameters or not, which a trace does not tell: they are added, so that the number is an upper bound
    there, as it is for each of several optimizers behind one pass.
    """
    operators, annotations = trace.operators, trace.annotations
    gradients = np.flatnonzero(_named(trace, lambda name: name == _GRADIENT) & counted.operators)
    gradients = gradients[np.argsort(operators.start_ns[gradients], kind="stable")]
    calls = rows[np.argsort(annotations.start_ns[rows], kind="stable")]
    update = np.searchsorted(annotations.start_ns[calls], operators.start_ns[gradients])
    passes = _passes(trace, gradients, int(annotations.thread[rows[0]]))
    updated = np.zeros(len(calls), dtype=np.int64)
    for number in np.unique(update[update < len(calls)]):
        mine, own_passes = gradients[update == number], passes[update == number]
        kinds = {_shapes(trace, mine[own_passes == each]) for each in np.unique(own_passes)}
        updated[number] = sum(len(kind) for kind in kinds)
    if not updated.any():
        calls_of = total(np.where(within, operators.name, -1), None, len(trace.names))
        return int(calls_of.max(initial=0))
    if not updated[0]:  # the backward passes of the first update lie before the window
        updated[0] = updated.max()
    return int(updated.sum())


def _passes(trace: Trace, gradients: Int64, thread: int) -> Int64:
    """Number the backward passes that `gradients` belong to, by what `thread` calls between two of them.

    Whoever asks for a backward pass waits in it: what their thread calls outside the engine's nodes lies between two
    passes. Where the engine's nodes were not recorded, all count as one pass.
    """
    operators = trace.operators
    engine = _named(trace, lambda name: name.startswith(_ENGINE))
    if not engine.any():
        return np.zeros(len(gradients), dtype=np.int64)
    nodes = union(operators.start_ns[engine], operators.end_ns[engine])
    outside = (operators.thread == thread) & (covered(nodes, operators.start_ns, operators.start_ns + 1) == 0)
    return np.searchsorted(np.sort(operators.start_ns[outside]), operators.start_ns[gradients])


def _shapes(trace: Trace, gradients: Int64) -> tuple[tuple[tuple[int, ...], ...] | None, ...]:
    """Return the shapes of the gradients of one pass, None for each that has none, in an order of their own."""
    signatures = [trace.signatures[row] if row >= 0 else None for row in trace.operators.signature[gradients]]
    shapes = [None if signature is None else signature.shapes for signature in signatures]
    return tuple(sorted(shapes, key=lambda shape: (shape is None, shape or ())))


def _named(trace: Trace, wanted: Callable[[str], bool]) -> Bool:
    codes = [code for code, name in enumerate(trace.names) if wanted(name)]
    return np.isin(trace.operators.name, codes)
