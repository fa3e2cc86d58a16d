"""Known faults in real traces: each is found, first or second and at its place, and nothing is found where none is."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest

from reportgen.findings.model import Finding
from reportgen.report.assemble import assemble_trace
from reportgen.report.model import Report
from tests import planted
from tests.planted_truth import FAULTS, LOUD, REALISED_MS, TRUE_OF_TWINS, Fault


@cache
def _report(path: Path, snapshot: Path | None) -> Report:
    return assemble_trace(path, snapshot, datetime(2026, 1, 1, tzinfo=UTC))[0]


def report_of(name: str) -> Report:
    """Return the report of a planted trace, with the memory history beside it where there is one."""
    path = planted.find(name)
    beside = (path.with_name(f"{name}.pickle.gz"), path.with_name(f"{name}.memory.json.gz"))
    return _report(path, next((snapshot for snapshot in beside if snapshot.is_file()), None))


def speaking_for(rule: str, findings: tuple[Finding, ...]) -> list[tuple[int, Finding]]:
    return [(place, one) for place, one in enumerate(findings, 1) if rule == one.rule or rule in one.merged]


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_planted_fault_is_found_first_or_second_and_at_its_place(fault: Fault) -> None:
    found = speaking_for(fault.rule, report_of(fault.trace).findings)

    assert found, f"{fault.rule} is not among the findings of {fault.trace}"
    place, finding = found[0]
    assert place <= 2
    assert finding.severity in LOUD
    if fault.function is not None:
        assert finding.source is not None
        assert finding.source.function == fault.function
    if fault.line is not None:
        assert finding.source is not None
        assert (finding.source.line, finding.source.line_kind) == (fault.line, "def")
    if fault.kind is not None:
        assert finding.kind == fault.kind
    if fault.value is not None:
        assert any(line.value == pytest.approx(fault.value, rel=0.02) for line in finding.evidence)


@pytest.mark.parametrize("name", TRUE_OF_TWINS)
def test_nothing_is_said_aloud_of_a_twin_that_is_not_true(name: str) -> None:
    loud = {finding.rule for finding in report_of(name).findings if finding.severity in LOUD}

    assert loud <= TRUE_OF_TWINS[name]


@pytest.mark.parametrize(
    ("twin", "rule"),
    [
        ("train_clean_fused", "optimizer-unfused"),
        ("train_clean_fused", "needless-copy"),
        ("train_opt_forloop", "needless-copy"),
        ("vocab_aligned", "gemm-misaligned"),
        ("clean_infer", "attention-unfused"),
        ("clean_infer", "host-bound"),
        ("host_stall", "host-bound"),
        ("vocab_unaligned", "host-bound"),
        ("cuda_graph", "host-bound"),
        ("clean_infer", "grad-in-inference"),
        ("train_clean_fused", "grad-in-inference"),
    ],
)
def test_a_fault_that_is_not_there_is_not_found(twin: str, rule: str) -> None:
    assert speaking_for(rule, report_of(twin).findings) == []


def test_the_steps_of_clean_inference_have_no_fault_on_the_timeline_or_in_memory() -> None:
    findings = report_of("clean_infer").findings

    assert [one.rule for one in findings if one.checklist_step in (2, 3) and one.severity in LOUD] == []


def test_a_copy_from_pinned_memory_is_never_called_pageable() -> None:
    kinds = {one.kind for one in report_of("h2d_pinned").findings if one.rule == "blocking-copy"}

    assert kinds == {"exposed"}


@pytest.mark.parametrize("name", ["h2d_pageable", "h2d_pinned"])
def test_the_convolution_s_layout_conversions_are_found_beside_the_copy(name: str) -> None:
    ((_, finding),) = speaking_for("layout-conversion", report_of(name).findings)

    assert finding.evidence[0].value == pytest.approx(2_100, rel=0.02)


def test_a_replayed_graph_is_incomplete_and_not_idle() -> None:
    rules = [finding.rule for finding in report_of("cuda_graph").findings]

    assert rules[0] == "trace-incomplete"


def test_a_device_that_was_not_recorded_is_no_idle_device() -> None:
    report = report_of("cpu_only_trace")
    outcomes = {record.id: record for record in report.rules}

    assert [finding.rule for finding in report.findings] == ["trace-incomplete"]
    assert outcomes["host-bound"].outcome == "not-evaluated"
    assert outcomes["host-bound"].reason == "device activity was not recorded"


@pytest.mark.parametrize(("name", "rule"), REALISED_MS)
def test_the_promised_share_is_within_30_percent_of_what_the_fix_gave(name: str, rule: str) -> None:
    _, finding = speaking_for(rule, report_of(name).findings)[0]
    faulty_ms, fixed_ms = REALISED_MS[name, rule]

    assert finding.gain is not None
    assert finding.gain.share_of_step == pytest.approx(1 - fixed_ms / faulty_ms, rel=0.3)
