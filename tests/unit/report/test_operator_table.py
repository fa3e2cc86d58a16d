from __future__ import annotations

import csv
import dataclasses
import io

import msgspec

from reportgen.analysis.model import CaseAnalysis, Cut, Operator, Source
from reportgen.report.operator_table import encode_operators
from reportgen.report.view.anchors import find_anchors
from reportgen.report.view.links import Links
from reportgen.report.view.medium import page
from reportgen.report.view.operators import _roof_cells, view_operators
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


def _listed(*device_us: float, **cut: float) -> CaseAnalysis:
    items = tuple(
        msgspec.structs.replace(MM, name=f"aten::op{number}", device_us_per_step=us, share_of_device=us / 200.0)
        for number, us in enumerate(device_us)
    )
    return host_bound_case(operators=msgspec.structs.replace(Cut(items=items, total=len(items)), **cut))


def _rest(case: CaseAnalysis) -> tuple[list[list[str]], str]:
    """Return the cells of name, time and share below the operators on a page, and the note."""
    report = build.report([case])
    medium = dataclasses.replace(page(1), operator_rows=2)
    (view,) = view_operators(report, medium, Links(report, find_anchors(report, medium), ()))
    assert view.operators is not None
    rows = [[row.cells[i].text.replace("\u00a0", " ") for i in (0, 3, 4)] for row in view.operators.rows if row.kind]
    return rows, (view.operators.note or "").replace("\u00a0", " ")


def test_only_shapes_with_device_time_are_counted_below_it() -> None:
    # 200 us of device time: 120 + 50 shown, 20 + 10 left, two shapes without any.
    rows, note = _rest(_listed(120.0, 50.0, 20.0, 10.0, 0.0, 0.0))
    assert rows == [["other, 2 shapes", "30.0", "15.0 %"], ["device time", "200.0", "100 %"]]
    assert "All 6 shapes, 2 of them without device time, are in report.json" in note


def test_time_of_no_operator_is_a_row_of_its_own() -> None:
    rows, _ = _rest(_listed(120.0, 50.0))
    assert rows == [["no operator", "30.0", "15.0 %"], ["device time", "200.0", "100 %"]]


def test_of_shapes_that_were_cut_it_is_not_known_how_many_have_time() -> None:
    rows, _ = _rest(_listed(120.0, 50.0, 20.0, total=9, other_us=10.0))
    assert rows[0] == ["other, at most 7 shapes", "30.0", "15.0 %"]
