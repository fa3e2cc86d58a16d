from __future__ import annotations

import json
from pathlib import Path

from reportgen.analysis.one_step.step_export import Slice, StepExport, Track
from reportgen.report.documents import write_documents
from reportgen.report.html import render_html
from reportgen.report.json import encode_report
from tests import report_builder as build
from tests.case_builder import host_bound_case


def test_every_format_asked_for_is_written(tmp_path: Path) -> None:
    paths = write_documents(build.report(findings=[build.finding()]), tmp_path, ("html", "pdf", "json"))
    assert [path.name for path in paths] == ["report.html", "report.pdf", "report.json"]
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")


def test_json_holds_null_for_what_is_no_number() -> None:
    case = host_bound_case(device_time=None)
    content = json.loads(encode_report(build.report([case], [build.finding(gain=build.gain(float("nan"), 1.0))])))
    assert content["cases"][0]["device_time"] is None
    assert content["findings"][0]["gain"]["share_of_step"] is None


def test_html_reaches_for_nothing_outside_itself() -> None:
    page = render_html(build.report(findings=[build.finding()]))
    assert "default-src &#39;none&#39;" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "https://" not in page
    assert "The device waits for the host: it works 0.20 of 1.00\u00a0ms." in page


def test_the_step_of_a_case_is_in_the_page_too(tmp_path: Path) -> None:
    kernel = Slice(name="gemm", start_us=1.0, duration_us=2.0, kind="activity", part="compute")
    track = Track(group="device", name="device 0, stream 7", slices=(kernel,))
    step = StepExport(
        case="prefill", trace="t.json", step=3, origin_us=0.0, duration_us=9.0, tracks=(track,), num_dropped=0
    )
    paths = write_documents(build.report(), tmp_path, ("html",), step_exports=[step])
    assert [path.name for path in paths] == ["report.html", "step.perfetto.json.gz"]
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert '"names":["gemm"]' in page
    assert '"step":3' in page
