"""A report of no step: what it advises fits the way that the steps were to be recorded."""

from __future__ import annotations

from typing import Any

import pytest

from reportgen.analysis.model import CaseAnalysis
from reportgen.report.model import ReportInput
from reportgen.report.view.anchors import find_anchors
from reportgen.report.view.head import all_notices, view_notices
from reportgen.report.view.links import Links
from reportgen.report.view.medium import SCREEN
from reportgen.report.view.time import view_time
from tests import report_builder as build

REASON = "no step was seen: call session.step() at the end of each pass of the loop"
TOLD = f"No budget: no whole step was recorded. {REASON[0].upper()}{REASON[1:]}."


def budget_missing(kind: Any, *reasons: str | None, device_kind: Any = "host") -> str:
    cases = [
        CaseAnalysis(name=f"loop{number}", phase="train", device="x", reason=reason, device_kind=device_kind)
        for number, reason in enumerate(reasons)
    ]
    report = build.report(cases, input=ReportInput(kind=kind, path="x"))
    return view_time(report, SCREEN, Links(report, find_anchors(report, SCREEN), ())).budget_missing


def test_of_a_trace_torch_s_own_call_is_named() -> None:
    assert budget_missing("trace", None).endswith("Record at least two steps with `prof.step()`.")


@pytest.mark.parametrize("device_kind", ["host", "not-recorded"])
def test_of_a_captured_loop_its_own_reason_is_told(device_kind: Any) -> None:
    assert budget_missing("recording", REASON, device_kind=device_kind) == TOLD


def test_a_trace_without_device_activity_is_told_how_to_record_it() -> None:
    assert budget_missing("trace", None, device_kind="not-recorded").endswith("Record with ProfilerActivity.CUDA.")


def test_of_several_cases_each_reason_names_its_case() -> None:
    assert budget_missing("workload", "broken", None) == "No budget: no whole step was recorded. loop0: broken."


def test_what_a_loop_that_ended_in_order_lacks_is_a_notice() -> None:
    report = build.report([CaseAnalysis(name="loop", phase="train", device="cpu", device_kind="host", reason=REASON)])

    ((_, notice),) = all_notices(report)
    assert notice.affects_conclusions
    assert view_notices(report, SCREEN) == (f"{REASON[0].upper()}{REASON[1:]}.",)
