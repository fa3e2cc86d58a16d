"""How a report says what it was measured on, and by which thresholds."""

from __future__ import annotations

import msgspec
import pytest

from reportgen.analysis.model import CaseAnalysis, StepRow, StepTimes
from reportgen.findings import evaluate
from reportgen.recording import Device, Environment
from reportgen.report.view.head import view_head, view_sureness
from reportgen.report.view.medium import SCREEN
from reportgen.report.view.method import threshold_words, view_appendices, view_method
from tests import report_builder as build
from tests.case_builder import host_bound_case, pipelined


def plain(text: str) -> str:
    return text.replace("\u00a0", " ")


def step_words(case: CaseAnalysis) -> str:
    return dict(view_method(build.report([case])).paragraphs)["Step time"]


def traced(num_steps: int, *, completed: bool) -> CaseAnalysis:
    timing = msgspec.structs.replace(pipelined(1000.0), basis="trace")
    rows = tuple(StepRow(index=n, interval_us=1000.0, host_us=900.0, device_us=None, activities=None, settling=n == 0,
                         outlier=False) for n in range(num_steps))  # fmt: skip
    return host_bound_case(timing=timing if completed else msgspec.structs.replace(timing, pipelined=None), steps=rows)


def test_a_trace_says_from_what_its_step_follows() -> None:
    assert step_words(traced(3, completed=True)).startswith("from the trace, from one completion to the next")
    assert "no work of the device was recorded" in step_words(traced(3, completed=False))
    assert "the one step that is marked" in step_words(traced(1, completed=True))
    assert "the whole window as one step" in step_words(traced(0, completed=False))


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [
        (1.0, "activities", "1 activity"), (32, "per step", "32 per step"), (256.0, "MiB", "256 MiB"),
        (1.0, "bytes a step", "1 byte a step"), (2.0, "steps", "2 steps"), (1, "nodes per step", "1 node per step"),
        (1.5, "times the time of an aligned product", "1.50 times the time of an aligned product"),
        (0.03, "of the step", "3.0 % of the step"), (2, "x", "2.00×"), (1000, "us", "1.00 ms"),
        (2.0**20, "bytes", "1.00 MiB"),
    ],
)  # fmt: skip
def test_thresholds_are_written_in_their_own_unit(value: float, unit: str, words: str) -> None:
    assert threshold_words(value, unit).replace("\u00a0", " ") == words


def test_the_thresholds_of_a_report_are_those_in_force() -> None:
    findings, rules = evaluate([host_bound_case()], Environment(), thresholds={"sync-point.cost": 0.25})
    report = build.report(findings=findings, rules=rules)

    rows = {
        row.cells[0].text: row.cells[3].text.replace("\u00a0", " ")
        for row in view_appendices(report, SCREEN).rules.rows
    }
    assert rows["sync-point"] == "cost 25.0 % of the step"
    assert rows["host-stall"] == "share 3.0 % of the step"


def test_the_title_counts_the_devices_that_worked_not_those_of_the_machine() -> None:
    listed = tuple(Device(index=index, name="Tesla V100") for index in range(8))
    worked = host_bound_case()
    device_time = worked.device_time
    assert device_time is not None

    def title(num_devices: int | None) -> str:
        time = msgspec.structs.replace(device_time, num_devices=num_devices)
        return view_head(build.report([host_bound_case(device_time=time)], devices=listed)).title

    assert title(1) == "gpt2 on one Tesla V100"
    assert title(2) == "gpt2 on two Tesla V100"
    assert title(None) == "gpt2 on eight Tesla V100"  # a report of an earlier version does not say
    assert plain(dict(view_method(build.report([worked], devices=listed)).environment)["Device"]) == "8 × Tesla V100"


def test_a_step_that_drifts_is_said_with_where_it_began_and_ended() -> None:
    timing = host_bound_case().timing
    assert timing is not None

    def said(*samples_us: float) -> str:
        times = StepTimes(median_us=1000.0, p5_us=600.0, p95_us=1400.0, min_us=600.0, max_us=1400.0,
                          num_samples=len(samples_us), samples_us=samples_us)  # fmt: skip
        case = host_bound_case(timing=msgspec.structs.replace(timing, pipelined=times))
        _, rules = evaluate([case], Environment())
        report = msgspec.structs.replace(build.report([case]), rules=rules)
        return plain(" ".join(line.text for line in view_sureness(report)))

    assert "The step of prefill drifts: 0.60 ms at first, 1.40 ms in the end." in said(
        600, 600, *[1000] * 4, 1400, 1400
    )
    # As wide, but as often slow at first as in the end.
    assert "The step of prefill is not steady: 0.60 to 1.40 ms." in said(600, 1400, *[1000] * 4, 600, 1400)


def test_the_profiler_adds_nothing_that_can_be_told_within_the_spread() -> None:
    timing = host_bound_case().timing
    assert timing is not None

    def distortion(p95_us: float) -> str:
        times = StepTimes(median_us=1000.0, p5_us=100.0, p95_us=p95_us, min_us=100.0, max_us=p95_us, num_samples=6,
                          samples_us=(1000.0,) * 6)  # fmt: skip
        case = host_bound_case(timing=msgspec.structs.replace(timing, pipelined=times))
        _, rules = evaluate([case], Environment())
        said.append(" ".join(line.text for line in view_sureness(build.report([case]))))
        return next(rule.outcome for rule in rules if rule.id == "profiler-distortion")

    said: list[str] = []
    # Profiled, the step takes 1500 and 3000.
    assert [distortion(p95_us) for p95_us in (1400.0, 2900.0, 3100.0)] == ["fired", "fired", "passed"]
    # Page one speaks of the timeline pass, which takes 1500.
    assert plain(said[0]).endswith(
        "The profiler adds 500 µs to the step of prefill: parts are scaled to go without it."
    )
    assert "within the spread of the unprofiled steps, 0.10 to 2.90 ms" in plain(said[1])


def test_what_is_real_is_said_whole() -> None:
    provenance = {
        "inputs": "one shard of the training set",
        "lengths": "4 to 512 tokens, median 139.5 of 4096 sequences",
        "padding": "50.4 % of the computed positions",
        "loader": "2 worker processes, pinned memory, 2 batches ahead each, workers started anew each epoch",
    }
    (row,) = view_appendices(build.report([host_bound_case(provenance=provenance)]), SCREEN).cases.rows

    assert row.cells[3].text == "; ".join(f"{name}: {text}" for name, text in provenance.items())
