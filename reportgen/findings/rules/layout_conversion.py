"""layout-conversion: a convolution that turns its data into another layout before and after the work."""

from __future__ import annotations

from reportgen import formatting as fmt
from reportgen.analysis.model import Operator
from reportgen.analysis.replay.changes import Change, operator_key
from reportgen.findings.guards import unseen_shapes
from reportgen.findings.model import Evidence
from reportgen.findings.rule import (
    Context,
    Draft,
    Rule,
    Threshold,
    Verdict,
    fired,
    not_applicable,
    not_evaluated,
    passed,
)
from reportgen.findings.samples import recorded_steps
from reportgen.findings.shape_faults import (
    CONVOLUTIONS,
    WORTHWHILE_SHARE,
    described,
    device_gain,
    device_us,
    step_us_of,
)

SHARE = Threshold(
    name="share",
    value=WORTHWHILE_SHARE,
    unit="of the step",
    reason="converting weights takes microseconds and is not the point; 3 % is more than the step's spread hides",
)

IN_SHORT = "Try the model and its input in channels-last"


def judge(context: Context) -> Verdict:
    """Add up the kernels beside the main one of convolutions whose input is not channels-last."""
    if unseen := unseen_shapes(context.case):
        return unseen
    convolutions = [row for row in context.case.operators.items if row.family == CONVOLUTIONS and device_us(row)]
    if not convolutions:
        return not_applicable("the step has no convolution")
    if all(row.input_strides is None for row in convolutions):
        return not_evaluated("strides, which tell the layout, were not recorded")
    converting = [row for row in convolutions if len(row.kernels) > 1 and is_channels_first(row)]
    cost_us = sum(map(beside_main_us, converting))
    measured = context.measured(SHARE, cost_us / step_us_of(context.case))
    if measured.value < measured.threshold:
        return passed(f"kernels beside the convolutions' own take {fmt.share(measured.value)} of the step", measured)
    return fired(_draft(context, converting, cost_us), measured=measured)


def beside_main_us(row: Operator) -> float:
    """Return the time per step of all kernels but the heaviest."""
    return device_us(row) - (row.main_kernel_us_per_step or device_us(row))


def is_channels_first(row: Operator) -> bool:
    """Return whether an input of four dimensions or more is stored with its channels apart (stride over 1)."""
    shapes, strides = row.input_shapes or (), row.input_strides or ()
    return any(
        len(shape) >= 4 and len(stride) == len(shape) and shape[1] > 1 and stride[1] != 1
        for shape, stride in list(zip(shapes, strides, strict=False))[:2]
    )


def _draft(context: Context, converting: list[Operator], cost_us: float) -> Draft:
    case, first = context.case, max(converting, key=beside_main_us)
    return Draft(
        title=f"Layout conversions around convolutions take {fmt.duration_of(cost_us, step_us_of(case))}",
        evidence=(
            Evidence(
                text=f"kernels beside the main one of {fmt.plural(len(converting), 'convolution')}: "
                f"{fmt.duration(cost_us)} a step ({recorded_steps(case)})",
                value=cost_us,
                unit="us",
            ),
            Evidence(
                text=f"most in {described(first)}: {fmt.duration(beside_main_us(first))} beside "
                f"{fmt.duration(first.main_kernel_us_per_step)}",
                value=beside_main_us(first),
                unit="us",
            ),
        ),
        mechanism="The kernel that computes wants channels last; an input with channels first is turned before it and "
        "the result turned back.",
        short_action=IN_SHORT,
        action="Try the model and its input in channels-last: `model.to(memory_format=torch.channels_last)`, and the "
        "same for the input.",
        verify=f"{context.check_command()}: the step itself must fall, not only these kernels.",
        beware="Measure it: other operators, group normalisation for one, can lose more than the convolutions gain.",
        confidence="low",
        gain=device_gain(case, cost_us, 0.0, "channels-last"),
        change=Change(
            kind="scale-operators",
            is_limit=True,
            operators={operator_key(row): 1 - beside_main_us(row) / device_us(row) for row in converting},
        ),
        source=first.source,
        identity=("convolution",),
    )


RULE = Rule(id="layout-conversion", checklist_step=4, judge=judge, thresholds=(SHARE,), of_device=True)
