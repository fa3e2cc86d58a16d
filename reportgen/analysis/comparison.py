"""Cases side by side: what each family of operators takes, which kernels change, and where a bound turns."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from reportgen.analysis.allocations.scaling import PeakScaling, fit_peaks
from reportgen.analysis.model import Bound, CaseAnalysis, Operator
from reportgen.recording import Json

# The most rows of each kind that a comparison keeps, largest first.
MOST_KERNEL_ROWS = 12
MOST_TURNS = 12
# The family of operators whose work has no model.
UNMODELLED = "other"
_PRODUCTS = "matrix product"
# Share of a family's device time that must agree on a bound for it to be the family's.
_MAJORITY = 0.5


class FamilyCell(msgspec.Struct, frozen=True, kw_only=True):
    """A family of operators in one case; `bound` is that of most of its device time."""

    device_us_per_step: float
    share_of_device: float
    intensity: float | None = None
    roof_share: float | None = None
    bound: Bound | None = None


class FamilyRow(msgspec.Struct, frozen=True, kw_only=True):
    """A family in all cases, None where a case has nothing of it."""

    family: str
    cells: tuple[FamilyCell | None, ...]


class KernelRow(msgspec.Struct, frozen=True, kw_only=True):
    """An operator whose longest kernel is not the same in all cases."""

    operator: str
    kernels: tuple[str | None, ...]


class CaseColumn(msgspec.Struct, frozen=True, kw_only=True):
    """What a case is in the comparison: for a sweep `value` is that of the parameter swept."""

    case: str
    phase: str | None
    value: Json = None
    step_us: float | None = None
    device_us_per_step: float | None = None
    busy_share: float | None = None
    throughput: float | None = None
    throughput_unit: str | None = None
    share_of_peak: float | None = None
    share_of_bandwidth: float | None = None


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """Where products with one weight turn from memory-bound to compute-bound, in rows of the other factor.

    `weight_shape` is [K, N]. `bounds` are those at the cases' values. `predicted` is where the two roofs meet;
    `measured` where the line of the times that grow with the rows meets the time that does not yet.
    """

    weight_shape: tuple[int, int]
    rows: tuple[int, ...]
    us_per_call: tuple[float, ...]
    bounds: tuple[Bound | None, ...]
    predicted: float | None = None
    measured: float | None = None


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """The cases of a report side by side, all tuples in the order of `columns`."""

    kind: Literal["sweep", "phases", "cases"]
    parameter: str | None  # the one that is swept
    columns: tuple[CaseColumn, ...]
    families: tuple[FamilyRow, ...]
    kernels: tuple[KernelRow, ...]
    turns: tuple[Turn, ...] = ()
    # How the peak grows over a sweep of batch or seq_len, with what other sizes would take.
    peaks: tuple[PeakScaling, ...] = ()


def compare_cases(cases: Sequence[CaseAnalysis]) -> Comparison | None:
    """Put cases with device time side by side; None where there are fewer than two.

    A sweep, cases that differ in one number, is put in the order of that number.
    """
    compared = [case for case in cases if any(row.device_us_per_step for row in case.operators.items)]
    if len(compared) < 2:
        return None
    parameter = swept_parameter(compared)
    if parameter is not None:
        compared.sort(key=lambda case: float(case.parameters[parameter]))
    phases = {case.phase for case in compared}
    return Comparison(
        kind="sweep" if parameter else "phases" if len(phases) == len(compared) else "cases",
        parameter=parameter,
        columns=tuple(_column(case, parameter) for case in compared),
        families=_families(compared),
        kernels=_changed_kernels(compared),
        turns=_turns(compared) if parameter else (),
        peaks=fit_peaks(compared),
    )


def swept_parameter(cases: Sequence[CaseAnalysis]) -> str | None:
    """Return the one parameter in which all `cases` differ, a number, all else and the phase being equal."""
    first = cases[0]
    names = set(first.parameters)
    if any(set(case.parameters) != names or case.phase != first.phase for case in cases):
        return None
    differing = [name for name in names if any(case.parameters[name] != first.parameters[name] for case in cases)]
    if len(differing) != 1:
        return None
    values = [case.parameters[differing[0]] for case in cases]
    is_numeric = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    return differing[0] if is_numeric and len(set(values)) == len(values) else None


def _column(case: CaseAnalysis, parameter: str | None) -> CaseColumn:
    timing, device_time, utilisation = case.timing, case.device_time, case.utilisation
    throughput = timing.throughput if timing else None
    return CaseColumn(
        case=case.name,
        phase=case.phase,
        value=case.parameters[parameter] if parameter else None,
        step_us=timing.step_us if timing else None,
        device_us_per_step=device_time.activity_sum_us_per_step if device_time else None,
        busy_share=device_time.busy_share if device_time else None,
        throughput=throughput.value if throughput else None,
        throughput_unit=throughput.unit if throughput else None,
        share_of_peak=utilisation.share_of_peak if utilisation else None,
        share_of_bandwidth=utilisation.share_of_bandwidth if utilisation else None,
    )


def _families(cases: Sequence[CaseAnalysis]) -> tuple[FamilyRow, ...]:
    names = dict.fromkeys(row.family or UNMODELLED for case in cases for row in case.operators.items if _us(row))
    rows = [FamilyRow(family=name, cells=tuple(_cell(case, name) for case in cases)) for name in names]
    return tuple(sorted(rows, key=lambda row: -sum(cell.share_of_device for cell in row.cells if cell)))


def _us(row: Operator) -> float:
    return row.device_us_per_step or 0.0


def _cell(case: CaseAnalysis, family: str) -> FamilyCell | None:
    rows = [row for row in case.operators.items if (row.family or UNMODELLED) == family and _us(row)]
    device_us = sum(map(_us, rows))
    if not device_us:
        return None
    flops, moved, roof_us = (_total(rows, read) for read in (_flops, _bytes, _roof_us))
    bounds: dict[Bound, float] = {}
    for row in rows:
        if row.bound is not None:
            bounds[row.bound] = bounds.get(row.bound, 0.0) + _us(row)
    bound = max(bounds, key=lambda name: bounds[name], default=None)
    return FamilyCell(
        device_us_per_step=device_us,
        share_of_device=sum(row.share_of_device or 0.0 for row in rows),
        intensity=flops / moved if flops and moved else None,
        roof_share=roof_us / device_us if roof_us else None,
        bound=bound if bound is not None and bounds[bound] >= _MAJORITY * device_us else None,
    )


def _flops(row: Operator) -> float | None:
    return row.flops


def _bytes(row: Operator) -> float | None:
    return row.bytes


def _roof_us(row: Operator) -> float | None:
    return row.roof_us


def _total(rows: Sequence[Operator], read: Callable[[Operator], float | None]) -> float | None:
    """Add a figure per call over the calls of a step; None where one of `rows` lacks it."""
    values = [(read(row), row.working_calls_per_step) for row in rows]
    known = [value * calls for value, calls in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _changed_kernels(cases: Sequence[CaseAnalysis]) -> tuple[KernelRow, ...]:
    """Return the operators whose heaviest kernel differs, those with most device time first."""
    heaviest: list[dict[str, Operator]] = []
    for case in cases:
        by_name: dict[str, Operator] = {}
        for row in case.operators.items:  # heaviest first
            if _us(row) and row.kernels:
                by_name.setdefault(row.name, row)
        heaviest.append(by_name)
    weight: dict[str, float] = {}
    for by_name in heaviest:
        for name, row in by_name.items():
            weight[name] = weight.get(name, 0.0) + (row.share_of_device or 0.0)
    rows = []
    for name in sorted(weight, key=lambda name: -weight[name]):
        kernels = tuple(by_name[name].kernels[0] if name in by_name else None for by_name in heaviest)
        if len({kernel for kernel in kernels if kernel is not None}) > 1:
            rows.append(KernelRow(operator=name, kernels=kernels))
    return tuple(rows[:MOST_KERNEL_ROWS])


def _turns(cases: Sequence[CaseAnalysis]) -> tuple[Turn, ...]:
    """Follow every weight that occurs in all cases of a sweep, the heaviest first."""
    by_case = [_products_by_weight(case) for case in cases]
    shared = [weight for weight in by_case[-1] if all(weight in products for products in by_case)]
    shared.sort(key=lambda weight: -_us(by_case[-1][weight]))
    turns = [_turn(weight, [products[weight] for products in by_case]) for weight in shared]
    return tuple(turn for turn in turns if turn is not None)[:MOST_TURNS]


def _products_by_weight(case: CaseAnalysis) -> dict[tuple[int, int], Operator]:
    found: dict[tuple[int, int], Operator] = {}
    for row in case.operators.items:
        weight = _factors(row)
        if row.family == _PRODUCTS and _us(row) and weight is not None:
            found.setdefault(weight[1], row)
    return found


def _factors(row: Operator) -> tuple[int, tuple[int, int]] | None:
    """Return the rows of a product's first factor, and the shape [K, N] of its second one."""
    matrices = [shape for shape in row.input_shapes or () if len(shape) == 2]
    if len(matrices) < 2:
        return None
    (num_rows, inner), (other_inner, columns) = matrices[-2:]
    return (num_rows, (inner, columns)) if inner == other_inner else None


def _turn(weight: tuple[int, int], products: Sequence[Operator]) -> Turn | None:
    rows = [found[0] for product in products if (found := _factors(product)) is not None]
    if len(rows) != len(products) or len(set(rows)) < 2:
        return None
    times = [product.device_us_per_call or 0.0 for product in products]
    return Turn(
        weight_shape=weight,
        rows=tuple(rows),
        us_per_call=tuple(times),
        bounds=tuple(product.bound for product in products),
        predicted=_predicted(weight, products[0]),
        measured=_measured(rows, times),
    )


def _predicted(weight: tuple[int, int], product: Operator) -> float | None:
    """Solve ``2 M K N / peak = item (M K + K N + M N) / bandwidth`` for M, the number of rows.

    The ratio of the ceilings is read off a placed product: its operations over those of its time at the roof.
    """
    ridge = product.ridge
    if ridge is None or not product.bytes or not product.flops:
        return None
    inner, columns = weight
    num_rows = product.flops / (2.0 * inner * columns)
    item = product.bytes / (num_rows * inner + inner * columns + num_rows * columns)
    per_row = 2.0 * inner * columns / ridge - item * (inner + columns)
    return item * inner * columns / per_row if per_row > 0 else None


def _measured(rows: Sequence[int], times: Sequence[float]) -> float | None:
    """Return where the proportional part of the times meets their level part; None where they do not grow.

    The level is the median of the times within a half of the shortest one; the growing part is proportional to the
    rows, through the last time.
    """
    level = statistics.median(time for time in times if time <= 1.5 * min(times))
    return rows[-1] * level / times[-1] if times[-1] > 1.5 * level else None
