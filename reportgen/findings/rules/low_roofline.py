"""low-roofline: an operator that takes much longer than the device needs for its work."""

from __future__ import annotations

from reportgen import formatting as fmt
from reportgen.analysis.model import Operator
from reportgen.analysis.replay.changes import Change, operator_key
from reportgen.analysis.roofline.roofline import LATENCY_US
from reportgen.findings.guards import unseen_shapes
from reportgen.findings.model import Evidence
from reportgen.findings.rule import Context, Draft, Rule, Threshold, Verdict, fired, not_evaluated, passed
from reportgen.findings.rules.layout_conversion import beside_main_us, is_channels_first
from reportgen.findings.rules.tensor_cores_unused import has_unused_tensor_cores
from reportgen.findings.shape_faults import (
    CONVOLUTIONS,
    PRODUCTS,
    WORTHWHILE_SHARE,
    call_us,
    described,
    device_gain,
    device_us,
    misaligned_strides,
    roof_us,
    step_us_of,
)

HEADROOM = Threshold(
    name="headroom",
    value=WORTHWHILE_SHARE,
    unit="of the step",
    reason="less than 3 % of the step is nobody's afternoon",
)
ROOF_SHARE = Threshold(
    name="roof-share",
    value=0.5,
    unit="of the roof",
    reason="ordinary kernels reach 60 to 90 % of the roof; under half something is in the way",
)

IN_SHORT = "Look for a better kernel, or fuse the operator"


def judge(context: Context) -> Verdict:
    """Find operators whose time over the roof's is worth something; what another rule explains is left to that rule."""
    if unseen := unseen_shapes(context.case):
        return unseen
    case = context.case
    placed = [row for row in case.operators.items if row.roof_us is not None and device_us(row)]
    if not placed:
        return not_evaluated("no operator has a roof: the device's ceilings, or the operators' work, are not known")
    least_us = context.thresholds[HEADROOM.name] * step_us_of(case)
    slow = [
        row
        for row in placed
        if call_us(row) >= LATENCY_US and (row.roof_share or 0.0) < context.thresholds[ROOF_SHARE.name]
    ]
    far = [row for row in slow if headroom_us(row) >= least_us]
    low = [row for row in far if not _explained(row)]
    largest = max((headroom_us(row) for row in slow if not _explained(row)), default=0.0)
    measured = context.measured(HEADROOM, largest / step_us_of(case))
    if not low:
        but = " but for what the rules of shapes explain" if far else ""
        share, roof = (fmt.share(context.thresholds[one.name], 0) for one in (HEADROOM, ROOF_SHARE))
        return passed(f"no operator under {roof} of its roof would give {share} of the step there{but}", measured)
    return fired(_draft(context, sorted(low, key=lambda row: -headroom_us(row))), measured=measured)


def headroom_us(row: Operator) -> float:
    """Return the time per step over that at the roof."""
    return max(0.0, device_us(row) - roof_us(row))


def _explained(row: Operator) -> bool:
    if row.family == CONVOLUTIONS and is_channels_first(row) and beside_main_us(row) > 0:
        return True
    if row.family == PRODUCTS and misaligned_strides(row):
        return True
    return has_unused_tensor_cores(row)


def _draft(context: Context, low: list[Operator]) -> Draft:
    case, first = context.case, low[0]
    side = {"compute": "arithmetic", "memory": "memory"}.get(first.bound or "", "the roof")
    name = fmt.operator_name(first.name, 24)
    return Draft(
        title=f"{name} is at {fmt.share(first.roof_share, 0)} of its roof in {fmt.shorten(case.name, 13)}",
        evidence=tuple(
            Evidence(
                text=f"{described(row)}: {fmt.duration(device_us(row))} a step, "
                f"{fmt.duration(roof_us(row))} at the roof",
                value=device_us(row),
                unit="us",
            )
            for row in low[:3]
        ),
        mechanism=f"By its shapes {name} is limited by {side}; it takes "
        f"{fmt.factor(call_us(first), first.roof_us)} the time that this limit sets.",
        short_action=IN_SHORT,
        action=f"Look for a better kernel for {name} at this shape: fuse it with its neighbours (`torch.compile`), or "
        "give it a shape and layout that its library has a fast kernel for.",
        verify=f"{context.check_command()}: its share of the roof in the operators table must rise.",
        beware="The roof is the least that the shapes ask for; a kernel that must read its data twice cannot reach it.",
        confidence="low",
        severity="low",  # the roof is a bound, no promise
        gain=device_gain(case, headroom_us(first), 0.0, "bring the operator to its roof"),
        change=Change(
            kind="scale-operators",
            is_limit=True,
            operators={operator_key(first): 1 - headroom_us(first) / device_us(first)},
        ),
        source=first.source,
        identity=(first.name, fmt.shapes(first.input_shapes, first.input_types, first.name)),
    )


RULE = Rule(id="low-roofline", checklist_step=4, judge=judge, thresholds=(HEADROOM, ROOF_SHARE), of_device=True)
