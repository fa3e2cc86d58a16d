"""Replayed gains beside measured ones: eight pairs of steps on one H200 that differ by one edit (tests/data/twins)."""

from __future__ import annotations

from pathlib import Path

import pytest

from reportgen.findings.model import Finding, Gain
from reportgen.recording import Recording
from reportgen.report.assemble import assemble_recording
from reportgen.report.model import Report, ReportInput

RECORDING = Path(__file__).parents[2] / "data" / "twins"
# The rule that must find each fault, the step with it and without it, us, as timed without a profiler.
MEASURED = {
    "sync": ("sync-point", 4001, 2649),
    "stall": ("host-stall", 4518, 1615),
    "graph": ("host-bound", 2248, 284),
    "product": ("gemm-misaligned", 8902, 2345),
    "copies": ("needless-copy", 4116, 2488),
    "pageable": ("blocking-copy", 19182, 5475),
    "optimizer": ("optimizer-unfused", 16168, 583),
    "attention": ("attention-unfused", 9147, 1324),
}
WITHIN = 0.3


@pytest.fixture(scope="module")
def report() -> Report:
    recording = Recording.open(RECORDING)
    return assemble_recording(recording, ReportInput(kind="recording", path=RECORDING.name))[0]


def step_us(report: Report, case: str) -> float:
    timing = next(one.timing for one in report.cases if one.name == case)
    assert timing is not None
    assert timing.step_us is not None
    return timing.step_us


def gains(report: Report, pair: str, rule: str) -> list[Gain]:
    def of_fault(finding: Finding) -> bool:
        return (finding.rule, finding.case) == (rule, f"{pair}-fault")

    return [finding.gain for finding in report.findings if of_fault(finding) and finding.gain is not None]


@pytest.mark.parametrize("pair", MEASURED)
def test_a_replayed_gain_is_near_what_the_edit_gave(report: Report, pair: str) -> None:
    rule, fault_us, fixed_us = MEASURED[pair]
    before_us = step_us(report, f"{pair}-fault")
    assert (before_us, step_us(report, f"{pair}-fixed")) == pytest.approx((fault_us, fixed_us), abs=1)

    # Several findings of one rule are places of one fault each; the largest is the one that the twin is without.
    found = max(gains(report, pair, rule), key=lambda gain: gain.share_of_step or 0.0)
    assert found.method in {"replay", "roofline"}
    promised_us = (found.share_of_step or 0.0) * before_us
    assert promised_us == pytest.approx(fault_us - fixed_us, rel=WITHIN)


def test_the_base_of_every_replay_is_the_unprofiled_step(report: Report) -> None:
    """Of the slow pageable copy too, which is recorded while the machine is slower than in most of the timing pass."""
    errors = {case.name: case.replay.base_error for case in report.cases if case.replay is not None}

    assert set(errors) == {f"{pair}-fault" for pair in MEASURED}
    assert max(errors.values()) < 0.05


def test_no_sequence_of_fixes_goes_below_the_device_s_own_work(report: Report) -> None:
    sequences = [one for one in report.fixes if one.device_after_us is not None]

    assert len(sequences) >= 5
    for sequence in sequences:
        steps_us = [sequence.step_us, *(fix.step_after_us for fix in sequence.fixes)]
        assert steps_us == sorted(steps_us, reverse=True)
        assert steps_us[-1] >= (sequence.device_after_us or 0.0) * 0.999
