"""What each rule says of a case whose numbers can be checked in the head."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from reportgen.analysis.model import CaseAnalysis, Cut, Launching, Notice, OptimizerUpdate, StepTimes, Timing
from reportgen.findings import evaluate
from reportgen.findings.model import Finding, RuleRecord
from reportgen.recording import Environment
from tests.case_builder import host_bound_case, operator


def judge(case: CaseAnalysis, rule: str) -> tuple[RuleRecord, Finding | None]:
    findings, records = evaluate([case], Environment(), rerun="python -m reportgen workloads/gpt2.py")
    record = next(record for record in records if record.id == rule)
    return record, next((finding for finding in findings if finding.rule == rule), None)


def launching(host_low_us: float, host_high_us: float) -> Launching:
    return Launching(host_low_us=host_low_us, host_high_us=host_high_us)


class TestHostBound:
    def test_fires_when_the_host_works_over_a_tenth_longer_than_the_device(self) -> None:
        record, finding = judge(host_bound_case(), "host-bound")
        assert (record.outcome, record.value, record.threshold) == ("fired", 4.5, 1.1)
        assert finding is not None
        assert finding.title == "prefill issues 10 activities in 1.00\u00a0ms that run 0.20\u00a0ms"

    def test_promises_no_more_than_launching_costs(self) -> None:
        # 600 us of launch and 150 us of launch calls; 1000 - 200 us would be the room above the device.
        _, finding = judge(host_bound_case(), "host-bound")
        assert finding is not None
        assert finding.gain is not None
        assert finding.gain.at_most_us_per_step == 750.0
        assert finding.gain.step_after_us == 250.0
        assert finding.gain.method == "bound"
        assert finding.confidence == "low"
        assert finding.severity == "high"

    def test_advises_a_training_step_what_its_bound_is_of_and_nothing_that_the_update_has_already(self) -> None:
        fused = OptimizerUpdate(
            name="AdamW",
            activities_per_step=9.0,
            parameters_per_step=148.0,
            device_us_per_step=50.0,
            host_us_per_step=60.0,
            extent_us_per_step=55.0,
            source=None,
        )
        _, finding = judge(host_bound_case(phase="train", optimizer_updates=(fused,)), "host-bound")
        assert finding is not None
        assert "fused" not in finding.action
        assert "capture the whole step, the update included" in finding.action
        assert finding.beware is not None
        assert "the whole step as one launch" in finding.beware
        assert "the 9\u00a0launches of AdamW" in finding.beware

    def test_speaks_for_small_kernels_where_most_are_over_before_the_next_launch(self) -> None:
        _, finding = judge(host_bound_case(), "host-bound")
        assert finding is not None
        assert finding.merged == ("small-kernels",)

    def test_passes_when_the_device_works_longer_whatever_the_profiler_added(self) -> None:
        record, finding = judge(host_bound_case(launching=launching(100.0, 190.0)), "host-bound")
        assert (record.outcome, record.value) == ("passed", 0.95)
        assert finding is None

    def test_is_not_evaluated_between_the_two(self) -> None:
        record, finding = judge(host_bound_case(launching=launching(150.0, 260.0)), "host-bound")
        assert (record.outcome, record.value) == ("not-evaluated", 0.75)
        assert finding is None

    @pytest.mark.parametrize(("kind", "outcome"), [("host", "not-applicable"), ("not-recorded", "not-evaluated")])
    def test_says_nothing_without_device_activities(self, kind: str, outcome: str) -> None:
        record, finding = judge(host_bound_case(device_kind=kind), "host-bound")
        assert record.outcome == outcome
        assert finding is None


class TestDominantOperator:
    def test_names_the_operator_with_the_largest_share(self) -> None:
        record, finding = judge(host_bound_case(), "dominant-operator")
        assert (record.outcome, record.value) == ("fired", 0.6)
        assert finding is not None
        assert finding.title == "mm takes 60.0\u00a0% of device time in prefill"
        assert finding.severity == "info"

    def test_passes_when_no_operator_takes_a_quarter(self) -> None:
        case = host_bound_case(operators=Cut(items=(operator("aten::mm", share_of_device=0.24),), total=1))
        record, finding = judge(case, "dominant-operator")
        assert (record.outcome, record.value) == ("passed", 0.24)
        assert finding is None

    def test_takes_host_time_where_there_is_no_device(self) -> None:
        rows = (operator("aten::addmm", share_of_host=0.5, host_us_per_step=500.0),)
        case = host_bound_case(device_kind="host", device=None, operators=Cut(items=rows, total=1))
        _, finding = judge(case, "dominant-operator")
        assert finding is not None
        assert finding.title == "addmm takes 50.0\u00a0% of host time in prefill"
        assert finding.evidence[0].value == 500.0


class TestProfilerDistortion:
    def test_compares_the_worst_pass_with_the_unprofiled_step(self) -> None:
        record, finding = judge(host_bound_case(), "profiler-distortion")
        assert (record.outcome, record.value) == ("fired", 3.0)
        assert finding is not None
        assert finding.title == "The profiler turns prefill's 1.00\u00a0ms into 3.00\u00a0ms"
        assert [evidence.value for evidence in finding.evidence] == [1500.0, 3000.0]

    def test_is_not_evaluated_on_a_foreign_trace(self) -> None:
        timing = Timing(step_us=1000.0, mode="pipelined", basis="trace")
        record, _ = judge(host_bound_case(timing=timing), "profiler-distortion")
        assert record.outcome == "not-evaluated"


def step_times(p5_us: float, median_us: float, p95_us: float, *, settled: bool = True) -> StepTimes:
    return StepTimes(
        median_us=median_us,
        p5_us=p5_us,
        p95_us=p95_us,
        min_us=p5_us,
        max_us=p95_us,
        num_samples=40,
        samples_us=(),
        settled=settled,
    )


def timed(**fields: Any) -> Timing:
    values: dict[str, Any] = {"step_us": 1000.0, "mode": "pipelined", "basis": "unprofiled"}
    return Timing(**(values | fields))


class TestColdStart:
    def test_names_a_first_step_of_three_times_the_later_ones(self) -> None:
        record, finding = judge(host_bound_case(timing=timed(first_step_us=129_000.0)), "cold-start")
        assert (record.outcome, record.value) == ("fired", 129.0)
        assert finding is not None
        assert finding.title == "The first step of prefill takes 129\u00a0ms"

    def test_passes_a_first_step_twice_as_long(self) -> None:
        record, _ = judge(host_bound_case(timing=timed(first_step_us=2000.0)), "cold-start")
        assert (record.outcome, record.value) == ("passed", 2.0)


class TestUnstableTiming:
    def test_fires_where_the_samples_spread_over_a_quarter_of_the_median(self) -> None:
        case = host_bound_case(timing=timed(pipelined=step_times(900.0, 1000.0, 1200.0)))
        record, finding = judge(case, "unstable-timing")
        assert record.outcome == "fired"
        assert record.value == pytest.approx(0.3)
        assert finding is not None
        assert finding.severity == "info"

    def test_fires_where_the_medians_still_drifted(self) -> None:
        case = host_bound_case(timing=timed(pipelined=step_times(990.0, 1000.0, 1010.0, settled=False)))
        assert judge(case, "unstable-timing")[0].outcome == "fired"

    def test_looks_at_the_samples_of_the_case_s_own_mode(self) -> None:
        wild, calm = step_times(500.0, 1000.0, 1500.0), step_times(990.0, 1000.0, 1010.0)
        case = host_bound_case(timing=timed(mode="drained", pipelined=wild, drained=calm))
        assert judge(case, "unstable-timing")[0].outcome == "passed"


class TestTraceIncomplete:
    def test_passes_a_trace_whose_device_time_has_its_operators(self) -> None:
        assert judge(host_bound_case(), "trace-incomplete")[0].outcome == "passed"

    def test_repeats_the_notices_that_can_mislead_and_only_those(self) -> None:
        notices = (
            Notice(code="truncated", text="The file ends early.", affects_conclusions=True),
            Notice(code="no-rank", text="The rank is not known."),
        )
        _, finding = judge(host_bound_case(notices=notices), "trace-incomplete")
        assert finding is not None
        assert [evidence.text for evidence in finding.evidence] == ["The file ends early."]
        assert finding.severity == "info"

    def test_counts_device_time_without_operator_from_a_twentieth(self) -> None:
        base = host_bound_case().device_time
        assert base is not None
        for share, outcome in ((0.05, "passed"), (0.06, "fired")):
            case = host_bound_case(device_time=msgspec.structs.replace(base, unattributed_share=share))
            assert judge(case, "trace-incomplete")[0].outcome == outcome


class TestSyntheticInputs:
    def test_names_what_the_workload_calls_random(self) -> None:
        provenance = {"weights": "random, in the configuration of GPT-2", "inputs": "a page of text"}
        _, finding = judge(host_bound_case(provenance=provenance), "synthetic-inputs")
        assert finding is not None
        assert finding.title == "prefill runs on synthetic weights"

    def test_does_not_judge_a_workload_that_says_nothing(self) -> None:
        assert judge(host_bound_case(), "synthetic-inputs")[0].outcome == "not-evaluated"


def test_every_title_fits_its_line() -> None:
    findings, _ = evaluate([host_bound_case()], Environment())
    assert len(findings) == 3
    assert all(len(finding.title) <= 60 for finding in findings)


def test_a_case_without_any_number_fires_nothing() -> None:
    case = CaseAnalysis(name="empty", phase=None, device=None, device_kind="not-recorded")
    findings, records = evaluate([case], Environment())
    assert findings == ()
    assert {record.outcome for record in records} == {"not-evaluated"}
    assert msgspec.json.decode(msgspec.json.encode(records)) != []
