"""What the rules about waiting say of a step of 1000 us whose figures can be checked in the head."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from reportgen.analysis.model import (
    CaseAnalysis,
    Cut,
    FirstVisit,
    Gaps,
    Region,
    Source,
    StepTimes,
    Sync,
    Timing,
    WaitPlace,
    Where,
)
from reportgen.findings import evaluate
from reportgen.findings.model import Finding, RuleRecord
from reportgen.recording import Environment
from tests.case_builder import budget, host_bound_case
from tests.trace_reading import plain

HOOK = Source(file="planted.py", line=57, line_kind="def", function="hook", user=True)


def judge(case: CaseAnalysis, rule: str) -> tuple[RuleRecord, list[Finding]]:
    findings, records = evaluate([case], Environment())
    record = next(record for record in records if record.id == rule)
    return record, [finding for finding in findings if finding.rule == rule]


def sync(cost_us: float, *, count: float = 8.0, source: Source | None = HOOK) -> Sync:
    return Sync(
        call="cudaStreamSynchronize",
        operator="aten::_local_scalar_dense",
        count_per_step=count,
        blocked_us_per_step=5.0,
        cost_us_per_step=cost_us,
        source=source,
        where=None,
    )


def wait(cause: Any, us: float, *, num_steps: int = 3, source: Source | None = HOOK) -> WaitPlace:
    return WaitPlace(cause=cause, operator=None, source=source, us_per_step=us, count_per_step=1.0, num_steps=num_steps)


def with_waits(*places: WaitPlace) -> CaseAnalysis:
    return host_bound_case(gaps=Gaps(count_per_step=1.0, us_per_step=800.0, places=places))


class TestSyncPoint:
    def test_sums_the_calls_of_one_function_and_promises_their_cost(self) -> None:
        case = host_bound_case(syncs=Cut(items=(sync(150.0), sync(50.0, count=1.0)), total=2))
        record, [finding] = judge(case, "sync-point")
        assert (record.outcome, record.value) == ("fired", 0.2)
        assert finding.title == "`hook` waits for the device 9\u00a0times a step: 0.20 of 1.00\u00a0ms"
        assert finding.gain is not None
        assert finding.gain.step_after_us == 800.0
        assert "in `hook` (planted.py:57)" in finding.evidence[0].text

    def test_never_promises_more_than_the_device_leaves(self) -> None:
        # The device is busy for 200 of 1000 us: nothing brings the step under that.
        _, [finding] = judge(host_bound_case(syncs=Cut(items=(sync(900.0),), total=1)), "sync-point")
        assert finding.gain is not None
        assert finding.gain.at_most_us_per_step == 800.0

    def test_many_cheap_waits_are_no_fault(self) -> None:
        record, findings = judge(host_bound_case(syncs=Cut(items=(sync(9.0, count=100.0),), total=1)), "sync-point")
        assert (record.outcome, findings) == ("passed", [])

    def test_says_nothing_where_the_host_is_the_device(self) -> None:
        record, _ = judge(host_bound_case(device_kind="host"), "sync-point")
        assert record.outcome == "not-applicable"


class TestHostStall:
    def test_names_the_function_that_holds_the_host(self) -> None:
        record, [finding] = judge(with_waits(wait("stall", 300.0), wait("launch", 400.0)), "host-stall")
        assert (record.outcome, record.value) == ("fired", 0.3)
        assert finding.title == "`hook` holds the host for 0.30 of 1.00\u00a0ms"
        assert finding.source == HOOK
        assert finding.gain is not None
        assert finding.gain.at_most_us_per_step == 300.0

    def test_names_the_library_s_function_where_the_stretch_is_not_the_user_s_own(self) -> None:
        source = msgspec.structs.replace(HOOK, function="run", beneath="torch/optim/adam.py: _init_group")
        _, [finding] = judge(with_waits(wait("stall", 300.0, source=source)), "host-stall")
        assert finding.title == "`_init_group` under `run` holds the host for 0.30 of 1.00\u00a0ms"
        assert "in `_init_group`, called in `run` (planted.py:57)" in finding.action

    def test_a_stretch_that_does_not_recur_is_no_stall(self) -> None:
        case = msgspec.structs.replace(with_waits(wait("stall", 300.0, num_steps=1)), steps=_rows(4))
        record, findings = judge(case, "host-stall")
        assert (record.outcome, findings) == ("passed", [])

    def test_under_three_per_cent_it_is_ordinary(self) -> None:
        record, _ = judge(with_waits(wait("stall", 29.0)), "host-stall")
        assert record.outcome == "passed"


def _rows(count: int) -> Any:
    from reportgen.analysis.model import StepRow

    return tuple(
        StepRow(
            index=index,
            interval_us=1000.0,
            host_us=1000.0,
            device_us=200.0,
            activities=10,
            settling=index == 0,
            outlier=False,
        )
        for index in range(count)
    )


class TestInputStall:
    def test_takes_the_part_of_the_budget(self) -> None:
        case = host_bound_case(budget=budget(1000.0, compute=200.0, input=500.0, launch=300.0))
        record, [finding] = judge(case, "input-stall")
        assert (record.outcome, record.value) == ("fired", 0.5)
        assert finding.gain is not None
        assert finding.gain.step_after_us == 500.0

    def test_points_to_the_longest_wait_for_the_loader(self) -> None:
        def place(cause: Any, start_us: float) -> WaitPlace:
            where = Where(trace="t.json", start_us=start_us, end_us=start_us + 5)
            return WaitPlace(
                cause=cause, operator=None, source=None, us_per_step=5.0, count_per_step=1.0, num_steps=2, where=where
            )

        places = (place("launch", 1.0), place("input", 2.0), place("input", 3.0))
        case = host_bound_case(
            budget=budget(1000.0, compute=200.0, input=500.0, launch=300.0),
            gaps=Gaps(count_per_step=3.0, us_per_step=15.0, places=places),
        )
        _, [finding] = judge(case, "input-stall")
        assert [where.start_us for where in finding.where] == [2.0]

    @pytest.mark.parametrize(
        ("iterator", "action"),
        [
            ("_SingleProcessDataLoaderIter", "Give the loader workers"),
            ("_MultiProcessingDataLoaderIter", "Raise `num_workers`"),
        ],
    )
    def test_asks_for_workers_only_where_the_loader_has_none(self, iterator: str, action: str) -> None:
        region = Region(
            name=f"enumerate(DataLoader)#{iterator}.__next__",
            count_per_step=1.0,
            host_us_per_step=500.0,
            device_us_per_step=None,
            share_of_device=None,
        )
        case = host_bound_case(
            budget=budget(1000.0, compute=200.0, input=500.0, launch=300.0), regions=Cut(items=(region,), total=1)
        )
        _, [finding] = judge(case, "input-stall")
        assert finding.action.startswith(action)

    def test_what_a_prefetched_batch_takes_as_well_is_no_stall(self) -> None:
        # 150 of 400 us: a queue between the loop and a worker takes as long.
        case = host_bound_case(
            budget=budget(400.0, compute=200.0, input=150.0, launch=50.0), timing=timed(step_times(400.0))
        )
        record, findings = judge(case, "input-stall")
        assert (record.outcome, record.value, findings) == ("passed", 0.375, [])

    def held_up(self, *samples_us: float) -> CaseAnalysis:
        """Return a step of 1000 us with 500 of input, which one recorded step of four, 4600 us longer, stands for."""
        rows = [*_rows(5)]
        rows[3] = msgspec.structs.replace(
            rows[3], interval_us=5600.0, outlier=True, differs_in="input", differs_by_us=4600.0
        )
        parts = budget(1000.0, compute=200.0, input=500.0, launch=300.0)
        return host_bound_case(budget=parts, timing=timed(step_times(*samples_us)), steps=tuple(rows))

    def test_one_recorded_step_that_was_held_up_is_no_stall_where_the_steps_are_even(self) -> None:
        # 4600 of 8600 us recorded, at the scale of 1000: 535 of the 500.
        record, _ = judge(self.held_up(*[1000.0] * 10), "input-stall")
        assert (record.outcome, record.value) == ("passed", 0.0)

    def test_slow_steps_that_come_without_a_profiler_too_stay_in(self) -> None:
        # One of ten takes 6000: the mean is 500 over the median, so 35 of the 535 are taken away.
        record, [finding] = judge(self.held_up(*[1000.0] * 9, 6000.0), "input-stall")
        assert record.value == pytest.approx(0.465, abs=0.001)
        assert finding.gain is not None

    def test_a_loader_that_keeps_up_passes_and_without_one_there_is_nothing_to_look_at(self) -> None:
        region = Region(
            name="enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
            count_per_step=1.0,
            host_us_per_step=50.0,
            device_us_per_step=None,
        )
        record, _ = judge(host_bound_case(regions=Cut(items=(region,), total=1)), "input-stall")
        assert (record.outcome, record.value) == ("passed", 0.0)
        record, _ = judge(host_bound_case(), "input-stall")
        assert (record.outcome, record.reason) == ("not-applicable", "no data loader was recorded in the steps")


def step_times(*samples_us: float) -> StepTimes:
    ordered = sorted(samples_us)
    return StepTimes(
        median_us=ordered[len(ordered) // 2],
        p5_us=ordered[0],
        p95_us=ordered[-1],
        min_us=ordered[0],
        max_us=ordered[-1],
        num_samples=len(ordered),
        samples_us=samples_us,
    )


def timed(times: StepTimes, **fields: Any) -> Timing:
    return Timing(step_us=times.median_us, mode="pipelined", basis="unprofiled", pipelined=times, **fields)


class TestStepOutlier:
    def test_one_slow_step_of_ten_costs_its_excess_over_the_median(self) -> None:
        # 5000 against nine of 1000 us: (5000 - 1000) / 10 = 400 us a step, of a mean of 1400.
        timing = timed(step_times(*[1000.0] * 9, 5000.0))
        record, [finding] = judge(host_bound_case(timing=timing), "step-outlier")
        assert record.outcome == "fired"
        assert record.value == 400.0 / 1400.0
        assert finding.title == "1 of 10\u00a0steps takes up to 5.00\u00a0ms"
        assert finding.gain is not None
        assert finding.gain.at_most_us_per_step == 400.0

    def test_a_step_under_a_millisecond_more_is_none(self) -> None:
        record, findings = judge(host_bound_case(timing=timed(step_times(*[500.0] * 9, 1400.0))), "step-outlier")
        assert (record.outcome, findings) == ("passed", [])

    def test_a_step_of_two_speeds_has_no_outliers(self) -> None:
        record, _ = judge(host_bound_case(timing=timed(step_times(*[1000.0] * 6, *[5000.0] * 4))), "step-outlier")
        assert record.outcome == "passed"

    def test_a_step_that_others_held_up_is_none_of_the_program_s(self) -> None:
        held_up = msgspec.structs.replace(step_times(*[1000.0] * 19, 5000.0), starved_us=(*[0.0] * 19, 3500.0))
        record, findings = judge(host_bound_case(timing=timed(held_up)), "step-outlier")
        assert (record.outcome, findings) == ("passed", [])

    def test_what_had_its_cores_counts(self) -> None:
        # One step of 20 was held up and is left out; of the others one takes 5000 by itself: 4000 / 19 of 23 000 / 19.
        held_up = msgspec.structs.replace(step_times(*[1000.0] * 18, 5000.0, 9000.0), starved_us=(*[0.0] * 19, 7500.0))
        record, [finding] = judge(host_bound_case(timing=timed(held_up)), "step-outlier")
        assert record.value == pytest.approx(4000 / 23_000)
        assert "those left that had their cores" in finding.evidence[0].text

    def test_threads_that_waited_side_by_side_leave_no_time_of_nothing(self) -> None:
        """Their waits add up to more than the step: it is no step of 0 µs, it is one that cannot be judged."""
        starved = tuple([1200.0] * 15 + [0.0] * 5)
        held_up = msgspec.structs.replace(step_times(*[1000.0] * 20), starved_us=starved)
        record, findings = judge(host_bound_case(timing=timed(held_up)), "step-outlier")
        assert (record.outcome, findings) == ("not-evaluated", [])
        assert plain(record.reason or "") == "others had the cores: 5 of 20 steps ran undisturbed"

    def test_two_intervals_cannot_tell(self) -> None:
        record, _ = judge(host_bound_case(timing=timed(step_times(1000.0, 9000.0))), "step-outlier")
        assert record.outcome == "not-evaluated"


def visit(first_us: float, later_us: float, *, num: int = 3) -> FirstVisit:
    return FirstVisit(
        operator="aten::_scaled_dot_product_cudnn_attention",
        num_signatures=num,
        excess_us_per_step=first_us - later_us,
        first_us=first_us,
        later_us=later_us,
        source=HOOK,
    )


class TestShapeSpecialisation:
    def case(self, row: FirstVisit) -> CaseAnalysis:
        timing = timed(step_times(*[45_000.0] * 5), revisit=step_times(*[8_000.0] * 5))
        return host_bound_case(name="decode", timing=timing, first_visits=(row,), steps=_rows(3))

    def test_the_cost_is_the_step_less_the_step_over_known_shapes(self) -> None:
        record, [finding] = judge(self.case(visit(37_000.0, 100.0)), "shape-specialisation")
        assert (record.outcome, record.value) == ("fired", 36_900.0)
        assert finding.title == "Each new shape costs decode 37.0 of 45.0\u00a0ms"
        assert finding.gain is not None
        assert finding.gain.step_after_us == 8_000.0
        assert finding.severity == "high"

    def test_without_later_visits_the_steps_over_known_shapes_must_be_quicker(self) -> None:
        row = msgspec.structs.replace(visit(37_000.0, 20.0), by_peers=True, are_shapes_known=False)
        record, [finding] = judge(self.case(row), "shape-specialisation")
        assert "are usual of operators that launch work" in finding.evidence[0].text

        timing = timed(step_times(*[45_000.0] * 5), revisit=step_times(*[44_500.0] * 5))
        record, _ = judge(msgspec.structs.replace(self.case(row), timing=timing), "shape-specialisation")
        assert record.outcome == "passed"

    def test_operators_that_behave_so_are_one_finding_that_costs_what_all_of_them_take(self) -> None:
        backward = msgspec.structs.replace(visit(12_100.0, 100.0), operator="aten::_cudnn_attention_backward")
        case = msgspec.structs.replace(
            self.case(backward),
            timing=timed(step_times(*[45_000.0] * 5)),
            first_visits=(visit(8_100.0, 100.0), backward),
        )
        _, [finding] = judge(case, "shape-specialisation")
        # Twelve and eight of 45 ms; it speaks of the dearer one.
        assert finding.title == "Each new shape costs decode 20.0 of 45.0\u00a0ms"
        assert finding.evidence[0].text.startswith("_cudnn_attention_backward")
        assert finding.evidence[1].value == 20_000.0

    def test_one_shape_alone_may_be_the_library_loading(self) -> None:
        record, _ = judge(self.case(visit(37_000.0, 100.0, num=1)), "shape-specialisation")
        assert record.outcome == "passed"

    def test_nine_times_slower_is_a_cold_cache(self) -> None:
        record, _ = judge(self.case(visit(9_000.0, 1_000.0)), "shape-specialisation")
        assert record.outcome == "passed"
