from __future__ import annotations

import csv
import io

import msgspec

from reportgen.analysis.model import Cut, Operator, Source
from reportgen.report.operator_table import encode_operators
from reportgen.report.view.operators import _roof_cells
from tests import report_builder as build
from tests.case_builder import host_bound_case

MM = Operator(
    name="aten::mm",
    input_shapes=((512, 768), (768, 768), ()),
    input_types=("c10::Half", "c10::Half", "Scalar"),
    input_strides=None,
    module=None,
    direction="forward",
    calls_per_step=2.5,
    device_us_per_step=None,
    share_of_device=None,
    host_us_per_step=12.25,
    kernels=("void k<1, 2>(int)", "copy"),
    source=Source(file="a.py", line=3, line_kind="def", function="forward", user=True),
)
HOSTILE = Operator(
    name="=HYPERLINK(1)",
    input_shapes=None,
    input_types=None,
    input_strides=None,
    module='a, "b"\nc',
    direction=None,
    calls_per_step=1.0,
    device_us_per_step=-1.5,
    share_of_device=0.25,
    host_us_per_step=0.0,
)


def rows() -> list[dict[str, str]]:
    case = host_bound_case(operators=Cut(items=(MM, HOSTILE), total=2))
    return list(csv.DictReader(io.StringIO(encode_operators(build.report([case])).decode("utf-8"), newline="")))


def test_a_row_has_the_operators_own_figures() -> None:
    row = rows()[0]
    assert (row["case"], row["name"], row["calls_per_step"]) == ("prefill", "aten::mm", "2.5")
    assert row["input_shapes"] == "512x768 768x768 scalar"
    assert row["input_types"] == "c10::Half c10::Half Scalar"
    assert row["kernels"] == "void k<1, 2>(int); copy"
    assert row["source"] == "forward (def at a.py:3)"


def test_what_was_not_recorded_is_empty_and_nothing_is_0() -> None:
    row, other = rows()
    assert row["device_us_per_step"] == row["input_strides"] == row["flops"] == ""
    assert other["host_us_per_step"] == "0.0"
    assert other["source"] == ""


def test_a_name_is_never_a_formula_and_a_figure_stays_one() -> None:
    row = rows()[1]
    assert row["name"] == "'=HYPERLINK(1)"
    assert row["module"] == 'a, "b"\nc'
    assert row["device_us_per_step"] == "-1.5"


def test_the_rate_beside_a_roof_is_the_one_that_the_roof_is_of() -> None:
    def rate(intensity: float) -> str:
        short = msgspec.structs.replace(
            MM, device_us_per_step=25.0, flops=6.0e8, bytes=3.0e6, bound="latency", roof_share=0.2, ridge=179.0,
            intensity=intensity,
        )  # fmt: skip
        return _roof_cells(short, roofs=True)[0].text.replace("\u00a0", " ")

    # 10 µs a call: 600 million operations and 3 MB are 60 TFLOP/s and 0.3 TB/s.
    assert rate(intensity=200.0) == "60.0 TFLOP/s"
    assert rate(intensity=100.0) == "0.30 TB/s"
