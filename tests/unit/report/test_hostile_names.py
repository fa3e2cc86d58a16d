"""Names come from traces: nothing in them may run, break the layout or change what stands beside it."""

from __future__ import annotations

import re

import pytest

from reportgen.analysis.model import Cut
from reportgen.findings.model import Evidence
from reportgen.report.html import render_html
from reportgen.report.model import Report, ReportInput
from reportgen.report.pdf import render_pdf
from reportgen.report.terminal import columns_of, render_terminal
from reportgen.report.view.drawings import Drawings
from tests import report_builder as build
from tests.case_builder import host_bound_case, operator

HOSTILE = {
    "markup": "<script>alert(1)</script><img src=http://x.example/p onerror=alert(1)>`{{ 7*7 }}`",
    "right-to-left": "\u202eevil\u202c \u05e9\u05dc\u05d5\u05dd",
    "emoji": "\U0001f469\u200d\U0001f4bb kernel \U0001f680",
    "long": "x" * 20_000,
    "empty": "",
    "control": "a\x00b\x1b[31mred\ud800",
}


def hostile_report(name: str) -> Report:
    item = operator(name, device_us_per_step=200.0, share_of_device=1.0)
    case = host_bound_case(
        name=name, operators=Cut(items=(item,), total=1), parameters={name: name}, provenance={name: name}
    )
    finding = build.finding(case=name, title=name, action=name, mechanism=name, evidence=(Evidence(text=name),))
    given = ReportInput(kind="workload", path="recording", command=f"python -m reportgen {name}")
    return build.report([case], [finding], input=given)


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
def test_no_name_runs_or_leaves_the_page(name: str) -> None:
    page = render_html(hostile_report(name), Drawings())
    body = page.split("</style>")[1].rpartition("<script>")[0]
    assert "<script" not in body
    assert not re.search(r"<img(?! alt=)", body)
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert len(page) < 150_000


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
def test_any_name_can_be_printed(name: str) -> None:
    assert render_pdf(hostile_report(name), Drawings()).startswith(b"%PDF")


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
def test_the_terminal_keeps_its_width(name: str) -> None:
    lines = render_terminal(hostile_report(name)).splitlines()
    assert max(columns_of(line) for line in lines) <= 100
    assert len(lines) < 35
