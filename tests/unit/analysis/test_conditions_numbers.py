"""Figures of hand-made traces that other tools got wrong, each named by the id of its condition in docs/conditions.md.

What the trace itself says in such cases (links, notices) is tested beside the trace.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reportgen.analysis.case import CaseInputs
from reportgen.analysis.model import CaseAnalysis, DeviceTime
from reportgen.trace.reader import read_trace
from tests.analyzing import analyze_case
from tests.trace_builder import activity, base, frame, kernel, launch, memory, op, span, step, write_trace

Analyze = Callable[..., CaseAnalysis]


def device_time(case: CaseAnalysis) -> DeviceTime:
    assert case.device_time is not None
    return case.device_time


def by_name(case: CaseAnalysis) -> dict[str, Any]:
    return {row.name: row for row in case.operators.items}


def test_d6_work_queued_before_the_window_is_in_no_step_and_no_operator(analyze: Analyze) -> None:
    case = analyze(step(1, 2, 40), kernel(0, 5, 5), launch(3, 1, 10), kernel(10, 4, 10))

    assert device_time(case).before_window_us == 5
    assert device_time(case).busy_us_per_step == 4
    assert device_time(case).activities_per_step == 1
    assert [(row.calls_per_step, row.us_per_step) for row in case.kernels.items] == [(1, 4)]


def test_d6_work_from_before_the_window_is_not_called_unattributed(analyze: Analyze) -> None:
    case = analyze(step(1, 2, 40), op("a", 3, 5), kernel(0, 5, 5), launch(4, 1, 10), kernel(10, 4, 10))

    assert device_time(case).unattributed_share == 0


def test_e1_operators_have_the_time_of_what_they_launched_themselves(analyze: Analyze) -> None:
    case = analyze(op("A", 0, 20), op("B", 1, 10), launch(2, 1, 1), kernel(30, 10, 1))

    rows = by_name(case)
    assert (rows["A"].device_us_per_step, rows["B"].device_us_per_step) == (0, 10)
    assert (rows["A"].host_us_per_step, rows["B"].host_us_per_step) == (10, 10)
    assert rows["B"].share_of_device == 1


def test_e2_an_annotation_on_the_device_is_no_work(analyze: Analyze) -> None:
    case = analyze(
        step(1, 0, 100),
        span("gpu_user_annotation", "ProfilerStep#1", 20, 100, pid=0, tid=7),
        launch(1, 1, 1),
        kernel(30, 10, 1),
    )

    assert case.num_steps == 1
    assert device_time(case).busy_us_per_step == 10


def test_e3_a_runtime_call_is_host_time(analyze: Analyze) -> None:
    case = analyze(launch(0, 2000, 1), kernel(2001, 2, 1))

    assert device_time(case).busy_us_per_step == 2


def test_e4_a_synchronization_on_a_stream_is_no_work(analyze: Analyze) -> None:
    case = analyze(launch(0, 1, 1), kernel(2, 5, 1), activity("cuda_sync", "Stream Synchronize", 2, 1000, 2))

    assert device_time(case).busy_us_per_step == 5


def test_e5_busy_is_a_union_and_concurrency_is_apart(analyze: Analyze) -> None:
    case = analyze(
        launch(0, 1, 1),
        launch(1, 1, 2),
        kernel(10, 10, 1, stream=7),
        kernel(10, 10, 2, stream=8),
    )

    assert device_time(case).busy_us_per_step == 10
    assert device_time(case).activity_sum_us_per_step == 20
    assert device_time(case).num_streams == 2
    assert case.streams is not None
    assert case.streams.concurrency == 2


def test_e7_a_kernel_belongs_to_the_step_that_launched_it(analyze: Analyze) -> None:
    case = analyze(step(1, 0, 10), launch(1, 1, 1), kernel(12, 8, 1), step(2, 10, 20))

    assert device_time(case).busy_us_per_step == 4  # 8 µs over two steps


def test_f3_device_numbers_are_null_where_the_device_was_not_recorded(analyze: Analyze) -> None:
    case = analyze(op("a", 0, 10), launch(2, 1, 1))

    assert case.device_kind == "not-recorded"
    assert device_time(case).busy_us_per_step is None
    assert device_time(case).busy_share is None
    assert device_time(case).unattributed_share is None
    assert case.streams is None
    assert by_name(case)["a"].device_us_per_step is None
    assert by_name(case)["a"].share_of_device is None


def test_f4_without_a_device_operators_rank_by_self_host_time(analyze: Analyze) -> None:
    case = analyze(op("outer", 0, 100), op("inner", 10, 70), op("other", 100, 50))

    assert case.device_kind == "host"
    assert [row.name for row in case.operators.items] == ["inner", "other", "outer"]
    assert [row.host_us_per_step for row in case.operators.items] == [70, 50, 30]
    assert case.operators.items[0].share_of_host == pytest.approx(70 / 150)
    assert device_time(case).busy_us_per_step is None


def test_g1_broken_stacks_do_no_harm(analyze: Analyze) -> None:
    case = analyze(
        frame("train.py(1): main", 0, 10, **{"Python id": 1, "Python parent id": 77}),
        frame("train.py(9): step", 2, 50, **{"Python id": 2, "Python parent id": 1}),
        op("a", 3, 2),
    )

    source = by_name(case)["a"].source
    assert source is not None
    assert (source.file, source.line, source.function) == ("train.py", 9, "step")


def test_g2_coverage_is_a_share_of_device_time(analyze: Analyze) -> None:
    case = analyze(
        op("a", 0, 10, **{"Input Dims": [[2]], "Input type": ["float"]}),
        launch(1, 1, 1),
        op("b", 10, 10),
        launch(11, 1, 2),
        kernel(20, 30, 1),
        kernel(50, 10, 2),
    )

    assert case.coverage.shapes == 0.75
    assert case.coverage.operators == 1


def test_g4_generated_kernel_names_are_kept_apart(analyze: Analyze) -> None:
    case = analyze(
        launch(0, 1, 1),
        launch(1, 1, 2),
        kernel(5, 5, 1, name="triton_poi_fused_add_0"),
        kernel(10, 5, 2, name="triton_poi_fused_add_1"),
    )

    assert {row.name for row in case.kernels.items} == {"triton_poi_fused_add_0", "triton_poi_fused_add_1"}


def test_h1_the_peak_comes_from_the_allocators_own_counter(analyze: Analyze) -> None:
    case = analyze(op("A", 0, 10), memory(1, 100, total=100), op("B", 10, 10), memory(11, -100, total=0))

    assert case.memory is not None
    assert case.memory.peak_allocated_bytes == 100
    assert case.memory.start_bytes == 0
    assert case.memory.curve is not None
    assert case.memory.curve.allocated_bytes == (0, 100, 0)


def test_d4_activities_without_a_correlation_stay_unattributed(analyze: Analyze) -> None:
    case = analyze(
        op("a", 0, 10), launch(1, 1, 0), kernel(10, 1, 0), kernel(11, 1, 0), kernel(12, 1, 0), kernel(13, 1, -1)
    )

    assert device_time(case).unattributed_share == 1
    assert device_time(case).busy_us_per_step == 4
    assert by_name(case)["a"].device_us_per_step == 0


def test_c1_an_activity_at_time_0_leaves_the_window_alone(tmp_path: Path) -> None:
    timed = [launch(0, 1, 1), kernel(0, 10, 1), launch(1, 1, 2), kernel(20, 10, 2)]
    events = [{**event, "ts": event["ts"] + 1e15} for event in timed]
    trace = read_trace(write_trace(tmp_path, base(*events, kernel(0, 0, 3), offset=0)))
    case = analyze_case(CaseInputs(name="trace", timeline=trace, detail=trace))

    assert device_time(case).busy_us_per_step == 20
    assert device_time(case).busy_share == pytest.approx(20 / 30)


def test_c2_the_mean_of_a_short_kernel_is_not_rounded(analyze: Analyze) -> None:
    case = analyze(launch(100, 0.1, 1), kernel(100.7, 0.2, 1))

    assert case.kernels.items[0].mean_us == pytest.approx(0.2)


def test_c5_each_of_two_overlapping_kernels_counts(analyze: Analyze) -> None:
    case = analyze(launch(-2, 1, 1), launch(-1, 1, 2), kernel(0, 10, 1, name="a"), kernel(8, 6, 2, name="b"))

    assert device_time(case).busy_us_per_step == 14
    assert device_time(case).activity_sum_us_per_step == 16
    assert {row.name: row.us_per_step for row in case.kernels.items} == {"a": 10, "b": 6}


def test_c6_a_kernel_before_its_launch_is_part_of_no_latency(analyze: Analyze) -> None:
    early = [launch(100, 5, 1), kernel(98, 4, 1)]
    ordinary = [event for n in range(5) for event in (launch(200 + 20 * n, 5, n + 2), kernel(208 + 20 * n, 4, n + 2))]
    alone, beside = analyze(*early).launching, analyze(*early, *ordinary).launching

    assert alone is not None
    assert beside is not None
    assert (alone.latency_us, alone.median_lead_us) == (None, None)
    assert (beside.latency_us, beside.median_lead_us) == (3, 3)


def test_c7_lost_activities_make_idle_time_uncertain(analyze: Analyze) -> None:
    case = analyze(
        *(launch(10 * n, 1, n + 1) for n in range(10)), *(kernel(10 * n + 2, 1, n + 1) for n in range(6, 10))
    )

    assert case.launching is not None
    assert not case.launching.idle_is_certain
    assert case.launching.verdict == "undecided"


def test_d1_an_external_id_is_no_link(analyze: Analyze) -> None:
    case = analyze(
        op("A", 0, 10, **{"External id": 7}),
        op("B", 20, 10, **{"External id": 8}),
        launch(22, 1, 7),
        span("kernel", "k", 40, 5, pid=0, tid=7, args={"correlation": 7, "stream": 7, "device": 0, "External id": 7}),
    )

    assert {name: row.device_us_per_step for name, row in by_name(case).items()} == {"A": 0, "B": 5}


def test_d2_a_replay_has_device_time_and_no_operator(analyze: Analyze) -> None:
    case = analyze(
        op("run", 0, 4),
        launch(1, 1, 9, name="cudaGraphLaunch"),
        *(kernel(10 + 10 * n, 5, 9) for n in range(3)),
        launch(50, 1, 10, name="cudaGraphLaunch"),
    )

    assert device_time(case).busy_us_per_step == 15
    assert case.launching is not None
    assert not case.launching.idle_is_certain


def test_d3_a_loop_inside_a_graph_gives_no_verdict(analyze: Analyze) -> None:
    case = analyze(
        launch(0, 1, 9, name="cudaGraphLaunch"),
        kernel(2, 5, 9),
        launch(3, 10_000, 10, name="cudaStreamSynchronize"),
    )

    assert case.launching is not None
    assert case.launching.verdict == "undecided"
    assert not case.launching.idle_is_certain


@pytest.mark.parametrize(
    ("category", "name"),
    [
        ("cuda_driver", "cuLaunchKernelEx"),
        ("cuda_runtime", "hipExtModuleLaunchKernel"),
        ("xpu_runtime", "urEnqueueKernelLaunchWithArgsExp"),
    ],
)
def test_d5_whatever_carries_the_correlation_is_the_launch(analyze: Analyze, category: str, name: str) -> None:
    case = analyze(op("a", 0, 10), launch(1, 1, 5, name=name, cat=category), kernel(10, 4, 5))

    assert by_name(case)["a"].device_us_per_step == 4
    assert case.launching is not None
    assert case.launching.launches_per_step == 1


def test_d7_a_trace_with_correlations_alone_has_all_its_numbers(analyze: Analyze) -> None:
    case = analyze(op("a", 0, 10), launch(1, 1, 1), kernel(5, 4, 1))

    assert by_name(case)["a"].device_us_per_step == 4
    assert by_name(case)["a"].input_shapes is None


def test_d8_categories_of_either_age_give_equal_numbers(analyze: Analyze) -> None:
    old = {"cpu_op": "Operator", "cuda_runtime": "Runtime", "kernel": "Kernel", "user_annotation": "Operator"}
    events = [step(1, 0, 100), op("a", 2, 20), launch(3, 1, 1), kernel(30, 10, 1)]
    now, then = analyze(*events), analyze(*({**event, "cat": old[event["cat"]]} for event in events))

    assert then.device_time == now.device_time
    assert then.operators == now.operators
    assert then.steps == now.steps
    assert then.budget == now.budget


@pytest.mark.parametrize(
    "name",
    [
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
        "ncclKernel_AllReduce_RING_LL_Sum_float",
        "void aiter::cross_device_reduce_2stage<__hip_bfloat16, 8>",
    ],
)
def test_e6_communication_is_counted_apart(analyze: Analyze, name: str) -> None:
    case = analyze(launch(0, 1, 1), kernel(5, 10, 1, name=name), launch(1, 1, 2), kernel(20, 5, 2))

    assert {row.name: row.category for row in case.kernels.items} == {name: "communication", "k": "kernel"}
    assert case.streams is not None
    assert case.streams.communication_us_per_step == 10


def test_e8_a_launch_that_fetched_a_buffer_is_shown_as_the_profilers(analyze: Analyze) -> None:
    launches = [launch(10 * n, 5, n + 1) for n in range(100)]
    case = analyze(
        *launches,
        launch(1000, 3000, 101),
        span("overhead", "Activity Buffer Request", 1000, 2990, tid=-1),
        *(kernel(10 * n + 6, 2, n + 1) for n in range(100)),
        kernel(4002, 2, 101),
    )

    assert "profiler-at-work" in {notice.code for notice in case.notices}
    assert case.budget is not None
    parts = {row.name: row.us_per_step for row in case.budget.parts}
    assert parts.get("stall", 0) == 0
    assert parts["profiler"] >= 2990


def test_e9_the_first_step_is_apart_and_the_rest_is_typical(analyze: Analyze) -> None:
    starts, lengths = (0, 900_000, 1_000_000, 1_101_000), (900_000, 100_000, 101_000, 99_000)
    case = analyze(*(step(n, ts, dur) for n, (ts, dur) in enumerate(zip(starts, lengths, strict=True))))

    assert case.timing is not None
    assert case.timing.step_us == 100_000
    assert [row.settling for row in case.steps] == [True, False, False, False]
    assert [row.host_us for row in case.steps] == list(lengths)


def test_f1_a_window_without_marks_is_one_step(analyze: Analyze) -> None:
    case = analyze(op("a", 0, 10), launch(1, 1, 1), kernel(5, 4, 1))

    assert case.num_steps == 1
    assert case.steps == ()
    assert "steps-not-marked" in {notice.code for notice in case.notices}


def test_f2_a_trace_of_nothing_has_no_numbers_and_says_why(analyze: Analyze) -> None:
    case = analyze()

    assert [notice.code for notice in case.notices] == ["nothing-recorded"]
    assert device_time(case).busy_us_per_step is None
    assert case.operators.total == 0
    assert case.memory is None


def test_f5_a_file_without_a_rank_is_a_case_without_a_rank(analyze: Analyze) -> None:
    case = analyze(op("a", 0, 10))

    assert case.rank is None
    assert "rank-unknown" not in {notice.code for notice in case.notices}


def test_f6_communication_of_an_unknown_group_is_said(analyze: Analyze) -> None:
    name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
    grouped = kernel(10, 5, 1, name=name)
    grouped["args"]["Process Group Name"] = "tp"
    case = analyze(launch(0, 1, 1), launch(2, 1, 2), grouped, kernel(20, 5, 2, name=name))

    assert {notice.code: notice.count for notice in case.notices}["process-group-unknown"] == 1


def test_g3_flops_of_some_are_called_partial_and_impossible_ones_wrong(analyze: Analyze) -> None:
    case = analyze(
        op("aten::mm", 0, 10, flops=1e18),
        launch(1, 1, 1),
        op("attention", 10, 10),
        launch(11, 1, 2),
        kernel(20, 1, 1),
        kernel(30, 3, 2),
    )

    said = {notice.code: notice for notice in case.notices}
    assert said["flops-partial"].share == 0.25
    assert said["flops-impossible"].affects_conclusions
