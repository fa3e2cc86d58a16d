from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from reportgen.analysis.case import CaseInputs, analyze_with_step
from reportgen.analysis.model import Where
from reportgen.analysis.one_step.step_export import StepExport
from reportgen.report.assemble import assemble_trace
from reportgen.report.step_places import Stretch, places_of, stretch_of
from reportgen.report.view.time import steps_table
from reportgen.trace.reader import read_trace
from tests import report_builder as build
from tests.trace_builder import base, kernel, launch, op, step, write_trace

PLANTED = Path(__file__).parents[2] / "data" / "planted"

# The step is [1000, 1100] in the clock of its trace.
STEP = StepExport(case="prefill", trace="t.json", step=1, origin_us=1000.0, duration_us=100.0, tracks=(), num_dropped=0)


def where(start_us: float, end_us: float, trace: str = "t.json") -> Where:
    return Where(trace=trace, start_us=start_us, end_us=end_us)


@pytest.mark.parametrize(
    ("place", "stretch"),
    [
        (where(1010, 1030), Stretch(10, 30)),
        (where(990, 1030), Stretch(0, 30)),
        (where(1090, 1500), Stretch(90, 100)),
        (where(900, 1000), None),
        (where(1100, 1200), None),
        (where(1010, 1030, "other.json"), None),
        (None, None),
    ],
)
def test_a_place_is_told_in_the_steps_own_time_as_far_as_it_lies_inside(place, stretch) -> None:
    assert stretch_of(STEP, place) == stretch


def test_documents_count_the_recorded_steps_of_a_pass_from_one(tmp_path: Path) -> None:
    """Steps 21 to 24 of the program were recorded; each takes 100 us, of which the device waits the first 60."""
    events = [
        event
        for index, number in enumerate((21, 22, 23, 24))
        for event in (
            step(number, 100 * index, 100),
            op("aten::mm", 100 * index + 50, 20),
            launch(100 * index + 55, 5, number),
            kernel(100 * index + 60, 40, number),
        )
    ]
    trace = read_trace(write_trace(tmp_path, base(*events)))
    result = analyze_with_step(CaseInputs(name="trace", timeline=trace, detail=trace))
    case, export = result.analysis, result.step

    assert [(row.index, row.ordinal, row.settling) for row in case.steps] == [
        (21, 1, True), (22, 2, False), (23, 3, False), (24, 4, False),
    ]  # fmt: skip
    assert case.gaps is not None
    assert {(gap.step, gap.ordinal) for gap in case.gaps.items} <= {(22, 2), (23, 3), (24, 4)}
    assert case.gaps.items
    # The three after the settling one are equally long: the middle one stands for them.
    assert case.timeline is not None
    assert export is not None
    assert (case.timeline.step, case.timeline.ordinal) == (export.step, export.told) == (23, 3)
    table = steps_table(case, 1)
    assert table is not None
    assert [row.cells[0].text for row in table.rows] == ["1", "2", "3", "4"]
    assert table.note == "Step 1 is ProfilerStep#21 of the trace."


def test_places_are_those_of_findings_about_the_case() -> None:
    places = (where(1010, 1030), where(2000, 2010))
    assert places_of(STEP, build.finding(where=places)) == [Stretch(10, 30)]
    assert places_of(STEP, build.finding(case="decode", where=places)) == []
    assert places_of(STEP, build.finding(case=None, where=places)) == [Stretch(10, 30)]


@pytest.mark.parametrize(
    ("trace", "rule"),
    [
        ("sync_item", "sync-point"),
        ("host_stall", "host-stall"),
        ("h2d_pageable", "blocking-copy"),
        ("train_opt_forloop", "optimizer-unfused"),
        ("decode_light", "shape-specialisation"),
        ("tiny_kernels", "host-bound"),
    ],
)
def test_what_recurs_in_every_step_is_shown_in_the_one_that_documents_show(trace: str, rule: str) -> None:
    report, (export,) = assemble_trace(PLANTED / f"{trace}.json.gz", None, datetime(2026, 11, 30, tzinfo=UTC))
    (finding,) = [one for one in report.findings if one.rule == rule]
    assert places_of(export, finding)
