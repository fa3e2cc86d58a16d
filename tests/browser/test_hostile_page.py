"""Names out of traces in a browser: nothing in them runs, asks for anything or breaks the layout."""

from __future__ import annotations

from pathlib import Path

import pytest

from reportgen.analysis.model import Cut, Gap, Gaps, Kernel, Memory, MemoryCurve, Source, SourceRow, Where
from reportgen.analysis.one_step.step_export import Slice, StepExport, Track
from reportgen.findings.model import Evidence
from reportgen.report.html import render_html
from reportgen.report.view.drawings import Drawings
from tests import report_builder as build
from tests.case_builder import host_bound_case, operator

pytestmark = pytest.mark.browser

HOSTILE = {
    "markup": "</script><script>alert(1)</script><img src=http://x.example/p onerror=alert(1)><!--`{{ 7*7 }}`",
    "right-to-left": "\u202eevil\u202c \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "emoji": "\U0001f469\u200d\U0001f4bb kernel \U0001f680",
    "long": "x" * 20_000,
    "empty": "",
}


def hostile_page(name: str) -> str:
    """Return a report in which everything that a trace names has this name."""
    source = Source(file=name, line=1, line_kind="def", function=name, user=True)
    where = Where(trace="trace.json", start_us=10.0, end_us=20.0)
    kernel = Kernel(
        name=name, category="kernel", calls_per_step=1.0, us_per_step=200.0, share_of_device=1.0, mean_us=200.0,
        min_us=200.0, max_us=200.0,
    )  # fmt: skip
    row = operator(name, device_us_per_step=200.0, share_of_device=1.0, kernels=(name,), source=source)
    function = SourceRow(
        file=name, line=1, line_kind="def", function=name, device_us_per_step=200.0, host_us_per_step=200.0
    )
    gap = Gap(duration_us=10.0, step=1, cause="launch", operator=name, source=source, where=where)
    case = host_bound_case(
        name=name,
        parameters={name: name},
        provenance={name: name},
        operators=Cut(items=(row,), total=1),
        kernels=Cut(items=(kernel,), total=1),
        sources=Cut(items=(function,), total=1),
        gaps=Gaps(count_per_step=1.0, us_per_step=10.0, items=(gap,)),
        memory=Memory(
            peak_allocated_bytes=4096,
            peak_reserved_bytes=None,
            start_bytes=0,
            growth_bytes_per_step=0.0,
            curve=MemoryCurve(time_us=(0.0, 50.0), allocated_bytes=(0, 4096)),
        ),
    )
    host = Slice(name=name, start_us=0.0, duration_us=100.0, kind="operator", shapes="2×3", source=source)
    device = Slice(
        name=name, start_us=10.0, duration_us=50.0, kind="activity", part="compute", operator=name, shapes="2×3",
        source=source,
    )  # fmt: skip
    step = StepExport(
        case=name, trace="trace.json", step=1, origin_us=0.0, duration_us=100.0, num_dropped=0,
        tracks=(Track(group="host", name=name, slices=(host,)), Track(group="device", name=name, slices=(device,))),
    )  # fmt: skip
    finding = build.finding(
        case=name, title=name, action=name, mechanism=name, evidence=(Evidence(text=name),), where=(where,)
    )
    return render_html(build.report([case], [finding]), Drawings(), [step])


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
def test_no_name_runs_or_breaks_the_layout(opened, tmp_path: Path, name: str) -> None:
    path = tmp_path / "report.html"
    path.write_text(hostile_page(name), encoding="utf-8")
    # The fixture fails on requests, errors and anything on the console.
    page = opened(path, width=1100)
    dialogs: list[str] = []

    def note(dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", note)
    assert not page.locator("#timeline-1 canvas").is_visible()
    page.locator("#F1 a.show").click()
    page.locator("details[data-explore=curve] summary").click()
    page.locator("#timeline-1 canvas").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#timeline-1 .readout").inner_text() != ""
    page.locator("#find").click()
    page.keyboard.type(name[:8] or "x")
    for width in (1100, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(200)
        assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.evaluate("document.scripts.length") == 3  # two of data, and the page's own
    assert dialogs == []
    assert path.stat().st_size < 250_000
