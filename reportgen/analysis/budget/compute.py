"""The budget of a case: explained, brought to the scale of the step, summed by part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.analysis.budget.explain import explain_device_steps, explain_host_steps
from reportgen.analysis.budget.parts import assemble
from reportgen.analysis.budget.scale import Scale, anchor
from reportgen.analysis.steps.window import count, main_device
from reportgen.analysis.waiting.anchoring import bound_share

if TYPE_CHECKING:
    from reportgen.analysis.model import Timing
    from reportgen.analysis.steps.steps import StepWindow
    from reportgen.analysis.waiting.budget_result import BudgetResult
    from reportgen.trace.columns import Trace


def compute_budget(
    trace: Trace, steps: StepWindow, timing: Timing | None, *, device: int | None = None
) -> BudgetResult | None:
    """Return the budget of a case on one device (default: the one with the most work), or of the host without one.

    `timing` is that of the case: with an unprofiled step time the parts sum to it, else to the step by the trace.
    None where there was a device whose activities were not recorded, and where nothing was recorded at all.
    """
    if trace.device_expected and not trace.device_recorded:
        return None
    covered = steps.covered(timing.mode if timing is not None else "pipelined")
    if covered.step_us <= 0:
        return None
    if trace.device_recorded:
        chosen = device if device is not None else main_device(trace, count(trace))
        explained = explain_device_steps(trace, covered, int(trace.activities.device[0]) if chosen is None else chosen)
    else:
        explained = explain_host_steps(trace, covered)
    if timing is not None and timing.basis == "unprofiled" and timing.step_us is not None:
        share, scale = anchor(explained, timing, timing.step_us)
    else:
        share, scale = bound_share(explained.slots), Scale(basis="trace", step_us=covered.step_us)
    return assemble(explained, share, scale)
