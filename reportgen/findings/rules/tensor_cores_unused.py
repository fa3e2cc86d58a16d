"""tensor-cores-unused: fp32 products at full precision on a device that multiplies TF32 many times faster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen import formatting as fmt
from reportgen.analysis.model import Operator
from reportgen.analysis.replay.changes import Change, operator_key
from reportgen.findings.guards import unseen_shapes
from reportgen.findings.model import Evidence
from reportgen.findings.rule import Context, Draft, Rule, Threshold, Verdict, fired, not_applicable, passed
from reportgen.findings.shape_faults import (
    CONVOLUTIONS,
    ORDINARY_SHARE_OF_PEAK,
    PRODUCTS,
    WORTHWHILE_SHARE,
    described,
    device_gain,
    device_us,
    step_us_of,
)

if TYPE_CHECKING:
    from reportgen.recording import Ceilings

SHARE = Threshold(
    name="share",
    value=WORTHWHILE_SHARE,
    unit="of the step",
    reason="the change costs precision, so it must be worth more than the step's spread",
)
# The least that TF32 gives over IEEE arithmetic on a device that has it, by the datasheets (L4: 2.0, A100: 8).
LEAST_SPEEDUP = 2.0
_FLAG = "matmul_tf32"

IN_SHORT = "Allow TF32, or run under bf16 autocast"


def judge(context: Context) -> Verdict:
    """Find compute-bound fp32 products and convolutions that were not rounded to TF32; flags or kernel names acquit."""
    if unseen := unseen_shapes(context.case):
        return unseen
    case = context.case
    products = [row for row in case.operators.items if row.family in {PRODUCTS, CONVOLUTIONS} and device_us(row)]
    full = [row for row in products if row.ceiling == "float32"]
    if not full:
        return not_applicable("no product in fp32 at full precision was recorded")
    guilty = [row for row in full if row.bound == "compute" and not any("tf32" in name for name in row.kernels)]
    cost_us = sum(device_us(row) - with_tf32_us(row, context.ceilings()) for row in guilty)
    measured = context.measured(SHARE, cost_us / step_us_of(case))
    if not guilty or measured.value < measured.threshold:
        return passed("fp32 products at full precision have little weight", measured)
    return fired(_draft(context, guilty, cost_us), measured=measured)


def with_tf32_us(row: Operator, ceilings: Ceilings) -> float:
    """Return the time per step to expect of `row` with TF32.

    It is that of an ordinary product at the device's TF32 ceiling, or of its bytes at the device's bandwidth; half of
    what it is at the most, and where the ceilings are not known.
    """
    half_us = device_us(row) / LEAST_SPEEDUP
    peak = ceilings.matmul_flops_per_s.get("tf32")
    if not peak or not row.flops:
        return half_us
    each_us = row.flops / (ORDINARY_SHARE_OF_PEAK * peak) * 1e6
    memory_us = (row.bytes or 0.0) / _bandwidth(row) * 1e6 if _bandwidth(row) else 0.0
    return min(half_us, max(each_us, memory_us) * row.working_calls_per_step)


def _draft(context: Context, guilty: list[Operator], cost_us: float) -> Draft:
    case, first = context.case, guilty[0]
    ceilings = context.ceilings()
    total_us = sum(map(device_us, guilty))
    is_known = _FLAG in context.environment.flags
    memory_us = sum(
        (row.bytes or 0.0) / _bandwidth(row) * 1e6 * row.working_calls_per_step for row in guilty if _bandwidth(row)
    )
    return Draft(
        title=f"Products in fp32 without tensor cores take {fmt.duration_of(total_us, step_us_of(case))} a step",
        evidence=(
            Evidence(
                text=f"{fmt.plural(len(guilty), 'operator')} of compute-bound fp32 products: {fmt.duration(total_us)} "
                f"a step; first {described(first)} at {fmt.flop_rate(first.flops_per_s)}",
                value=total_us,
                unit="us",
            ),
            Evidence(
                text="TF32 was off"
                if is_known
                else "whether TF32 was allowed was not recorded; the rate is below what IEEE arithmetic reaches"
            ),
        ),
        mechanism="IEEE fp32 arithmetic leaves the tensor cores idle; TF32 keeps fp32's range and rounds the factors "
        "to 10 bits.",
        short_action=IN_SHORT,
        action="Allow TF32: `torch.set_float32_matmul_precision('high')`; or run the model under bf16 autocast.",
        verify=f"{context.check_command()}: the time of these operators must fall by half or more.",
        beware="This changes the numbers that come out: compare the loss or the outputs before and after.",
        confidence="medium" if is_known else "low",
        gain=device_gain(case, max(total_us - memory_us, cost_us), cost_us, "allow TF32"),
        change=Change(
            kind="scale-operators",
            operators={operator_key(row): with_tf32_us(row, ceilings) / device_us(row) for row in guilty},
        ),
        source=first.source,
        identity=("fp32",),
    )


def _bandwidth(row: Operator) -> float:
    """Return the bandwidth that `row` was held against, in bytes a second, from its ridge and its roof."""
    if not row.flops or not row.roof_us or not row.ridge:
        return 0.0
    return row.flops / row.roof_us * 1e6 / row.ridge


def has_unused_tensor_cores(row: Operator) -> bool:
    """Return whether this rule is what `row` is slow by."""
    return row.ceiling == "float32" and row.family in {PRODUCTS, CONVOLUTIONS} and row.bound == "compute"


RULE = Rule(id="tensor-cores-unused", checklist_step=4, judge=judge, thresholds=(SHARE,), of_device=True)
