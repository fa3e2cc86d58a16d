"""Conditions of docs/conditions: figures of hand-made traces that other tools got wrong, one test an id."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reportgen.analysis.model import CaseAnalysis, DeviceTime
from tests.trace_builder import activity, frame, kernel, launch, memory, op, span, step

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
    assert case.memory.curve.allocated_bytes == (100, 0)


def test_d4_activities_without_a_correlation_stay_unattributed(analyze: Analyze) -> None:
    case = analyze(
        op("a", 0, 10), launch(1, 1, 0), kernel(10, 1, 0), kernel(11, 1, 0), kernel(12, 1, 0), kernel(13, 1, -1)
    )

    assert device_time(case).unattributed_share == 1
    assert device_time(case).busy_us_per_step == 4
    assert by_name(case)["a"].device_us_per_step == 0
