"""Conditions F1 to F4, F6 of docs/conditions.md, and F5 for a single file: steps, ranks and groups that are missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reportgen.trace.columns import Trace
from tests.trace_builder import Json, kernel, launch, memory, op, span
from tests.trace_reading import notices, plain

Read = Callable[..., Trace]


def test_f1_without_step_marks_the_window_is_all_that_was_recorded(read: Read) -> None:
    trace = read(op("a", 0, 10), launch(1, 1, 1), kernel(5, 20, 1))

    assert len(trace.steps.number) == 0
    assert (trace.window_start_ns, trace.window_end_ns) == (0, 25_000)
    assert trace.activities.before_window.tolist() == [False]
    assert "steps-not-marked" in notices(trace)


@pytest.mark.parametrize(
    "events",
    [
        [{"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "ts": 0, "args": {"name": "python"}}],
        [],
        [
            {"ph": "i", "s": "g", "name": "Iteration Start: PyTorch Profiler", "pid": "Traces", "tid": "T", "ts": 1},
            {"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": 9},
        ],
    ],
    ids=["metadata", "nothing", "instants"],
)
def test_f2_a_trace_of_nothing_says_so_once_and_why(read: Read, events: list[Json]) -> None:
    trace = read(*events)

    assert [notice.code for notice in trace.notices] == ["nothing-recorded"]
    assert "step()" in trace.notices[0].text
    assert trace.notices[0].affects_conclusions
    assert (trace.coverage.operators, trace.coverage.shapes, trace.coverage.stacks) == (None, None, None)


@pytest.mark.parametrize(
    ("signs", "said"),
    [
        ([launch(2, 1, 1)], "1 call of its runtime was recorded"),
        ([launch(2, 1, 1), launch(4, 1, 2)], "2 calls of its runtime were recorded"),
        ([memory(2, 512, total=512)], "its memory was used"),
    ],
)
def test_f3_a_device_without_activities_is_not_recorded(read: Read, signs: list[Json], said: str) -> None:
    trace = read(op("a", 0, 10), *signs)

    assert (trace.device_expected, trace.device_recorded) == (True, False)
    notice = notices(trace)["device-not-recorded"]
    assert said in plain(notice.text)
    assert notice.affects_conclusions
    assert trace.coverage.operators is None


def test_f3_a_listed_device_is_a_sign_of_one(read: Read) -> None:
    trace = read(op("a", 0, 10), deviceProperties=[{"id": 0, "name": "NVIDIA H200"}])

    assert "a device is listed" in notices(trace)["device-not-recorded"].text


def test_f4_without_a_device_nothing_of_one_is_missed(read: Read) -> None:
    trace = read(op("a", 0, 10), op("b", 10, 10), op("c", 20, 10))

    assert (trace.device_expected, trace.device_recorded) == (False, False)
    assert not any("device" in notice.text for notice in trace.notices)
    assert not any(notice.affects_conclusions for notice in trace.notices)


@pytest.mark.parametrize(
    ("top", "rank", "said"),
    [
        ({}, None, False),
        ({"distributedInfo": {"rank": 0}}, 0, False),
        ({"distributedInfo": {"rank": 3, "world_size": 8}}, 3, False),
        ({"distributedInfo": {"world_size": 8}}, None, True),
    ],
)
def test_f5_one_file_needs_no_rank(read: Read, top: dict[str, Any], rank: int | None, said: bool) -> None:
    trace = read(op("a", 0, 10), **top)

    assert trace.info.rank == rank
    assert ("rank-unknown" in notices(trace)) is said


ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"


def _grouped(event: Json, group: str) -> Json:
    return {**event, "args": {**event["args"], "Process Group Name": group}}


def test_f6_groups_are_never_mixed_and_a_missing_one_is_unknown(read: Read) -> None:
    trace = read(
        launch(0, 1, 1), launch(2, 1, 2),
        _grouped(kernel(10, 5, 1, name=ALL_REDUCE), "tp"), kernel(20, 5, 2, name=ALL_REDUCE),
    )  # fmt: skip

    known, unknown = trace.activities.process_group.tolist()
    assert trace.names[known] == "tp"
    assert unknown == -1
    notice = notices(trace)["process-group-unknown"]
    assert notice.count == 1
    assert plain(notice.text) == (
        "1 of 2 communication kernels names no process group: groups are told apart for the others only."
    )


def test_f6_a_group_is_taken_from_the_operator_around_the_launch(read: Read) -> None:
    trace = read(
        span("cpu_op", "record_param_comms", 0, 10, args={"Process Group Name": "dp"}),
        op("nccl:all_reduce", 1, 5),
        launch(2, 1, 1),
        kernel(10, 5, 1, name=ALL_REDUCE),
    )

    assert trace.names[trace.activities.process_group[0]] == "dp"
    assert "process-group-unknown" not in notices(trace)


def test_f6_no_group_is_known_where_none_is_named(read: Read) -> None:
    trace = read(launch(0, 1, 1), kernel(10, 5, 1, name=ALL_REDUCE))

    assert plain(notices(trace)["process-group-unknown"].text) == (
        "The only communication kernel names no process group: no groups are told apart."
    )
