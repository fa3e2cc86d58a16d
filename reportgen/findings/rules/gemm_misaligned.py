"""gemm-misaligned: a matrix product whose rows do not begin at multiples of 16 bytes falls to an old kernel."""

from __future__ import annotations

import dataclasses

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
    roof_us,
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


MOST_DESCRIBED = 4


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Fault:
    """A slow product, its odd strides by matrix, and the rate that an aligned one reaches with where that is from."""

    row: Operator
    cost_us: float
    strides: dict[str, int]
    rate: tuple[float, str]

    @property
    def lengths(self) -> frozenset[int]:
        """Return its odd strides."""
        return frozenset(self.strides.values())


IN_SHORT = "Pad the odd dimension to a multiple of 64"


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
            cost_us = device_us(row) - aligned_us * row.working_calls_per_step
            faults.append(_Fault(row=row, cost_us=cost_us, strides=strides, rate=rate))
    cost_us = sum(fault.cost_us for fault in faults)
    measured = context.measured(SHARE, cost_us / step_us_of(context.case))
    if not faults:
        return passed("no product is slowed by an odd stride", measured)
    if measured.value < measured.threshold:
        return passed(
            f"{fmt.plural(len(faults), 'product')} of odd stride would be {fmt.duration(cost_us)} faster aligned, "
            f"{fmt.share(measured.value)} of the step",
            measured,
        )
    worthwhile = [
        group
        for group in _by_cause(faults)
        if sum(fault.cost_us for fault in group) >= measured.threshold * step_us_of(context.case)
    ]
    return fired(*(_draft(context, group) for group in worthwhile), measured=measured)


def _by_cause(faults: list[_Fault]) -> list[list[_Fault]]:
    """Put products together that one padded dimension mends: they share an odd stride. The costliest come first."""
    groups: list[list[_Fault]] = []
    for fault in faults:
        sharing = [group for group in groups if any(fault.lengths & other.lengths for other in group)]
        groups = [group for group in groups if group not in sharing]
        groups.append([*(one for group in sharing for one in group), fault])
    for group in groups:
        group.sort(key=lambda fault: -fault.cost_us)
    return sorted(groups, key=lambda group: -sum(fault.cost_us for fault in group))


def _draft(context: Context, faults: list[_Fault]) -> Draft:
    case, row, rate = context.case, faults[0].row, faults[0].rate
    cost_us = sum(fault.cost_us for fault in faults)
    took_us = sum(device_us(fault.row) for fault in faults)
    at_roof_us = sum(roof_us(fault.row) for fault in faults)
    expected_us = took_us - cost_us
    one = len(faults) == 1
    subject = (
        f"{fmt.operator_name(row.name)} with an odd stride takes"
        if one
        else f"{len(faults)} products of odd stride take"
    )
    return Draft(
        title=f"{subject} {fmt.duration(took_us)}, aligned about {fmt.duration(expected_us)}",
        evidence=(
            *(_described(fault, recorded_steps(case)) for fault in faults[:MOST_DESCRIBED]),
            Evidence(text=f"leading stride not a multiple of 16 bytes: {_strides(faults)}"),
            Evidence(text=f"an aligned product {_reaches(rate)}", value=rate[0], unit="FLOP/s"),
        ),
        mechanism="The fast kernels load 16 bytes at a time, so every row must begin at a multiple of that; "
        "else an older, slower kernel is chosen.",
        short_action=IN_SHORT,
        action="Pad the odd dimension to a multiple of 64 elements, at least of 8: for a vocabulary, add "
        "unused entries to the embedding and mask them in the loss or before sampling.",
        verify=f"{context.check_command()}: {'this operator' if one else 'these operators'} must fall to about "
        f"{fmt.duration(expected_us)} a step.",
        beware="A checkpoint must be loaded into the padded weight, and the added outputs must never be chosen.",
        confidence="high" if "same step" in rate[1] else "medium",
        gain=device_gain(case, max(took_us - at_roof_us, cost_us), cost_us, "pad the odd dimension"),
        change=Change(
            kind="scale-operators",
            operators={operator_key(it.row): 1 - it.cost_us / device_us(it.row) for it in faults},
        ),
        source=row.source,
        identity=(row.name, *faults[0].strides, fmt.shapes(row.input_shapes, row.input_types, row.name)),
    )


def _reaches(rate: tuple[float, str]) -> str:
    """Say at which rate, and whether this step shows it or it is assumed."""
    if "same step" in rate[1]:
        return f"reaches {fmt.flop_rate(rate[0])}, {rate[1]}"
    return f"is assumed to reach {fmt.flop_rate(rate[0])}, {rate[1]}: no product of this step shows it"


def _described(fault: _Fault, sample: str) -> Evidence:
    took_us = device_us(fault.row)
    text = (
        f"{described(fault.row)}: {fmt.duration(took_us)} a step at {fmt.flop_rate(fault.row.flops_per_s)} ({sample})"
    )
    return Evidence(text=text, value=took_us, unit="us")


def _strides(faults: list[_Fault]) -> str:
    """Name the matrices of one product; of several the strides that they share."""
    if len(faults) == 1:
        return fmt.listing(tuple(faults[0].strides))
    lengths = sorted(set().union(*(fault.lengths for fault in faults)))
    return fmt.listing([f"{fmt.count(length)} elements" for length in lengths])


RULE = Rule(id="gemm-misaligned", checklist_step=4, judge=judge, thresholds=(SHARE, SLOWER), of_device=True)
