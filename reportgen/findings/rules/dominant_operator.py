"""dominant-operator: one operator at one shape takes a large part of the work. A fact, no fault."""

from __future__ import annotations

from reportgen import formatting as fmt
from reportgen.analysis.model import CaseAnalysis, Operator
from reportgen.findings.guards import DEVICE_UNRECORDED
from reportgen.findings.model import Evidence
from reportgen.findings.rule import Context, Draft, Measured, Rule, Threshold, Verdict, fired, not_evaluated, passed
from reportgen.findings.samples import recorded_steps

SHARE = Threshold(
    name="share",
    value=0.25,
    unit="of device time",
    reason="an operator under a quarter of the work cannot make the work a third faster",
)

IN_SHORT = "Start with this operator"


def judge(context: Context) -> Verdict:
    """Find the operator and signature with the most device time; without a device, with the most self host time."""
    case = context.case
    if case.device_kind == "not-recorded":
        return DEVICE_UNRECORDED
    limit = context.thresholds[SHARE.name]
    unit = "of host time" if case.device_kind == "host" else SHARE.unit
    communication = {kernel.name for kernel in case.kernels.items if kernel.category == "communication"}
    ranked = [
        (share, operator)
        for operator in case.operators.items
        # A collective mostly waits for other ranks: its time says nothing of the work that it is.
        if (share := _share(case, operator)) is not None and not communication.intersection(operator.kernels)
    ]
    if not ranked:
        return not_evaluated("no operator with work of its own was recorded")
    share, operator = max(ranked, key=lambda pair: pair[0])
    measured = Measured(value=share, threshold=limit, unit=unit)
    if share < limit:
        return passed(
            f"the largest at one shape, {fmt.operator_name(operator.name)}, takes {fmt.share(share)} {unit}", measured
        )
    return fired(_draft(context, operator, share, unit), measured=measured)


def _share(case: CaseAnalysis, operator: Operator) -> float | None:
    return operator.share_of_host if case.device_kind == "host" else operator.share_of_device


def _draft(context: Context, operator: Operator, share: float, unit: str) -> Draft:
    case = context.case
    time_us = operator.host_us_per_step if case.device_kind == "host" else operator.device_us_per_step
    shapes = fmt.shapes(operator.input_shapes, operator.input_types, operator.name)
    calls, steps = fmt.plural(operator.calls_per_step, "call"), recorded_steps(case)
    name = fmt.operator_name(operator.name, 24)
    subject = f"{name}, shapes {shapes}" if operator.input_shapes else name
    at_shape = " at this shape" if operator.input_shapes else ""
    return Draft(
        title=f"{name} takes {fmt.share(share)} {unit} in {fmt.shorten(case.name, 16)}",
        evidence=(
            Evidence(
                text=f"{subject}: {fmt.duration(time_us)} a step in {calls} ({steps})",
                value=time_us,
                unit="us",
            ),
        ),
        mechanism=f"What one operator takes bounds what speeding it up can give: {fmt.share(share)} {unit}.",
        short_action=IN_SHORT,
        action=f"Start with {name}{at_shape} if the work itself is to become shorter.",
        verify=f"{context.check_command()}: the operator's time in the operators table must fall.",
        beware=None
        if case.device_kind == "host"
        else "Where the device waits for the host, less device work gives no time.",
        confidence="high",
        severity="info",
        source=operator.source,
        identity=(operator.name, shapes),
    )


RULE = Rule(id="dominant-operator", checklist_step=1, judge=judge, thresholds=(SHARE,))
