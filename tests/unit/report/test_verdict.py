from __future__ import annotations

from typing import Any

import pytest

from reportgen.analysis.model import CaseAnalysis, Cut, Launching
from reportgen.findings.model import RuleRecord
from reportgen.report.verdict import verdict
from tests import case_builder, report_builder
from tests.case_builder import host_bound_case


def device_bound() -> CaseAnalysis:
    return host_bound_case(budget=case_builder.budget(1000.0, compute=950.0, turnaround=50.0))


def on_host(**fields: Any) -> CaseAnalysis:
    values: dict[str, Any] = {
        "device": None,
        "device_kind": "host",
        "device_time": None,
        "launching": None,
        "budget": case_builder.budget(1000.0, compute=900.0, launch=100.0),
    }
    return host_bound_case(**(values | fields))


def test_a_host_bound_case_waits_for_the_host() -> None:
    assert verdict(report_builder.report()).limits == "The device waits for the host: it works 0.20 of 1.00\u00a0ms."


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("sync", "The device waits after synchronizations"),
        ("input", "The device waits for input"),
        ("stall", "The device waits for one place in the host’s code"),
        ("build", "The device waits for the host, which builds plans or kernels"),
        ("turnaround", "The device waits between launch and start"),
    ],
)
def test_one_cause_that_makes_most_of_the_wait_is_named(part: str, words: str) -> None:
    case = host_bound_case(budget=case_builder.budget(1000.0, compute=200.0, launch=100.0, **{part: 700.0}))
    assert verdict(report_builder.report([case])).limits == f"{words}: it works 0.20 of 1.00\u00a0ms."


def test_two_cases_that_both_wait_for_the_host_share_a_sentence() -> None:
    build = host_bound_case(name="decode", budget=case_builder.budget(1000.0, compute=200.0, build=800.0))
    words = verdict(report_builder.report([host_bound_case(), build])).limits
    assert words == (
        "The device waits for the host: it works 0.20 of 1.00\u00a0ms in prefill and 0.20 of 1.00\u00a0ms in decode."
    )


def test_a_busy_device_sets_its_own_pace() -> None:
    words = verdict(report_builder.report([device_bound()])).limits
    assert words == "The device’s own work sets the step: it is busy for 95.0\u00a0% of 1.00\u00a0ms."


def test_without_a_device_the_host_does_the_work() -> None:
    words = verdict(report_builder.report([on_host()])).limits
    assert words == "The step is the host’s own work: operators run 0.90 of 1.00\u00a0ms."


def test_the_operator_with_the_most_host_time_is_named() -> None:
    items = (
        case_builder.operator("aten::mm", host_us_per_step=600.0, share_of_host=0.667),
        case_builder.operator("aten::add", host_us_per_step=300.0, share_of_host=0.333),
    )
    words = verdict(report_builder.report([on_host(operators=Cut(items=items, total=2))])).limits
    assert words == "The step is the host’s own work: operators run 0.90 of 1.00\u00a0ms (mm 66.7\u00a0%)."


def test_idle_time_that_may_be_work_is_not_called_waiting() -> None:
    case = host_bound_case(launching=Launching(idle_is_certain=False))
    assert "may be work that was not" in verdict(report_builder.report([case])).limits


def test_a_trace_without_device_activity_says_nothing_about_the_device() -> None:
    case = host_bound_case(device_kind="not-recorded", device_time=None, budget=None, launching=None)
    assert verdict(report_builder.report([case])).limits == (
        "No device activity was recorded: the step takes 1.00\u00a0ms, and what the device does in it is not known."
    )


def test_an_undecided_trace_blames_neither_host_nor_profiler() -> None:
    launching = Launching(verdict="undecided")
    words = verdict(report_builder.report([host_bound_case(launching=launching)])).limits
    assert "cannot be told" in words


def test_a_case_without_a_step_leaves_no_claim() -> None:
    case = host_bound_case(timing=None, budget=None, outcome="failed", reason="out of memory")
    words = verdict(report_builder.report([case]))
    assert words.limits == "No step was timed: 1\u00a0case failed."
    # That no rule found anything would say that they had something to look at.
    assert words.changes == "What there is to gain was not evaluated."


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("measured", "One change, measured, brings the step to 0.50\u00a0ms."),
        ("replay", "One change, replayed, brings the step to 0.50\u00a0ms."),
        ("bound", "One change brings the step to 0.50\u00a0ms at best."),
    ],
)
def test_the_best_change_is_promised_as_it_is_known(method: str, words: str) -> None:
    finding = report_builder.finding(gain=report_builder.gain(1000.0, 500.0, method))
    assert verdict(report_builder.report(findings=[finding])).changes == words


def test_a_bound_beside_a_gain_that_is_known_stays_a_bound() -> None:
    findings = [
        report_builder.finding("F1", gain=report_builder.gain(1000.0, 600.0, "replay")),
        report_builder.finding("F2", case="decode", gain=report_builder.gain(1000.0, 200.0, "bound")),
    ]
    words = verdict(report_builder.report([host_bound_case(), host_bound_case(name="decode")], findings)).changes
    assert words == "Two changes, one replayed and one a bound, bring the steps to 0.60 and at best 0.20\u00a0ms."


def test_gains_of_one_case_are_not_added_up() -> None:
    findings = [
        report_builder.finding("F1", gain=report_builder.gain(1000.0, 500.0)),
        report_builder.finding("F2", gain=report_builder.gain(1000.0, 900.0)),
    ]
    words = verdict(report_builder.report(findings=findings)).changes
    assert words == "One change, measured, brings the step to 0.50\u00a0ms."


def test_one_change_for_each_of_two_cases() -> None:
    findings = [report_builder.finding("F1"), report_builder.finding("F2", case="decode")]
    cases = [host_bound_case(), host_bound_case(name="decode")]
    words = verdict(report_builder.report(cases, findings)).changes
    assert words == "Two changes, both measured, bring the steps to 0.50 and 0.50\u00a0ms."


def test_nothing_found_counts_what_was_looked_at() -> None:
    rules = (RuleRecord(id="a", case="prefill", outcome="passed"), RuleRecord(id="b", case="prefill", outcome="failed"))
    words = verdict(report_builder.report([device_bound()], rules=rules)).changes
    assert words == "No rule found time to gain: one passed, one could not be evaluated."


def test_work_that_is_mostly_copies_or_communication_is_named() -> None:
    copies = host_bound_case(budget=case_builder.budget(1000.0, compute=150.0, copy=800.0, sync=50.0))
    assert verdict(report_builder.report([copies])).limits == (
        "The device’s own work sets the step: it is busy for 95.0\u00a0% of 1.00\u00a0ms (0.80\u00a0ms of it copies)."
    )
    ranks = host_bound_case(budget=case_builder.budget(1000.0, compute=150.0, communication=250.0, launch=600.0))
    assert verdict(report_builder.report([ranks])).limits == (
        "The device waits for the host: it works 0.40 of 1.00\u00a0ms (0.25\u00a0ms of it communication)."
    )
