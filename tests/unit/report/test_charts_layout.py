"""Where things lie on a chart: parts as wide as their shares, labels that meet nothing."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from reportgen.analysis.model import Cut
from reportgen.report.charts import (
    Chart,
    budget_chart,
    memory_chart,
    roofline_chart,
    step_times_chart,
    timeline_chart,
    whatif_chart,
)
from reportgen.report.charts.budget_bar import LEAST_WIDTH, read_bar
from reportgen.report.charts.canvas import TEXT, WIDTH, Canvas
from reportgen.report.charts.text import width_pt
from reportgen.report.charts.whatif import Fix
from tests.case_builder import budget, host_bound_case
from tests.chart_cases import FIXES, H200, MEMORY, PRODUCT, TIMELINE, TIMING, prefill


def test_parts_are_as_wide_as_their_shares() -> None:
    bar = read_bar(host_bound_case(budget=budget(1000.0, compute=200, launch=600, launch_call=150, turnaround=50)))
    assert bar is not None
    segments = list(bar.segments(40.0, 400.0))
    assert [segment.width for segment in segments] == pytest.approx([80.0, 240.0, 60.0, 20.0])
    assert [segment.left for segment in segments] == pytest.approx([40.0, 120.0, 360.0, 420.0])


def test_small_part_stays_visible_and_the_bar_keeps_its_length() -> None:
    bar = read_bar(host_bound_case(budget=budget(10_000.0, compute=9980, launch=20)))
    assert bar is not None
    widths = [segment.width for segment in bar.segments(0.0, 400.0)]
    assert widths[1] == LEAST_WIDTH
    assert sum(widths) == pytest.approx(400.0)


def test_label_stands_inside_from_a_sixth_in_two_lines_from_a_ninth_else_in_the_key() -> None:
    bar = read_bar(host_bound_case(budget=budget(10_000.0, compute=7000, launch=1700, stall=1200, sync=100)))
    assert bar is not None
    lines = {segment.part.name: len(segment.lines) for segment in bar.segments(0.0, 500.0)}
    assert lines == {"compute": 1, "launch": 1, "stall": 2, "sync": 0}


def test_parts_that_round_to_nothing_are_left_out() -> None:
    bar = read_bar(host_bound_case(budget=budget(10_000.0, compute=9999.0, copy=1.0, sync=0.0)))
    assert bar is not None
    assert [part.name for part in bar.parts] == ["compute"]


class _Texts:
    """Record the extent of every text that charts write."""

    def __init__(self) -> None:
        self.boxes: list[tuple[str, float, float, float, float]] = []

    def __call__(self, canvas: Canvas, x: float, y: float, text: str, **options: object) -> None:
        if options.get("angle"):
            return
        size = options.get("size", TEXT)
        assert isinstance(size, float)
        wide = width_pt(text, size, bold=bool(options.get("bold")))
        left = x - {"left": 0.0, "center": wide / 2, "right": wide}[str(options.get("align", "left"))]
        # Capitals and figures: 0.72 of the size, centred on y.
        self.boxes.append((text, left, y - 0.36 * size, left + wide, y + 0.36 * size))


@pytest.fixture
def texts(monkeypatch: pytest.MonkeyPatch) -> _Texts:
    recorder = _Texts()
    monkeypatch.setattr(Canvas, "text", lambda canvas, x, y, text, **options: recorder(canvas, x, y, text, **options))
    return recorder


def assert_apart(texts: _Texts, height_pt: float) -> None:
    for (text, left, top, right, bottom), (other, left2, top2, right2, bottom2) in itertools.combinations(
        texts.boxes, 2
    ):
        meets = left < right2 and left2 < right and top < bottom2 and top2 < bottom
        assert not meets, f"{text!r} meets {other!r}"
    for text, left, top, right, bottom in texts.boxes:
        inside = left >= -0.1 and top >= -0.1 and right <= WIDTH + 0.1 and bottom <= height_pt + 0.1
        assert inside, f"{text!r} leaves the sheet"


@pytest.mark.parametrize(
    "parts",
    [
        {"compute": 1290, "copy": 10, "launch": 3750, "launch_call": 980, "turnaround": 520, "sync": 50},
        {"compute": 6500, "launch": 100},
        {"launch": 6600},
        {"compute": 600, "communication": 600, "copy": 600, "launch": 600, "launch_call": 600, "turnaround": 600}
        | {
            "sync": 600,
            "input": 600,
            "allocator": 600,
            "build": 600,
            "stall": 600,
            "profiler": 600,
            "unexplained": 600,
        },
    ],
)
def test_budget_labels_do_not_meet(texts: _Texts, parts: dict[str, float]) -> None:
    case = host_bound_case(name="a case of a long name", budget=budget(float(sum(parts.values())), **parts))
    chart = budget_chart([case, case])
    assert chart is not None
    assert_apart(texts, chart.height_mm / 25.4 * 72)


@pytest.mark.parametrize("gain_us", [30.0, 3000.0])
def test_a_fix_is_labelled_beside_its_bar_where_the_bar_is_small(texts: _Texts, gain_us: float) -> None:
    bars: list[tuple[float, float]] = []
    box = Canvas.box

    def record(canvas: Canvas, place: tuple[float, float, float, float], *given: object, **options: object) -> None:
        bars.append((place[0], place[0] + place[2]))
        box(canvas, place, *given, **options)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Canvas, "box", record)
        fix = Fix(name="fuse", step_after_us=6600.0 - gain_us, method="replay", id="F1")
        assert whatif_chart(prefill(), [fix], works_after_us=None) is not None
    (label,) = [place for text, *place in texts.boxes if "replayed" in text and "\N{MINUS SIGN}" in text]
    gain = min(bars, key=lambda bar: bar[1] - bar[0])
    assert label[2] <= gain[0] or label[0] >= gain[1]


FULL = prefill(timing=TIMING, memory=MEMORY, timeline=TIMELINE, operators=Cut(items=(PRODUCT,), total=1))


@pytest.mark.parametrize(
    "draw",
    [
        lambda: step_times_chart([FULL, FULL]),
        lambda: memory_chart(FULL),
        lambda: timeline_chart(FULL),
        lambda: roofline_chart([FULL], [H200]),
        lambda: whatif_chart(FULL, FIXES, works_after_us=660.0),
    ],
    ids=["step times", "memory", "timeline", "roofline", "whatif"],
)
def test_labels_of_other_charts_do_not_meet(texts: _Texts, draw: Callable[[], Chart | None]) -> None:
    chart = draw()
    assert chart is not None
    assert_apart(texts, chart.height_mm / 25.4 * 72)
