"""What the rules about memory say of a case of 1 GiB whose figures can be checked in the head."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from reportgen.analysis.model import (
    Allocator,
    CaseAnalysis,
    Fragmentation,
    Growth,
    Headroom,
    KeptLine,
    Memory,
    Source,
    Spike,
)
from reportgen.findings import evaluate
from reportgen.findings.model import Finding, RuleRecord
from reportgen.recording import Environment
from tests.case_builder import host_bound_case

MIB, GIB = 2**20, 2**30
ATTEND = Source(file="net.py", line=73, line_kind="call", function="attend", user=True)


def judge(
    case: CaseAnalysis, rule: str, thresholds: dict[str, float] | None = None
) -> tuple[RuleRecord, list[Finding]]:
    findings, records = evaluate([case], Environment(), thresholds=thresholds)
    record = next(record for record in records if record.id == rule)
    return record, [finding for finding in findings if finding.rule == rule]


def with_memory(**fields: Any) -> CaseAnalysis:
    values: dict[str, Any] = {
        "peak_allocated_bytes": 4 * GIB,
        "peak_reserved_bytes": 5 * GIB,
        "start_bytes": GIB,
        "growth_bytes_per_step": 0.0,
        "basis": "trace",
    }
    return host_bound_case(memory=Memory(**(values | fields)))


def transient(num_bytes: int, above: int | None = None, source: Source = ATTEND) -> Spike:
    return Spike(
        bytes=num_bytes,
        above_baseline_bytes=num_bytes if above is None else above,
        operator="aten::div",
        input_shapes=((2, 3),),
        held_us=300.0,
        source=source,
        where=None,
        count_per_step=8.0,
        num_blocks=3,
        largest_block_bytes=num_bytes // 3,
    )


class TestAllocationSpike:
    def test_names_the_function_whose_temporaries_make_the_peak(self) -> None:
        record, [finding] = judge(with_memory(transients=(transient(3 * GIB),)), "allocation-spike")
        assert (record.outcome, record.value, record.threshold) == ("fired", 3 * GIB, 256 * MIB)
        assert finding.title == "`attend` takes 3.00\u00a0GiB for itself"
        assert finding.severity == "medium"
        assert finding.confidence == "high"
        assert finding.gain is not None
        assert finding.gain.bytes == 3 * GIB
        assert "at net.py:73 in `attend`" in finding.evidence[0].text

    def test_takes_a_fifth_of_a_large_start_for_the_limit(self) -> None:
        # A fifth of 2 GiB is 410 MiB, which 400 MiB do not reach.
        case = with_memory(start_bytes=2 * GIB, transients=(transient(400 * MIB),))
        assert judge(case, "allocation-spike")[0].outcome == "passed"

    def test_leaves_out_a_rise_under_half_of_the_highest(self) -> None:
        case = with_memory(transients=(transient(3 * GIB), transient(300 * MIB)))
        assert len(judge(case, "allocation-spike")[1]) == 1

    def test_rises_of_one_function_are_one_finding_and_of_two_functions_two(self) -> None:
        other = Source(file="net.py", line=90, line_kind="call", function="mix", user=True)
        rises = (transient(2 * GIB), transient(3 * GIB), transient(2 * GIB, source=other))
        _, findings = judge(with_memory(transients=rises), "allocation-spike")

        assert {f.source.function if f.source else "": f.title for f in findings} == {
            "attend": "`attend` takes 3.00\u00a0GiB for itself",
            "mix": "`mix` takes 2.00\u00a0GiB for itself",
        }
        assert [f.gain.bytes for f in findings if f.gain] == [3 * GIB, 2 * GIB]
        assert "a lesser rise by div of 2×3 takes 2.00\u00a0GiB" in findings[0].evidence[-1].text

    def test_names_the_operator_where_it_is_its_own_workspace(self) -> None:
        own = msgspec.structs.replace(transient(3 * GIB), within_operator=True)
        _, [finding] = judge(with_memory(transients=(own,)), "allocation-spike")

        assert finding.title == "div takes 3.00\u00a0GiB for itself"
        assert "while the operator runs" in finding.mechanism
        assert finding.action.startswith("Give the operator inputs in the type and layout")
        assert "in `attend`" in finding.evidence[0].text

    def test_takes_a_lower_threshold_from_the_command_line(self) -> None:
        case = with_memory(start_bytes=0, transients=(transient(100 * MIB),))
        assert judge(case, "allocation-spike")[0].outcome == "passed"
        assert judge(case, "allocation-spike", {"allocation-spike.least-mib": 64.0})[0].outcome == "fired"

    def test_is_not_evaluated_without_the_trace_of_allocations(self) -> None:
        assert judge(with_memory(), "allocation-spike")[0].outcome == "not-evaluated"


def growth(kind: Any, *rises: int) -> Growth:
    return Growth(
        kind=kind,
        bytes_per_step=sum(rises) / len(rises),
        rises_bytes=rises,
        steadily=kind != "none",
        steps_until_full=272.4,
        lines=(KeptLine(source=ATTEND, operator="aten::gelu", bytes_per_step=400.0 * MIB, blocks_per_step=4.0),),
    )


class TestMemoryGrowth:
    def test_names_what_each_step_leaves_and_when_the_device_is_full(self) -> None:
        record, [finding] = judge(with_memory(growth=growth("kept", 500 * MIB, 500 * MIB)), "memory-growth")
        assert (record.outcome, record.value) == ("fired", 500 * MIB)
        assert finding.title == "Each step of prefill leaves 500\u00a0MiB behind"
        assert finding.severity == "high"
        assert [row.value for row in finding.evidence] == [500 * MIB, 400 * MIB, 272.4]
        assert "not who keeps it" in finding.mechanism

    def test_calls_a_growing_cache_no_leak(self) -> None:
        record, findings = judge(with_memory(growth=growth("cache", 36 * 1024, 36 * 1024)), "memory-growth")
        assert (record.outcome, findings) == ("passed", [])
        assert record.reason is not None
        assert "cache" in record.reason

    def test_passes_steps_that_end_where_they_began(self) -> None:
        assert judge(with_memory(growth=growth("none", 0, 0)), "memory-growth")[0].outcome == "passed"

    def test_does_not_judge_a_single_rise(self) -> None:
        assert judge(with_memory(growth=growth("none", 500)), "memory-growth")[0].outcome == "not-evaluated"


def allocator(churning_steps: int, **fields: Any) -> Allocator:
    values = {"device_mallocs_per_step": 2.0, "device_frees_per_step": 1.0, "cost_us_per_step": 100.0}
    return Allocator(churning_steps=churning_steps, **(values | fields))


class TestAllocatorChurn:
    def test_promises_what_the_device_waits_for_the_calls(self) -> None:
        record, [finding] = judge(with_memory(allocator=allocator(3)), "allocator-churn")
        assert (record.outcome, record.value) == ("fired", 3.0)
        assert finding.gain is not None
        assert finding.gain.step_after_us == 900.0
        assert finding.severity == "high"

    def test_passes_where_only_one_step_gives_back(self) -> None:
        assert judge(with_memory(allocator=allocator(1)), "allocator-churn")[0].outcome == "passed"

    def test_is_not_evaluated_without_runtime_calls(self) -> None:
        assert judge(with_memory(), "allocator-churn")[0].outcome == "not-evaluated"


def holes(stranded_bytes: int) -> Fragmentation:
    return Fragmentation(
        at="peak",
        reserved_bytes=5 * GIB,
        allocated_bytes=4 * GIB,
        stranded_bytes=stranded_bytes,
        idle_segment_bytes=0,
        largest_hole_bytes=100 * MIB,
        num_segments=20,
    )


class TestFragmentation:
    def test_fires_where_holes_made_the_allocator_run_out(self) -> None:
        case = with_memory(fragmentation=holes(GIB), allocator=allocator(0, retries=2))
        record, [finding] = judge(case, "fragmentation")
        assert (record.outcome, record.value) == ("fired", 0.2)
        assert finding.title == "1.00\u00a0GiB of reserved memory lie in holes"

    def test_passes_holes_where_memory_is_left(self) -> None:
        record, findings = judge(with_memory(fragmentation=holes(GIB)), "fragmentation")
        assert (record.outcome, findings) == ("passed", [])

    def test_a_full_device_is_what_the_threshold_says(self) -> None:
        nearly = with_memory(fragmentation=holes(GIB), headroom=Headroom(device_bytes=6 * GIB, reserved_share=0.85))
        assert judge(nearly, "fragmentation")[0].outcome == "passed"
        assert judge(nearly, "fragmentation", {"fragmentation.capacity": 0.8})[0].outcome == "fired"

    def test_passes_small_holes_on_a_full_device(self) -> None:
        full = Headroom(device_bytes=5 * GIB, reserved_share=1.0)
        assert judge(with_memory(fragmentation=holes(MIB), headroom=full), "fragmentation")[0].outcome == "passed"


class TestNearCapacity:
    def test_counts_what_others_use_beside_it(self) -> None:
        room = Headroom(device_bytes=6 * GIB, reserved_share=0.83, in_use_share=0.95, others_bytes=700 * MIB)
        record, [finding] = judge(with_memory(headroom=room), "near-capacity")
        assert (record.outcome, record.value) == ("fired", 0.95)
        assert finding.title == "prefill fills 95.0\u00a0% of the device"

    def test_passes_at_exactly_nine_tenths(self) -> None:
        room = Headroom(device_bytes=6 * GIB, reserved_share=0.9)
        assert judge(with_memory(headroom=room), "near-capacity")[0].outcome == "passed"


@pytest.mark.parametrize("rule", ["allocator-churn", "fragmentation", "near-capacity"])
def test_a_host_has_no_device_memory(rule: str) -> None:
    assert judge(host_bound_case(device_kind="host"), rule)[0].outcome == "not-applicable"
