"""What rules say of traces that are cut off, disturbed by the profiler, or without the device's side."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reportgen.errors import InputUnreadable
from reportgen.findings.model import RuleRecord
from reportgen.report.assemble import assemble_trace
from reportgen.report.model import Report
from tests.trace_builder import base, kernel, launch, op, span, step, write_trace


def report_of(path: Path) -> Report:
    return assemble_trace(path, None, datetime(2026, 1, 1, tzinfo=UTC))[0]


def record(report: Report, rule: str) -> RuleRecord:
    return next(record for record in report.rules if record.id == rule)


def ordinary_steps() -> list[dict[str, object]]:
    """Return three steps of 100 µs, each one operator, one launch and one kernel of 80 µs."""
    events = []
    for number in (1, 2, 3):
        at = 100.0 * number
        events += [step(number, at, 100), op("aten::mm", at + 1, 20), launch(at + 2, 5, number)]
        events.append(kernel(at + 10, 80, number))
    return events


def test_a_trace_that_was_cut_off_fires_trace_incomplete(tmp_path: Path) -> None:
    content = json.dumps(base(*ordinary_steps())).encode()
    cut = content[: content.rindex(b'"cat": "kernel"')]

    report = report_of(write_trace(tmp_path, cut))

    (finding,) = [one for one in report.findings if one.rule == "trace-incomplete"]
    assert finding.severity == "info"
    assert record(report, "trace-incomplete").outcome == "fired"


def test_a_compressed_trace_that_was_cut_off_fires_too(tmp_path: Path) -> None:
    many = [event for _ in range(200) for event in ordinary_steps()]
    packed = gzip.compress(json.dumps(base(*many)).encode())
    path = tmp_path / "trace.json.gz"
    path.write_bytes(packed[: len(packed) * 6 // 10])

    assert record(report_of(path), "trace-incomplete").outcome == "fired"


def test_of_an_empty_file_nothing_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputUnreadable):
        report_of(write_trace(tmp_path, b""))


def slow_launch_under_an_overhead(*, profilers_own: bool) -> list[dict[str, object]]:
    """Return three steps of 34 launches of 5 µs; in each one launch takes 3 ms, while the profiler fetches a buffer."""
    events: list[dict[str, object]] = []
    correlation, at = 0, 0.0
    for number in (1, 2, 3):
        begin = at
        for index in range(34):
            correlation += 1
            length = 3000.0 if index == 17 else 5.0
            if index == 17 and profilers_own:
                events.append(span("overhead", "Activity Buffer Request", at, length))
            events += [op("aten::add", at, length + 2), launch(at + 1, length, correlation)]
            events.append(kernel(at + 1 + length, 4, correlation))
            at += length + 4
        events.append(step(number, begin, at - begin))
    return events


def test_a_launch_that_fetches_a_buffer_for_the_profiler_is_no_host_stall(tmp_path: Path) -> None:
    report = report_of(write_trace(tmp_path, base(*slow_launch_under_an_overhead(profilers_own=True))))

    assert record(report, "host-stall").outcome == "passed"
    assert [one.rule for one in report.findings if one.rule in ("host-stall", "step-outlier")] == []


def test_a_device_without_events_is_not_recorded_rather_than_idle(tmp_path: Path) -> None:
    report = report_of(write_trace(tmp_path, base(op("aten::mm", 1, 10), launch(2, 1, 1))))

    case = report.cases[0]
    assert case.device_kind == "not-recorded"
    assert case.device_time is None or case.device_time.busy_share is None
    assert record(report, "host-bound").outcome == "not-evaluated"
    assert record(report, "trace-incomplete").outcome == "fired"
    assert not [one for one in report.findings if one.severity != "info"]
