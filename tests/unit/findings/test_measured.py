"""What a measured alternative does to the finding that suggested it."""

from __future__ import annotations

import pytest

from reportgen.analysis.model import Alternative, CaseAnalysis, StepTimes
from reportgen.findings import evaluate
from reportgen.findings.model import Finding
from reportgen.recording import AlternativeOutcome, Environment
from tests.case_builder import host_bound_case, pipelined


def times(median_us: float) -> StepTimes:
    return StepTimes(
        median_us=median_us,
        p5_us=median_us * 0.9,
        p95_us=median_us * 1.2,
        min_us=median_us * 0.9,
        max_us=median_us * 1.2,
        num_samples=50,
        samples_us=(median_us,) * 50,
    )


def tried(outcome: AlternativeOutcome, step_us: float) -> Alternative:
    return Alternative(
        name="cuda-graph",
        outcome=outcome,
        original_us=times(1050.0),
        step_us=times(step_us),
        speedup=1050.0 / step_us,
        max_relative_difference=0.0,
    )


def host_bound(*alternatives: Alternative) -> Finding:
    case: CaseAnalysis = host_bound_case(timing=pipelined(1000.0), alternatives=alternatives)
    findings, _ = evaluate([case], Environment())
    return next(finding for finding in findings if finding.rule == "host-bound")


def test_a_bound_suggests_the_alternative_that_would_measure_it() -> None:
    finding = host_bound()
    assert finding.tries == ("cuda-graph",)
    assert finding.gain is not None
    assert finding.gain.method == "bound"


def test_a_faster_alternative_gives_the_gain_from_the_step_timed_in_turn_with_it() -> None:
    finding = host_bound(tried("faster", 250.0))
    assert finding.confidence == "high"
    assert finding.gain is not None
    assert (finding.gain.method, finding.gain.edit) == ("measured", "cuda-graph")
    assert finding.gain.step_after_us == 250.0
    assert finding.gain.at_most_us_per_step == 800.0  # 1050 of the blocks, not the case's 1000
    assert finding.gain.at_least_us_per_step == 750.0  # 1050 less the 95th percentile, 300
    assert finding.gain.share_of_step == pytest.approx(800 / 1050)
    assert "0.25\u00a0ms" in finding.evidence[-1].text
    assert finding.verify is not None
    assert finding.verify.endswith("Captured as one CUDA graph the step came to 0.25\u00a0ms.")
    assert "its results are equal" in finding.evidence[-1].text


def test_one_that_did_not_help_leaves_the_bound_and_is_said() -> None:
    finding = host_bound(tried("within-noise", 1040.0))
    assert finding.gain is not None
    assert finding.gain.method == "bound"
    assert "within the spread of the blocks" in finding.evidence[-1].text
