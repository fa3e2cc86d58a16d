"""gemm-misaligned: a matrix product whose rows do not begin at multiples of 16 bytes falls to an old kernel."""

from __future__ import annotations

from reportgen import formatting as fmt
from reportgen.analysis.model import Operator
from reportgen.analysis.replay.changes import Change, operator_key
from reportgen.findings.guards import unseen_shapes
from reportgen.findings.model import Evidence
from reportgen.findings.rule import Context, Draft, Rule, Threshold, Verdict, fired, not_applicable, passed
from reportgen.findings.samples import recorded_steps
from reportgen.findings.shape_faults import (
    PRODUCTS,
    WORTHWHILE_SHARE,
    aligned_rate,
    call_us,
    described,
    device_gain,
    device_us,
    misaligned_strides,
    step_us_of,
)

SHARE = Threshold(
    name="share",
    value=WORTHWHILE_SHARE,
    unit="of the step",
    reason="padding a dimension is a small change; under 3 % its gain drowns in the step's spread",
)
SLOWER = Threshold(
    name="slower",
    value=1.5,
    unit="times the time of an aligned product",
    reason="the fast kernels of aligned products differ by a third among themselves; odd strides alone prove nothing",
)


def judge(context: Context) -> Verdict:
    """Hold products with an odd leading stride against the rate of aligned ones: cost = time − FLOPs / that rate.

    Odd numbers of rows are harmless: only the strides between rows (or columns) of A, B and the output decide.
    """
    if unseen := unseen_shapes(context.case):
        return unseen
    products = [row for row in context.case.operators.items if row.family == PRODUCTS and device_us(row)]
    if not products:
        return not_applicable("the step multiplies no matrices")
    slower = context.thresholds[SLOWER.name]
    faults = []
    for row in products:
        strides, rate = misaligned_strides(row), aligned_rate(context.case, row)
        if not strides or rate is None or not row.flops:
            continue
        aligned_us = max(row.flops / rate[0] * 1e6, row.roof_us or 0.0)
        if call_us(row) >= slower * aligned_us:
            faults.append((device_us(row) - aligned_us * row.calls_per_step, row, strides, rate))
    cost_us = sum(fault[0] for fault in faults)
    measured = context.measured(SHARE, cost_us / step_us_of(context.case))
    if not faults or measured.value < measured.threshold:
        return passed("no product of weight is slowed by an odd stride", measured)
    faults.sort(key=lambda fault: -fault[0])
    return fired(
        *(
            _draft(context, row, cost, strides, rate)
            for cost, row, strides, rate in faults
            if cost >= measured.threshold * step_us_of(context.case)
        ),
        measured=measured,
    )


def _draft(context: Context, row: Operator, cost_us: float, strides: tuple[str, ...], rate: tuple[float, str]) -> Draft:
    case = context.case
    expected_us = device_us(row) - cost_us
    most_us = device_us(row) - (row.roof_us or 0.0) * row.calls_per_step
    return Draft(
        title=f"{fmt.operator_name(row.name)} with an odd stride takes {fmt.duration(device_us(row))}, "
        f"aligned about {fmt.duration(expected_us)}",
        evidence=(
            Evidence(
                text=f"{described(row)}: {fmt.duration(device_us(row))} a step at {fmt.flop_rate(row.flops_per_s)}"
                f" ({recorded_steps(case)})",
                value=device_us(row),
                unit="us",
            ),
            Evidence(text=f"leading stride not a multiple of 16 bytes: {fmt.listing(strides)}"),
            Evidence(
                text=f"an aligned product reaches {fmt.flop_rate(rate[0])}, {rate[1]}", value=rate[0], unit="FLOP/s"
            ),
        ),
        mechanism="The fast kernels load 16 bytes at a time, so every row must begin at a multiple of that; "
        "else an older, slower kernel is chosen.",
        action="Pad the odd dimension to a multiple of 8 elements in half precision (better 64): for a vocabulary, add "
        "unused entries to the embedding and mask them in the loss or before sampling.",
        verify=f"{context.check_command()}: this operator must fall to about {fmt.duration(expected_us)} a step.",
        beware="A checkpoint must be loaded into the padded weight, and the added outputs must never be chosen.",
        confidence="high" if "same step" in rate[1] else "medium",
        gain=device_gain(case, max(most_us, cost_us), cost_us, "pad the odd dimension"),
        change=Change(kind="scale-operators", operators={operator_key(row): expected_us / device_us(row)}),
        source=row.source,
        identity=(row.name, *strides, fmt.shapes(row.input_shapes, row.input_types, row.name)),
    )


RULE = Rule(id="gemm-misaligned", checklist_step=4, judge=judge, thresholds=(SHARE, SLOWER))
