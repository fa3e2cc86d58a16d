"""What each rule says of a case whose numbers can be checked in the head."""

from __future__ import annotations

import msgspec
import pytest

from reportgen.analysis.model import CaseAnalysis, Cut, Launching, Timing
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
        assert finding.title == "Prefill issues 10 activities in 1.00 ms that run 0.20 ms"

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
        assert finding.title == "The profiler turns prefill's 1.00 ms into 3.00 ms"
        assert [evidence.value for evidence in finding.evidence] == [1500.0, 3000.0]

    def test_is_not_evaluated_on_a_foreign_trace(self) -> None:
        timing = Timing(step_us=1000.0, mode="pipelined", basis="trace")
        record, _ = judge(host_bound_case(timing=timing), "profiler-distortion")
        assert record.outcome == "not-evaluated"


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
