"""Conditions D1 to D8 of docs/conditions.md: which operator and which step device work belongs to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reportgen.trace.columns import ActivityKind, Trace
from tests.trace_builder import activity, base, frame, kernel, launch, op, span, step, write_trace
from tests.trace_reading import device_us_by_operator, notices, operator_of_each_activity, plain

Read = Callable[..., Trace]
Json = dict[str, Any]


def test_d1_an_external_id_that_repeats_the_correlation_links_nothing(read: Read) -> None:
    trace = read(
        op("A", 0, 10, **{"External id": 7}),
        op("B", 20, 10, **{"External id": 8}),
        launch(22, 1, 7),
        span("kernel", "k", 40, 5, pid=0, tid=7, args={"correlation": 7, "stream": 7, "device": 0, "External id": 7}),
    )

    assert operator_of_each_activity(trace) == ["B"]


def test_d2_all_of_a_replay_belongs_to_its_launch_and_has_no_operator(read: Read) -> None:
    replay = [kernel(10 + 10 * n, 5, 9, name=f"k{n}") for n in range(3)]
    trace = read(op("run", 0, 4), launch(1, 1, 9, name="cudaGraphLaunch"), *replay)

    assert trace.activities.call.tolist() == [0, 0, 0]
    assert trace.calls.num_activities.tolist() == [3]
    notice = notices(trace)["graph-replays"]
    assert (notice.count, notice.share, notice.affects_conclusions) == (3, 1.0, True)


def test_d2_a_replay_with_fewer_activities_than_its_siblings_is_said(read: Read) -> None:
    replay = [kernel(10 + 10 * n, 5, 9, name=f"k{n}") for n in range(3)]
    trace = read(launch(1, 1, 9, name="cudaGraphLaunch"), launch(50, 1, 10, name="cudaGraphLaunch"), *replay)

    notice = notices(trace)["graph-replays-incomplete"]
    assert (notice.count, notice.share, notice.affects_conclusions) == (1, 0.5, True)
    assert plain(notice.text).startswith("1 of 2 graph launches has fewer activities")


def test_d2_replays_of_two_graphs_may_differ_in_length(read: Read) -> None:
    trace = read(
        launch(1, 1, 9, name="cudaGraphLaunch"),
        kernel(10, 5, 9, name="a"),
        kernel(20, 5, 9, name="b"),
        launch(50, 1, 10, name="cudaGraphLaunch"),
        kernel(60, 5, 10, name="c"),
    )

    assert "graph-replays-incomplete" not in notices(trace)


def test_d3_a_loop_in_a_graph_was_recorded_once(read: Read) -> None:
    trace = read(
        launch(0, 1, 9, name="cudaGraphLaunch"),
        kernel(2, 5, 9),
        span("cuda_runtime", "cudaStreamSynchronize", 3, 10_000, args={"correlation": 10}),
    )

    notice = notices(trace)["graph-work-not-recorded"]
    assert notice.affects_conclusions
    assert "10.0 ms" in plain(notice.text)
    assert "graph-replays" in notices(trace)


def test_d3_a_wait_that_ends_with_the_replay_is_no_loop(read: Read) -> None:
    trace = read(
        launch(0, 1, 9, name="cudaGraphLaunch"),
        kernel(2, 10_000, 9),
        span("cuda_runtime", "cudaStreamSynchronize", 3, 10_020, args={"correlation": 10}),
    )

    assert "graph-work-not-recorded" not in notices(trace)


def test_d4_correlations_of_0_and_below_link_nothing(read: Read) -> None:
    trace = read(
        op("a", 0, 10), launch(1, 1, 0), kernel(10, 1, 0), kernel(11, 1, 0), kernel(12, 1, 0), kernel(13, 1, -1)
    )

    assert operator_of_each_activity(trace) == [None] * 4
    assert trace.calls.is_launch.tolist() == [False]
    assert trace.activities.call.tolist() == [-1] * 4
    assert notices(trace)["unattributed-device-time"].share == 1.0


@pytest.mark.parametrize(
    ("category", "name"),
    [
        ("cuda_driver", "cuLaunchKernelEx"),
        ("cuda_runtime", "hipExtModuleLaunchKernel"),
        ("xpu_runtime", "urEnqueueKernelLaunchWithArgsExp"),
        ("cuda_runtime", "a name of next year"),
    ],
)
def test_d5_a_launch_is_known_by_its_correlation_whatever_its_name(read: Read, category: str, name: str) -> None:
    trace = read(op("a", 0, 10), launch(1, 1, 5, name=name, cat=category), kernel(10, 4, 5))

    assert operator_of_each_activity(trace) == ["a"]
    assert trace.calls.is_launch.tolist() == [True]


def test_d6_what_was_queued_before_the_window_is_in_no_step_and_not_unattributed(read: Read) -> None:
    trace = read(step(1, 2, 40), op("a", 2, 5), kernel(0, 5, 5), launch(3, 1, 10), kernel(10, 4, 10))

    assert trace.activities.before_window.tolist() == [True, False]
    assert trace.activities.step.tolist() == [-1, 0]
    assert operator_of_each_activity(trace) == [None, "a"]
    assert "unattributed-device-time" not in notices(trace)
    notice = notices(trace)["queued-before-window"]
    assert notice.count == 1
    assert notice.share == pytest.approx(5 / 9)


def test_d6_a_low_correlation_tells_even_inside_the_window(read: Read) -> None:
    trace = read(step(1, 0, 40), launch(3, 1, 10), kernel(4, 5, 5), kernel(10, 4, 10))

    assert trace.activities.before_window.tolist() == [True, False]


def test_d6_a_launch_before_the_first_step_counts_as_before(read: Read) -> None:
    trace = read(
        op("warm-up", 0, 4), launch(1, 1, 4), step(1, 5, 40), launch(6, 1, 5), kernel(7, 3, 4), kernel(10, 4, 5)
    )

    assert trace.activities.before_window.tolist() == [True, False]
    assert operator_of_each_activity(trace) == [None, None]


def test_d7_ids_that_old_traces_lack_are_not_missed(read: Read) -> None:
    trace = read(op("a", 0, 10), launch(1, 1, 1), kernel(5, 4, 1))

    assert operator_of_each_activity(trace) == ["a"]
    assert trace.operators.sequence.tolist() == [-1]
    assert trace.operators.forward.tolist() == [-1]


OLD_SPELLING = {
    "cpu_op": "Operator",
    "cuda_runtime": "Runtime",
    "kernel": "Kernel",
    "gpu_memcpy": "Memcpy",
    "gpu_memset": "Memset",
    "python_function": "Python",
    "user_annotation": "Operator",
}


def _one_step() -> list[Json]:
    return [
        step(1, 0, 100),
        frame("train.py(3): main", 1, 90),
        op("aten::mm", 2, 20),
        *(launch(3 + n, 1, n + 1) for n in range(3)),
        kernel(30, 10, 1),
        activity("gpu_memcpy", "Memcpy DtoD (Device -> Device)", 40, 5, 2),
        activity("gpu_memset", "Memset (Device)", 45, 2, 3),
    ]


def _as_of_2021(event: Json) -> Json:
    event = {**event, "cat": OLD_SPELLING[event["cat"]]}
    return {**event, "tid": f"stream {event['tid']}"} if "stream" in event["args"] else event


def test_d8_either_spelling_of_the_categories_gives_equal_numbers(read: Read) -> None:
    now, then = read(*_one_step()), read(*map(_as_of_2021, _one_step()))

    for trace in (now, then):
        assert trace.steps.number.tolist() == [1]
        assert device_us_by_operator(trace) == {"aten::mm": 17.0}
        assert trace.activities.kind.tolist() == [ActivityKind.KERNEL, ActivityKind.COPY, ActivityKind.FILL]
        assert trace.activities.stream.tolist() == [7, 7, 7]
        assert trace.activities.step.tolist() == [0, 0, 0]
        assert trace.operators.frame.tolist() == [0]
    assert now.coverage == then.coverage


def test_d8_a_stream_written_as_text_is_a_number(read: Read) -> None:
    old = {**kernel(5, 4, 1), "tid": "stream 12", "args": {"correlation": 1}}

    assert read(launch(0, 1, 1), old).activities.stream.tolist() == [12]


def test_ids_are_those_of_a_process(tmp_path: Any) -> None:
    """Two processes in one file count their launches alike; each device has the process that its plain ids tell."""
    from reportgen.trace.reader import read_trace

    def of(process: int, event: Json) -> Json:
        return {**event, "pid": process}

    events = [
        *(of(11, event) for event in (op("first", 0, 20), launch(1, 1, 1), launch(3, 1, 2))),
        *(of(22, event) for event in (op("second", 0, 20), launch(2, 1, 1), launch(4, 1, 3))),
        kernel(30, 1, 1, device=0), kernel(31, 1, 2, device=0),
        kernel(40, 1, 1, device=1), kernel(41, 1, 3, device=1),
    ]  # fmt: skip
    trace = read_trace(write_trace(tmp_path, base(*events)))

    assert operator_of_each_activity(trace) == ["first", "first", "second", "second"]


def test_ids_of_two_processes_that_nothing_tells_apart_link_nothing_and_are_said(read: Read) -> None:
    other = {**launch(2, 1, 1), "pid": 2}
    trace = read(op("a", 0, 10), launch(1, 1, 1), other, kernel(20, 4, 1))

    assert operator_of_each_activity(trace) == [None]
    assert notices(trace)["launches-ambiguous"].count == 1


def test_d8_a_wait_that_mtia_writes_on_the_device_too_is_one_call(read: Read) -> None:
    on_host = span("mtia_runtime", "synchronizeStream", 0, 50, args={"correlation": 9, "device": 17, "stream_id": 102})
    on_device = {**on_host, "name": "synchronize", "pid": 17, "tid": 3568}
    trace = read(on_host, on_device)

    assert [trace.names[code] for code in trace.calls.name] == ["synchronizeStream"]
    assert [trace.names[code] for code in trace.stream_syncs.name] == ["synchronize"]
