"""A browser, and reports to open in it: GPT-2's from its recording, and one of a trace that can be checked by hand."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from reportgen.analysis.model import Cut, Where
from reportgen.findings.model import Finding
from reportgen.pipeline import open_recording
from reportgen.report.assemble import assemble_recording, assemble_trace
from reportgen.report.html import render_html
from reportgen.report.model import ReportInput
from reportgen.report.view.drawings import Drawings
from tests import report_builder as build
from tests.case_builder import host_bound_case, operator
from tests.trace_builder import OFFSET_US, base, frame, kernel, launch, memory, op, step, write_trace

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "reports" / "example-gpt2-h200"
CHROMIUM = os.environ.get("REPORTGEN_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
_ARGUMENTS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip

# Step 2 is [100, 160]: a host frame over all of it, mm from 102 with its launch at 103 and a kernel of 30 µs from 120,
# add from 140 with a kernel of 4 µs from 150. Memory rises from 4 MiB to 20 at 110 and falls to 8 at 145.
STEP_EVENTS = (
    *(step(1, 0, 100), step(2, 100, 60)),
    *(op("early", 5, 10), launch(6, 2, 2), kernel(20, 5, 2, name="warm")),
    *(frame("run.py(1): main", 90, 80), frame("torch/nn.py(2): call", 101, 30)),
    op("aten::mm", 102, 10, **{"Input Dims": [[2, 3], [3, 4]], "Input type": ["float", "float"]}),
    *(launch(103, 5, 1), kernel(120, 30, 1, name="gemm")),
    *(op("aten::add", 140, 6), launch(141, 2, 3), kernel(151, 4, 3, name="elementwise")),
    *(memory(101, 4 << 20, total=4 << 20), memory(110, 16 << 20, total=20 << 20, address=0x2000)),
    memory(145, -(16 << 20), total=8 << 20, address=0x2000),
)

NUM_OPERATORS = 30

Open = Callable[..., Any]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium without a window; what is missing is the reason to skip."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium: apt-get install chromium, or name one with REPORTGEN_CHROMIUM")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=list(_ARGUMENTS))
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser: Any) -> Iterator[Open]:
    """Open a file; when the test ends nothing may have left the page or been written to its console."""
    contexts, complaints = [], []

    def open_(path: Path, *, width: int = 1100, height: int = 900, **options: Any) -> Any:
        context = browser.new_context(viewport={"width": width, "height": height}, reduced_motion="reduce", **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(5000)
        page.on("console", lambda message: complaints.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
        page.on(
            "request",
            lambda request: (
                complaints.append(f"request: {request.url[:200]}")
                if not request.url.startswith(("data:", path.as_uri()))
                else None
            ),
        )
        page.goto(path.as_uri())
        return page

    yield open_
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture(scope="session")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The HTML report of GPT-2, from its recording."""
    if not EXAMPLE.is_dir():
        pytest.skip("the example is not in this checkout")
    given = ReportInput(kind="recording", path="recording", command="python -m reportgen gpt2")
    report, steps = assemble_recording(open_recording(EXAMPLE), given)
    path = tmp_path_factory.mktemp("gpt2") / "report.html"
    path.write_text(render_html(report, steps=steps), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The HTML report of the trace above, with a finding about [105, 125] of it and one about another file."""
    folder = tmp_path_factory.mktemp("small")
    trace = write_trace(folder, base(*STEP_EVENTS))
    report, steps = assemble_trace(trace, None, datetime(2026, 11, 30, tzinfo=UTC))
    name = report.cases[0].name

    def place(file: str) -> Where:
        return Where(trace=file, start_us=OFFSET_US + 105, end_us=OFFSET_US + 125)

    findings: tuple[Finding, ...] = (
        build.finding("F1", case=name, title="A finding with a place", where=(place(trace.name),)),
        build.finding("F2", case=name, title="A finding elsewhere", where=(place("other.json"),)),
    )
    path = folder / "report.html"
    path.write_text(render_html(msgspec.structs.replace(report, findings=findings), steps=steps), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with a table that is folded: `aten::part_of_step_n` takes n µs in n calls, n from 30 down to 1."""
    total_us = NUM_OPERATORS * (NUM_OPERATORS + 1) / 2
    items = tuple(
        operator(
            f"aten::part_of_step_{n}",
            calls_per_step=float(n),
            device_us_per_step=float(n),
            share_of_device=n / total_us,
        )
        for n in range(NUM_OPERATORS, 0, -1)
    )
    report = build.report([host_bound_case(operators=Cut(items=items, total=NUM_OPERATORS))], [build.finding()])
    path = tmp_path_factory.mktemp("long") / "report.html"
    path.write_text(render_html(report, Drawings()), encoding="utf-8")
    return path
