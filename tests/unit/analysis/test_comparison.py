"""Cases side by side: a sweep over the batch on a device of 100 TFLOP/s and 1 TB/s."""

from __future__ import annotations

from typing import Any

import pytest

from reportgen.analysis.comparison import compare_cases, swept_parameter
from reportgen.analysis.model import CaseAnalysis, Cut, Operator
from tests.case_builder import host_bound_case, operator

INNER, COLUMNS = 1000, 1000


def product(rows: int) -> Operator:
    """Return a product at its roof: 2 MB of weights take 2 us, a row of arithmetic 0.02 us."""
    flops = 2.0 * rows * INNER * COLUMNS
    moved = 2.0 * (rows * INNER + INNER * COLUMNS + rows * COLUMNS)
    compute_us, memory_us = flops / 100e12 * 1e6, moved / 1e12 * 1e6
    return operator(
        "aten::mm",
        input_shapes=((rows, INNER), (INNER, COLUMNS)),
        family="matrix product",
        device_us_per_step=max(compute_us, memory_us),
        share_of_device=1.0,
        flops=flops,
        bytes=moved,
        roof_us=max(compute_us, memory_us),
        roof_share=1.0,
        ridge=100.0,
        bound="compute" if compute_us > memory_us else "memory",
        kernels=("large_tiles" if rows > 64 else "small_tiles",),
    )


def case(batch: int, **fields: Any) -> CaseAnalysis:
    values: dict[str, Any] = {
        "name": f"decode-batch-{batch}",
        "phase": "decode",
        "parameters": {"batch": batch, "width": 1000},
        "operators": Cut(items=(product(batch),), total=1),
    }
    return host_bound_case(**(values | fields))


def test_a_sweep_is_put_in_the_order_of_its_parameter() -> None:
    found = compare_cases([case(64), case(1), case(512)])

    assert found is not None
    assert (found.kind, found.parameter) == ("sweep", "batch")
    assert [column.value for column in found.columns] == [1, 64, 512]


def test_products_turn_where_the_two_roofs_meet() -> None:
    found = compare_cases([case(batch) for batch in (1, 16, 64, 256, 1024)])

    assert found is not None
    (turn,) = found.turns
    assert turn.weight_shape == (1000, 1000)
    assert turn.bounds == ("memory", "memory", "memory", "compute", "compute")
    # 2 M 10^6 / 100 TFLOP/s = 2 (2000 M + 10^6) / 1 TB/s: M (0.02 - 0.004) us = 2 us.
    assert turn.predicted == pytest.approx(125.0)
    # Level 2.06 us (the median of 2.0 to 2.26), 1024 rows in 20.48 us.
    assert turn.measured == pytest.approx(1024 * 2.064 / 20.48)


def test_times_that_never_grow_have_no_measured_turn() -> None:
    found = compare_cases([case(1), case(4)])

    assert found is not None
    assert found.turns[0].measured is None
    assert found.turns[0].predicted == pytest.approx(125.0)


def test_families_have_their_share_intensity_and_bound_in_each_case() -> None:
    found = compare_cases([case(1), case(1024)])

    assert found is not None
    (row,) = found.families
    assert row.family == "matrix product"
    first, last = row.cells
    assert first is not None
    assert last is not None
    assert (first.bound, last.bound) == ("memory", "compute")
    assert first.intensity == pytest.approx(2e6 / (2 * 1_002_000))
    assert last.roof_share == pytest.approx(1.0)


def test_kernels_that_change_are_named() -> None:
    found = compare_cases([case(1), case(1024)])

    assert found is not None
    assert [(row.operator, row.kernels) for row in found.kernels] == [("aten::mm", ("small_tiles", "large_tiles"))]


def test_phases_are_no_sweep() -> None:
    found = compare_cases([case(1, phase="prefill", name="prefill"), case(1)])

    assert found is not None
    assert (found.kind, found.parameter, found.turns) == ("phases", None, ())


def test_cases_that_differ_in_two_parameters_are_no_sweep() -> None:
    assert swept_parameter([case(1), case(2, parameters={"batch": 2, "width": 2000})]) is None
    assert swept_parameter([case(1), case(2, parameters={"batch": "2", "width": 1000})]) is None


def test_one_case_has_nothing_beside_it() -> None:
    assert compare_cases([case(1)]) is None
    assert compare_cases([case(1), case(2, operators=Cut())]) is None
