"""Tables of regions and of cases side by side, cell by cell."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import msgspec
import pytest

from reportgen.analysis.allocations.scaling import PeakPoint, PeakScaling
from reportgen.analysis.comparison import CaseColumn, Comparison, FamilyCell, FamilyRow, KernelRow, Turn
from reportgen.analysis.model import CaseAnalysis, Cut, Memory, PeakLine, Region, Source, SourceRow, StepRow
from reportgen.findings import evaluate
from reportgen.findings.rule import Context, Verdict
from reportgen.findings.rules import RULES
from reportgen.recording import Environment
from reportgen.report.documents import write_documents
from reportgen.report.html import render_html
from reportgen.report.view.anchors import find_anchors
from reportgen.report.view.comparison import view_comparison
from reportgen.report.view.document import view
from reportgen.report.view.drawings import Drawings
from reportgen.report.view.gains import step_before
from reportgen.report.view.links import Links
from reportgen.report.view.medium import SCREEN, page
from reportgen.report.view.memory_tables import table_of_lines
from reportgen.report.view.operators import told_apart
from reportgen.report.view.regions import view_regions
from reportgen.report.view.shapes import view_shapes
from reportgen.report.view.sources import view_sources
from reportgen.report.view.tables import Table
from tests import report_builder as build
from tests.case_builder import host_bound_case, operator


def texts(table: Table) -> list[list[str]]:
    return [[cell.text.replace("\u00a0", " ") for cell in row.cells] for row in table.rows]


def region(name: str, host_us: float, device_us: float | None, share: float | None) -> Region:
    return Region(
        name=name, count_per_step=1.0, host_us_per_step=host_us, device_us_per_step=device_us, share_of_device=share
    )


def test_regions_are_listed_as_they_nest_and_are_never_added_up() -> None:
    regions = Cut(items=(region("forward", 400.0, 150.0, 0.75), region("head", 200.0, 50.0, 0.25)), total=3)
    report = build.report([host_bound_case(regions=regions)])
    (table,) = view_regions(report, SCREEN)

    assert [column.label for column in table.columns][2:] == ["Device, ms a step", "Share of device", "Host, ms a step"]
    assert texts(table) == [["forward", "1", "0.150", "75.0 %", "0.400"], ["head", "1", "0.050", "25.0 %", "0.200"]]
    assert not any(row.kind for row in table.rows)
    assert table.note is not None
    assert table.note.endswith("1\u00a0more region in the HTML or in report.json.")
    assert "<h3>Regions</h3>" in render_html(report)


def test_without_a_device_regions_have_host_time_alone() -> None:
    regions = Cut(items=(region("forward", 400.0, None, None),), total=1)
    (table,) = view_regions(build.report([host_bound_case(regions=regions)]), SCREEN)
    assert texts(table) == [["forward", "1", "0.400"]]


def test_a_step_without_regions_has_no_heading_for_them() -> None:
    assert "<h3>Regions</h3>" not in render_html(build.report())


def sweep(num_cases: int) -> Comparison:
    cell = FamilyCell(device_us_per_step=80.0, share_of_device=0.8, roof_share=0.5, bound="memory")
    peak = PeakPoint(case="batch-1", value=1, peak_bytes=2**30, predicted_bytes=2**30)
    return Comparison(
        kind="sweep",
        parameter="batch",
        columns=tuple(
            CaseColumn(case=f"batch-{2**number}", phase=None, value=2**number, device_us_per_step=100.0)
            for number in range(num_cases)
        ),
        families=(FamilyRow(family="matrix product", cells=(None, *[cell] * (num_cases - 1))),),
        kernels=(KernelRow(operator="aten::mm", kernels=("gemv", *["gemm"] * (num_cases - 1))),),
        turns=(
            Turn(
                weight_shape=(768, 3072), rows=(1, 2), us_per_call=(2.0, 2.5), bounds=("memory", "compute"),
                predicted=125.0,
            ),
        ),
        peaks=(
            PeakScaling(
                axis="batch", points=(peak,), fixed_bytes=2**29, linear_bytes=2**29, quadratic_bytes=0.0,
                largest_error=0.01, fits_until=250,
            ),
        ),
    )  # fmt: skip


def test_a_sweep_is_shown_by_family_kernel_turn_and_peak() -> None:
    families, kernels, turns, peaks = view_comparison(build.report(comparison=sweep(2)), SCREEN)

    assert [column.label for column in families.columns] == ["Family", "batch 1", "batch 2"]
    assert texts(families) == [
        ["matrix product", "none", "80.0 %"],
        ["of no operator listed", "100 %", "20.0 %"],
        ["device time", "100 %", "100 %"],
    ]
    assert families.rows[0].cells[2].note == "80.0\u00a0µs, memory-bound, 50\u00a0% of the roof"
    assert texts(kernels) == [["mm", "gemv", "gemm"]]
    assert texts(turns) == [
        ["768×3072", "1 to 2", "2.00 µs to 2.50 µs", "memory → compute", "125", "not evaluated"],
    ]
    assert texts(peaks) == [["1", "batch-1", "1.00 GiB", "1.00 GiB"]]
    assert peaks.note is not None
    assert "512 MiB, and 512 MiB a unit of batch" in peaks.note.replace("\u00a0", " ")
    assert "batch 250 is the largest that fits" in peaks.note


def test_families_that_are_cut_are_summed_so_that_the_column_makes_the_device_time() -> None:
    cells = [FamilyCell(device_us_per_step=us, share_of_device=us / 100.0) for us in (40.0, 20.0, 15.0, 10.0, 5.0)]
    names = ("matrix product", "other", "softmax", "copy", "indexing")
    rows = tuple(FamilyRow(family=name, cells=(cell, None)) for name, cell in zip(names, cells, strict=True))
    report = build.report(comparison=msgspec.structs.replace(sweep(2), families=rows))
    families, *_ = view_comparison(report, page(3))

    # 100 us of device time: 40 + 20 + 15 are shown, 10 + 5 of two families and 10 of no operator are not.
    assert texts(families) == [
        ["matrix product", "40.0 %", "none"],
        ["without a model of its work", "20.0 %", "none"],
        ["softmax", "15.0 %", "none"],
        ["other, 2 families and of no operator listed", "25.0 %", "100 %"],
        ["device time", "100 %", "100 %"],
    ]
    assert families.rows[3].cells[1].note == "25.0\u00a0µs"


def test_time_a_call_is_over_the_calls_that_launch_work() -> None:
    def with_addmm(name: str) -> CaseAnalysis:
        # 24 calls hand on to 24 others, which work: 24 us a step are 1 us a call, not a half.
        outer = operator(
            "aten::addmm", calls_per_step=24.0, device_us_per_step=0.0, device_calls_per_step=0.0, share_of_device=0.0
        )
        inner = operator(
            "aten::addmm",
            calls_per_step=24.0,
            device_us_per_step=24.0,
            device_calls_per_step=24.0,
            share_of_device=0.6,
            bound="memory",
        )
        return host_bound_case(name=name, operators=Cut(items=(inner, outer), total=2))  # fmt: skip

    [table] = view_shapes(build.report([with_addmm("one"), with_addmm("two")]), SCREEN).side_by_side
    rows = {row[0]: row[1:] for row in texts(table)}
    assert rows["addmm"] == ["1.00 µs, 60.0 %"] * 2
    # Bounds are of all device time: what has none makes the whole.
    assert rows["Device time bound by memory"] == ["60 %"] * 2
    assert rows["Device time without a bound"] == ["40 %"] * 2


def test_blocks_from_before_the_history_say_so_where_nothing_knows_their_place() -> None:
    lines = tuple(
        PeakLine(source=None, category="unknown", bytes=size, num_blocks=1, before_recording=before)
        for size, before in ((4, True), (2, False))
    )
    known = Source(file="net.py", line=28, line_kind="call", function="forward", user=True)
    memory = Memory(
        peak_allocated_bytes=7, peak_reserved_bytes=None, start_bytes=0, growth_bytes_per_step=None,
        peak_lines=(*lines, PeakLine(source=known, category="activations", bytes=1, num_blocks=1)),
    )  # fmt: skip
    table = table_of_lines(memory, SCREEN)
    assert table is not None
    assert [row.cells[3].text for row in table.rows] == ["before the history began", "not known", "forward"]


def test_functions_sum_to_the_step_that_they_were_seen_in() -> None:
    def function(name: str, device_us: float, host_us: float, waiting_us: float) -> SourceRow:
        return SourceRow(
            file="run.py", line=3, line_kind="def", function=name, device_us_per_step=device_us,
            host_us_per_step=host_us, waiting_us_per_step=waiting_us,
        )  # fmt: skip

    def recorded(number: int, host_us: float) -> StepRow:
        return StepRow(
            index=number, interval_us=None, host_us=host_us, device_us=200.0, activities=10, settling=number == 1,
            outlier=False,
        )  # fmt: skip

    functions = (
        function("attend", 100.0, 600.0, 500.0), function("project", 50.0, 400.0, 200.0),
        function("norm", 20.0, 200.0, 50.0), function("head", 10.0, 100.0, 0.0),
    )  # fmt: skip
    # The device works 200 us a step; the host took 9 000 us for the settling step, 1 400 and 1 600 us for the others.
    case = host_bound_case(
        sources=Cut(items=functions, total=4), steps=(recorded(1, 9000.0), recorded(2, 1400.0), recorded(3, 1600.0))
    )
    report, medium = build.report([case]), dataclasses.replace(SCREEN, small_rows=2)
    (table,) = view_sources(report, medium, Links(report, find_anchors(report, medium), ()))

    assert [row[:1] + row[2:] for row in texts(table)] == [
        ["attend", "0.100", "0.60", "0.500"],
        ["project", "0.050", "0.40", "0.200"],
        ["other, 2 functions", "0.030", "0.30", "0.050"],
        ["no function of yours", "0.020", "0.20", ""],
        ["the step", "0.200", "1.50", ""],
    ]
    assert "without the settling one" in (table.note or "")


def test_paper_shows_as_many_cases_as_fit_and_counts_the_rest() -> None:
    families, *others = view_comparison(build.report(comparison=sweep(7)), page(7))
    assert len(families.columns) == 1 + 4
    assert families.note == "3\u00a0more cases in the HTML."
    assert not any("another kernel" in table.caption for table in others)


def test_a_report_without_comparison_has_no_such_table() -> None:
    assert view_comparison(build.report(), SCREEN) == ()


def test_the_step_before_a_gain_is_the_step_however_wide_its_bounds() -> None:
    gain = build.gain(1000.0, 900.0, "replay")
    wide = type(gain)(
        at_least_us_per_step=50.0, at_most_us_per_step=300.0, share_of_step=0.1, step_after_us=900.0,
        resource="host", method="replay",
    )  # fmt: skip
    found = build.finding(gain=wide)
    assert step_before(build.report(findings=[found]), found) == 1000.0


def test_a_rule_that_raises_is_shown_as_failed_in_documents_that_are_still_written(tmp_path: Path) -> None:
    def judge(_: Context) -> Verdict:
        raise ZeroDivisionError("share of nothing")

    case = host_bound_case()
    broken = [dataclasses.replace(rule, judge=judge) if rule.id == "sync-point" else rule for rule in RULES]
    findings, rules = evaluate([case], Environment(), rules=broken)
    report = build.report([case], findings, rules=rules)
    html, json = write_documents(report, tmp_path, ("html", "json"))

    assert '"outcome":"failed"' in "".join(json.read_text().split())
    text = html.read_text().replace("<wbr>", "").replace("\u200b", "")
    assert "1 failed" in text.replace("\u00a0", " ")
    assert "ZeroDivisionError: share of nothing" in text
    # The others are judged as ever.
    assert next(finding.rule for finding in findings) == "host-bound"


def test_rows_of_one_operator_and_shape_are_told_apart_by_type_then_by_stride() -> None:
    shapes = ((8, 4), (8, 4))
    copies = [
        operator("aten::copy_", input_shapes=shapes, input_types=kinds, device_us_per_step=us, share_of_device=0.1)
        for kinds, us in ((("float", "c10::BFloat16"), 9.0), (("c10::BFloat16", "float"), 8.0))
    ]
    products = [
        operator("aten::mm", input_shapes=((4, 4), (4, 2)), input_types=("float", "float"), input_strides=strides,
                 device_us_per_step=us, share_of_device=0.1)
        for strides, us in ((((1, 4), (2, 1)), 7.0), (((4, 1), (2, 1)), 6.0))
    ]  # fmt: skip
    alone = operator("aten::add", device_us_per_step=5.0, share_of_device=0.1)
    rows = [*copies, *products, alone]

    assert told_apart(rows) == [
        "float32, bfloat16", "bfloat16, float32", "strides 1×4 · 2×1", "strides 4×1 · 2×1", None
    ]  # fmt: skip
    case = host_bound_case(operators=Cut(items=tuple(rows), total=5))
    page_text = render_html(build.report([case]))
    assert "<small>float32, bfloat16</small>" in page_text
    assert "<small>bfloat16, float32</small>" in page_text


def test_blocks_of_one_line_are_told_apart_by_what_it_called() -> None:
    def line(num_bytes: int, beneath: str | None) -> PeakLine:
        source = Source(file="net.py", line=28, line_kind="call", function="forward", user=True, beneath=beneath)
        return PeakLine(source=source, category="activations", bytes=num_bytes, num_blocks=1)

    memory = Memory(
        peak_allocated_bytes=7, peak_reserved_bytes=None, start_bytes=0, growth_bytes_per_step=None,
        peak_lines=(line(4, "linear.py: forward"), line(2, "cache_utils.py: update"), line(1, None)),
    )  # fmt: skip
    table = table_of_lines(memory, SCREEN)

    assert table is not None
    assert [(row.cells[3].text, row.cells[3].note) for row in table.rows] == [
        ("forward", "net.py:28, through linear.py: forward"),
        ("forward", "net.py:28, through cache_utils.py: update"),
        ("forward", "net.py:28"),
    ]


def test_on_paper_many_cases_stand_in_tables_of_four_and_none_is_left_out() -> None:
    names = [f"case_{i}" for i in range(9)]
    report = build.report([host_bound_case(name=name) for name in names])
    drawn = {medium.kind: view(report, Drawings(), medium).time for medium in (SCREEN, page(len(names)))}

    assert [len(table.columns) for table in drawn["screen"].budget] == [1 + 9 + 1]
    for shown, num_after in ((drawn["print"].budget, 1), (drawn["print"].launching, 0)):
        heads = [[column.label for column in table.columns] for table in shown]
        assert [len(head) for head in heads] == [1 + n + num_after for n in (4, 4, 1)]
        assert [name for head in heads for name in head if name in names] == names
        assert all(len(row.cells) == len(table.columns) for table in shown for row in table.rows)
        assert all(sum(column.width for column in table.columns) == pytest.approx(100, abs=0.1) for table in shown)
