"""The charts: what they show is what their alternative text says, and both fit the page."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable

import msgspec
import pytest

from reportgen.analysis.model import Budget, BudgetRow, Cut, StepRow, Timing
from reportgen.analysis.steps.timing import summarize_times
from reportgen.formatting import NBSP
from reportgen.recording import Ceilings, PassRecord
from reportgen.report.charts import (
    Chart,
    budget_chart,
    memory_chart,
    roofline_chart,
    step_times_chart,
    timeline_chart,
    whatif,
    whatif_chart,
)
from reportgen.report.charts.canvas import WIDTH, Canvas
from reportgen.report.charts.labels import Labels
from reportgen.report.charts.palette import DARK, LIGHT
from reportgen.report.charts.scale import Scale, tick_labels
from reportgen.report.charts.text import drawable, fit, width_pt
from reportgen.report.view.figures import case_figures
from reportgen.report.view.memory_sentences import sentences_about
from tests import report_builder
from tests.case_builder import budget, host_bound_case, operator
from tests.chart_cases import FIXES, H200, MEMORY, PRODUCT, TIMELINE, TIMING, decode, prefill, times

SVG = "{http://www.w3.org/2000/svg}"


def drawn(chart: Chart | None) -> Chart:
    assert chart is not None
    return chart


def every_chart() -> dict[str, Chart]:
    full = prefill(timing=TIMING, memory=MEMORY, timeline=TIMELINE, operators=Cut(items=(PRODUCT,), total=1))
    charts = (
        budget_chart([full, decode()]),
        step_times_chart([full]),
        timeline_chart(full),
        memory_chart(full),
        roofline_chart([full], [H200]),
        whatif_chart(full, FIXES, works_after_us=660.0),
    )
    return {chart.name: chart for chart in map(drawn, charts)}


CHARTS = every_chart()
FIGURES = {
    "budget": ("6.60", "1.30", "19.7", "5.30", "80.3", "1.29", "0.01", "3.75", "45.0", "0.58", "44.4", "98.7", "37.00"),
    "step-times": ("6.60", "6.00 to 7.30", "n = 3", "10.3", "21.7"),
    "timeline": ("1.00", "90.0", "20.0", "60.0"),
    "memory": ("294", "363", "69.0", "50.0", "237", "414"),
    "roofline": ("4.30", "799", "426", "92.8", "304"),
    "whatif": ("6.60", "1.30", "5.30", "1.54", "1.18", "0.36", "0.66"),
}


@pytest.mark.parametrize("name", FIGURES)
def test_alternative_text_holds_every_figure(name: str) -> None:
    missing = [figure for figure in FIGURES[name] if figure not in CHARTS[name].alt]
    assert missing == []


def test_every_figure_that_is_drawn_is_in_the_alternative_text(monkeypatch: pytest.MonkeyPatch) -> None:
    written: dict[Canvas, list[str]] = {}

    def record(canvas: Canvas, x: float, y: float, text: str, **options: object) -> None:
        written.setdefault(canvas, []).append(text)

    monkeypatch.setattr(Canvas, "text", record)
    charts = every_chart()
    for chart, texts in zip(charts.values(), written.values(), strict=True):
        labels = [text for text in texts if not re.fullmatch(r"[\d.\s]+", text)]  # the others are ticks
        figures = {figure for text in labels for figure in re.findall(r"(?<![\w.])\d+(?:\.\d+)?", text)}
        assert figures
        assert {figure for figure in figures if figure not in chart.alt} == set()


@pytest.mark.parametrize("name", CHARTS)
def test_the_chart_for_print_names_the_font_that_the_document_brings(name: str) -> None:
    texts = [node for node in ET.fromstring(CHARTS[name].print_svg).iter() if node.tag.endswith("}text")]
    assert texts
    assert all(node.attrib["font-family"] == "'Report Sans'" for node in texts)


@pytest.mark.parametrize("name", FIGURES)
def test_svg_is_well_formed_and_of_the_size_it_claims(name: str) -> None:
    chart = CHARTS[name]
    for svg in (chart.light_svg, chart.dark_svg):
        root = ET.fromstring(svg)
        assert float(root.attrib["width"].removesuffix("pt")) * 25.4 / 72 == pytest.approx(170.0, abs=0.01)
        assert float(root.attrib["height"].removesuffix("pt")) * 25.4 / 72 == pytest.approx(chart.height_mm, abs=0.01)
        assert not list(root.iter(f"{SVG}text"))


@pytest.mark.parametrize("name", FIGURES)
def test_path_data_has_two_decimals_and_glyphs_keep_their_scale(name: str) -> None:
    root = ET.fromstring(CHARTS[name].light_svg)
    data = [path.get("d", "") for path in root.iter(f"{SVG}path")]
    assert data
    assert not [piece for piece in data if re.search(r"\.\d{3}", piece) or "transform" in piece]
    scales = set(re.findall(r"scale\(([\d.]+)", CHARTS[name].light_svg))
    assert "0.015625" in scales  # 1/64: a glyph is drawn in 64ths of its hundredth


@pytest.mark.parametrize("name", FIGURES)
def test_dark_page_has_its_own_colours_and_no_code_is_left(name: str) -> None:
    chart = CHARTS[name]
    assert LIGHT.ink in chart.light_svg
    assert DARK.ink in chart.dark_svg
    assert LIGHT.ink not in chart.dark_svg.replace(DARK.ink, "")
    assert "#c0de" not in chart.light_svg + chart.dark_svg


def test_charts_are_equal_for_equal_input() -> None:
    again = every_chart()
    assert again == CHARTS
    for name, chart in CHARTS.items():
        assert (chart.light_svg, chart.dark_svg, chart.print_svg) == (
            again[name].light_svg,
            again[name].dark_svg,
            again[name].print_svg,
        )


def test_nothing_to_draw_is_none() -> None:
    bare = host_bound_case(budget=None, timing=None)
    assert budget_chart([bare]) is None
    assert step_times_chart([bare]) is None
    assert timeline_chart(bare) is None
    assert memory_chart(bare) is None
    assert roofline_chart([prefill()], [H200]) is None
    assert roofline_chart([prefill(operators=Cut(items=(PRODUCT,), total=1))], []) is None
    assert whatif_chart(prefill(), ()) is None


def test_caption_states_what_the_bars_show() -> None:
    conclusion = CHARTS["budget"].caption.conclusion.replace(NBSP, " ")
    assert (
        conclusion == "The device waits through 80.3 % of prefill (launch 56.8 %) and 98.7 % of decode (build 82.2 %)."
    )


def test_trace_without_timing_says_profiled_and_gives_the_interval() -> None:
    rows = (
        ("compute", 4000.0, 4000.0, 4000.0),
        ("launch", 4000.0, 3000.0, 5000.0),
        ("profiler", 2000.0, 1000.0, 3000.0),
    )
    parts = tuple(BudgetRow(name=name, us_per_step=us, low_us=low, high_us=high) for name, us, low, high in rows)  # type: ignore[arg-type]
    traced = prefill(budget=Budget(basis="trace", step_us=10_000.0, parts=parts))
    alt = drawn(budget_chart([traced])).alt.replace(NBSP, " ")
    assert "step, profiled 10.0 ms" in alt
    assert "profiler 2.00 ms (1.00 to 3.00)" in alt


def test_host_works_where_there_is_no_device() -> None:
    chart = drawn(budget_chart([prefill(device_kind="host")]))
    assert "the host works 1.30" in chart.alt
    assert chart.caption.conclusion.startswith("The host waits through")


@pytest.mark.parametrize("num_cases", [1, 2, 3, 6])
def test_budget_of_any_number_of_cases(num_cases: int) -> None:
    chart = drawn(budget_chart([prefill(name=f"case {index}") for index in range(num_cases)]))
    assert chart.alt.count("step 6.60") == num_cases
    assert 15 < chart.height_mm / num_cases < 30


def test_case_that_only_works_or_only_waits() -> None:
    works = drawn(budget_chart([prefill(budget=budget(1000.0, compute=1000, launch=0))]))
    waits = drawn(budget_chart([prefill(budget=budget(1000.0, compute=0, launch=1000))]))
    assert "works through 100" in works.caption.conclusion
    assert "waits through 100" in waits.caption.conclusion


def test_names_from_outside_are_drawn_whatever_they_hold() -> None:
    name = "$x_1$ <b>&\n😀 العربية " + "n" * 300
    chart = drawn(budget_chart([prefill(name=name)]))
    ET.fromstring(chart.light_svg)
    assert "<b>" not in chart.light_svg


def test_step_times_far_out_are_counted_at_the_edge() -> None:
    timing = Timing(step_us=100.0, mode="drained", basis="unprofiled", drained=times(100.0, 99.0, 100.0, 101.0, 900.0))
    assert "1 beyond the axis" in drawn(step_times_chart([prefill(timing=timing)])).alt


def drawn_svg(draw: Callable[[Canvas], None], *, as_paths: bool = False) -> ET.Element:
    canvas = Canvas(100.0, LIGHT)
    draw(canvas)
    return ET.fromstring(canvas.svg(as_paths=as_paths))


def test_columns_that_touch_are_one_outline() -> None:
    columns = [(0.0, 10.0, 5.0, 10.0), (5.0, 15.0, 5.0, 5.0), (20.0, 0.0, 1.0, 20.0)]
    root = drawn_svg(lambda canvas: canvas.columns(columns, "#000000"))
    (drawn,) = [node.attrib["d"] for node in root.iter(f"{SVG}path")]
    outlines = [
        [tuple(map(float, point.split())) for point in outline.replace("z", "").split("L")]
        for outline in drawn.split("M")[1:]
    ]
    assert outlines == [
        [(0, 20), (0, 10), (5, 10), (5, 15), (10, 15), (10, 20)],
        [(20, 20), (20, 0), (21, 0), (21, 20)],
    ]


def test_label_takes_the_first_free_place() -> None:
    canvas = Canvas(100.0, LIGHT)
    labels = Labels(canvas, left=0.0, bottom=100.0)
    assert labels.place([(50.0, 50.0, "left")], "first")
    assert not labels.place([(60.0, 52.0, "left")], "second")
    assert labels.place([(60.0, 52.0, "left"), (60.0, 70.0, "left")], "second")
    assert not labels.place([(WIDTH, 20.0, "left")], "outside")


def test_widths_are_those_of_the_font() -> None:
    # Liberation Sans has Arial's widths: a figure is 1139 of 2048 units wide, an m 1706.
    assert width_pt("0000000000", 8.0) == pytest.approx(10 * 8 * 1139 / 2048, abs=0.1)
    assert width_pt("m", 100.0) == pytest.approx(100 * 1706 / 2048, abs=1.0)


def test_long_text_is_cut_in_its_middle_until_it_fits() -> None:
    shown = fit("torch.nn.functional.scaled_dot_product_attention", 100.0, 8.0)
    assert width_pt(shown, 8.0) <= 100.0
    assert shown.startswith("torch")
    assert shown.endswith("ion")


def test_characters_without_a_glyph_become_boxes() -> None:
    assert drawable("a😀b") == "a□b"


def test_ticks_are_round_and_told_apart() -> None:
    assert Scale(low=0.0, high=6.6, start=0.0, end=100.0).ticks(7) == [0, 1, 2, 3, 4, 5, 6]
    assert Scale(low=0.05, high=300.0, start=0.0, end=100.0, log=True).ticks() == [0.1, 1.0, 10.0, 100.0]
    assert tick_labels([0.0, 0.5, 1.0]) == ["0.0", "0.5", "1.0"]
    assert tick_labels([0.01, 1.0, 100.0], log=True) == ["0.01", "1", "100"]


def test_the_roof_drawn_is_that_of_the_arithmetic_not_of_the_longest_operator() -> None:
    # Adding in float32 takes longer than the product in bfloat16 does a thousand times the arithmetic in.
    add = operator(
        "aten::add", device_us_per_step=900.0, share_of_device=0.9, flops=1e6, bytes=1e7, ceiling="float32", roof_us=1.0
    )
    product = operator(
        "aten::mm", device_us_per_step=100.0, share_of_device=0.1, flops=1e9, bytes=1e6, ceiling="bfloat16", roof_us=1.0
    )
    rates = {"float32": 50e12, "bfloat16": 800e12}
    device = msgspec.structs.replace(
        H200, ceilings=Ceilings(copy_bytes_per_s=4e12, matmul_flops_per_s=rates, method="measured")
    )
    chart = drawn(roofline_chart([prefill(operators=Cut(items=(add, product), total=2))], [device]))

    assert f"800{NBSP}TFLOP/s (bfloat16 product)" in chart.alt


def test_steps_that_take_no_time_have_no_chart() -> None:
    timing = Timing(step_us=0.0, mode="pipelined", basis="trace")
    still = StepRow(index=0, interval_us=0.0, host_us=0.0, device_us=0.0, activities=1, settling=False, outlier=False)
    steps = tuple(msgspec.structs.replace(still, index=index) for index in range(3))
    assert step_times_chart([prefill(timing=timing, steps=steps)]) is None


def test_a_range_of_few_steps_is_from_the_shortest_to_the_longest() -> None:
    few = summarize_times([500.0, *[1000.0] * 17, 3000.0])
    many = summarize_times([500.0, *[1000.0] * 18, 3000.0])
    told = {}
    for name, pipelined, drained in (("few", few, None), ("many", many, None), ("both", few, many)):
        timing = Timing(step_us=1000.0, mode="pipelined", basis="unprofiled", pipelined=pipelined, drained=drained)
        told[name] = drawn(step_times_chart([prefill(timing=timing)]))

    # Of 20 the percentiles are 0.975 and 1.1 ms, by the rule of the places between.
    assert f"take 0.50 to 3.00{NBSP}ms" in told["few"].caption.conclusion
    assert f"take 0.98 to 1.10{NBSP}ms" in told["many"].caption.conclusion
    ends = {name: chart.caption.reading.partition("the range ")[2].split(".")[0] for name, chart in told.items()}
    assert ends == {
        "few": "from the shortest to the longest",
        "many": "from the 5th to the 95th percentile",
        "both": "from the 5th to the 95th percentile, of fewer than 20 steps from the shortest to the longest",
    }


def test_charts_name_the_step_as_the_tables_do() -> None:
    # Step 23 of the program is the eighth that was recorded.
    timeline = msgspec.structs.replace(TIMELINE, step=23, ordinal=8)
    assert drawn(timeline_chart(prefill(timeline=timeline))).caption.reading.startswith("Step 8 of the")
    assert drawn(timeline_chart(prefill(timeline=timeline))).alt.startswith("Step 8 of prefill")

    assert MEMORY.curve is not None
    curve = msgspec.structs.replace(MEMORY.curve, ordinal=1, num_steps=3)
    chart = drawn(memory_chart(prefill(memory=msgspec.structs.replace(MEMORY, curve=curve))))
    assert "It is step 1 of 3, which settles." in chart.caption.reading


def test_a_mark_is_of_the_calls_that_launch_work() -> None:
    # 2 us a step of two calls, one of which hands on to the other: 2 GFLOP in 2 us are 1 000 TFLOP/s, not 2 000.
    product = operator(
        "aten::mm", calls_per_step=2.0, device_calls_per_step=1.0, device_us_per_step=2.0, share_of_device=0.1,
        flops=2e9, bytes=1e6, ceiling="bfloat16", roof_us=1.0,
    )  # fmt: skip
    chart = drawn(roofline_chart([prefill(operators=Cut(items=(product,), total=1))], [H200]))
    assert "1 000" in chart.alt.replace(NBSP, " ").replace("\u202f", " ")


def test_a_peak_names_its_pass_and_why_page_one_has_another() -> None:
    passes = (PassRecord(name="detail", outcome="done"),)
    own = msgspec.structs.replace(MEMORY, basis="unprofiled", peak_allocated_bytes=360 * 2**20)
    chart = drawn(memory_chart(prefill(memory=own, passes=passes)))
    assert chart.caption.conclusion == (
        f"prefill peaks at 363{NBSP}MiB in the detail pass, 69.0{NBSP}MiB above the step’s start, where mm adds "
        f"50.0{NBSP}MiB."
    )
    assert f"The 360{NBSP}MiB on page one are the timing pass’s." in chart.caption.reading
    # A trace from elsewhere is one pass, and page one has the same figure.
    foreign = drawn(memory_chart(prefill(memory=MEMORY)))
    assert "pass" not in foreign.caption.conclusion + foreign.caption.reading


def test_a_hosts_peak_is_over_what_was_there_before_the_recording() -> None:
    on_host = msgspec.structs.replace(MEMORY, since_recording=True)
    caption = drawn(memory_chart(prefill(memory=on_host))).caption

    assert caption.conclusion == f"prefill peaks at 363{NBSP}MiB above what was there before the recording."
    report = report_builder.report([prefill(memory=on_host)])
    assert case_figures(report, report.cases[0])[-1].note == "above what was there before"
    assert dict(sentences_about(on_host))["Peak:"].startswith(f"363{NBSP}MiB allocated since the recording began")


def test_the_roofline_says_how_many_operators_have_no_mark() -> None:
    copy = operator("aten::cat", device_us_per_step=20.0, share_of_device=0.02, flops=0.0, bytes=1e6)
    small = operator("aten::add", device_us_per_step=0.5, share_of_device=0.01)
    rows = (PRODUCT, copy, small)
    chart = drawn(roofline_chart([prefill(operators=Cut(items=rows, total=3))], [H200]))
    reading = chart.caption.reading.replace(NBSP, " ")

    assert reading.startswith("1 of 2 operator shapes of 1 µs a step and more")
    assert reading.endswith("The others do next to no arithmetic, or none is known.")


def test_what_the_device_works_of_the_rest_is_written_where_there_is_room_for_it() -> None:
    def written(step_after_us: float) -> str:
        fix = whatif.Fix(name="pad", step_after_us=step_after_us, method="replay", id="F1")
        chart = drawn(whatif_chart(prefill(), [fix], works_after_us=600.0))
        assert "the device works 0.60 of it" in chart.alt.replace(NBSP, " ")
        return " ".join(node.text or "" for node in ET.fromstring(chart.print_svg).iter(f"{SVG}text"))

    assert "the device works 0.60 of it" in written(1000.0)
    assert "of it" not in written(6500.0)
