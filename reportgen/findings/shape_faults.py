"""What the rules about shapes share: operators worth a look, and what less device time gives to the step."""

from __future__ import annotations

import msgspec

from reportgen import formatting as fmt
from reportgen.analysis.model import CaseAnalysis, Operator
from reportgen.analysis.work_models.call import ITEM_BYTES
from reportgen.findings.gain import bounded_gain
from reportgen.findings.model import Gain

# Share of the step that a fault of shapes must cost to be worth a change.
WORTHWHILE_SHARE = 0.03
PRODUCTS = "matrix product"
CONVOLUTIONS = "convolution"
# cuBLAS and cuDNN reach their fast kernels where every leading stride is a multiple of 16 bytes.
ALIGNMENT_BYTES = 16
# What a well-shaped product reaches of the peak, where the trace holds none to compare with.
ORDINARY_SHARE_OF_PEAK = 0.7


def step_us_of(case: CaseAnalysis) -> float:
    """Return the step time, which `unseen_shapes` has made sure of."""
    return case.step_us or 0.0


def device_gain(case: CaseAnalysis, saved_us: float, expected_us: float, edit: str) -> Gain:
    """Return the gain of `saved_us` less device time at the most, `expected_us` by experience.

    The step does not go under the host's own time, less what recording added to it.
    """
    host_us = (case.launching.host_low_us if case.launching else None) or 0.0
    step_us = step_us_of(case)
    most = bounded_gain(step_us=step_us, cost_us=saved_us, floor_us=host_us, resource="device", edit=edit)
    least = max(0.0, min(expected_us, step_us - host_us))
    return msgspec.structs.replace(most, at_least_us_per_step=least, method="roofline")


def device_us(row: Operator) -> float:
    """Return the device time of `row` per step."""
    return row.device_us_per_step or 0.0


def call_us(row: Operator) -> float:
    """Return the device time of one call that launched work."""
    return row.device_us_per_call or 0.0


def roof_us(row: Operator) -> float:
    """Return the time per step that `row` would take at its roof; 0 where it has none."""
    return (row.roof_us or 0.0) * row.working_calls_per_step


def described(row: Operator) -> str:
    """Write an operator with its shapes."""
    return f"{fmt.operator_name(row.name)} {fmt.shapes(row.input_shapes, row.input_types, row.name)}"


def factors(row: Operator) -> list[int]:
    """Return the positions of a product's two factors among its inputs: the last two with two dimensions or more."""
    shapes = row.input_shapes or ()
    found = [index for index, shape in enumerate(shapes) if len(shape) >= 2]
    return found[-2:] if len(found) >= 2 else []


def misaligned_strides(row: Operator) -> dict[str, int]:
    """Return the leading stride, in elements, of each matrix of a product for which it is no multiple of 16 bytes.

    The matrices are "A", "B" and "output". The leading stride is that between rows, or between columns of a matrix
    stored by columns; of a matrix of one row or column there is none. Where strides were not recorded it is empty.
    """
    positions = factors(row)
    types, strides, shapes = row.input_types or (), row.input_strides or (), row.input_shapes or ()
    if len(positions) < 2 or positions[-1] >= min(len(types), len(strides)):
        return {}
    item = ITEM_BYTES.get(types[positions[0]], 0)
    leading = {
        name: _leading(shapes[index][-2:], strides[index][-2:]) or 0
        for name, index in zip(("A", "B"), positions, strict=True)
    }
    rows, columns = shapes[positions[0]][-2], shapes[positions[1]][-1]
    leading["output"] = columns if rows > 1 else 0
    return {name: stride for name, stride in leading.items() if stride * item % ALIGNMENT_BYTES}


def _leading(shape: tuple[int, ...], strides: tuple[int, ...]) -> int | None:
    if len(shape) < 2 or len(strides) < 2 or 1 in shape:
        return None
    return strides[0] if strides[1] == 1 else strides[1] if strides[0] == 1 else None


def aligned_rate(case: CaseAnalysis, row: Operator) -> tuple[float, str] | None:
    """Return the rate in FLOP/s to expect of a product like `row`, and where the figure comes from.

    The best is the rate of the case's own aligned products of at least half as much work in the same type; else an
    ordinary share of the peak.
    """
    alike = [
        other
        for other in case.operators.items
        if other.family == PRODUCTS
        and other.ceiling == row.ceiling
        and other.flops_per_s
        and (other.flops or 0.0) >= (row.flops or 0.0) / 2
        and other.bound == "compute"
        and not misaligned_strides(other)
    ]
    if alike:
        best = max(alike, key=lambda other: other.flops_per_s or 0.0)
        return best.flops_per_s or 0.0, f"as {described(best)} of the same step does"
    if row.flops and row.roof_us and row.bound == "compute":
        return ORDINARY_SHARE_OF_PEAK * row.flops / row.roof_us * 1e6, (
            f"{fmt.share(ORDINARY_SHARE_OF_PEAK)} of the device's peak"
        )
    return None
