"""Conditions C1, C2, C5, C6, C7 of docs/conditions.md: times that are none or overlap, records lost or out of order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reportgen.trace.columns import Trace
from tests.trace_builder import kernel, launch, op, span
from tests.trace_reading import busy_us, notices, operator_of_each_activity, plain

Read = Callable[..., Trace]
Json = dict[str, Any]


def _times_of_day(*events: Json) -> list[Json]:
    """Return events whose times lie at 1e15 µs, as a clock since 1970 has them."""
    return [{**event, "ts": event["ts"] + 1e15} for event in events]


def test_c1_an_activity_at_time_0_is_off_the_timeline_and_said(read: Read) -> None:
    events = _times_of_day(launch(0, 1, 1), launch(1, 1, 2), launch(2, 1, 3), kernel(0, 10, 1), kernel(20, 10, 2))
    trace = read(*events, kernel(0, 0, 3), offset=0)

    assert busy_us(trace) == 20
    assert trace.window_end_ns - trace.window_start_ns == 30_000
    assert trace.origin_text == "1000000000000000.000"
    notice = notices(trace)["activities-without-time"]
    assert notice.count == 1
    assert notice.share == pytest.approx(1 / 3)
    assert notice.affects_conclusions


def test_c1_a_kernel_of_no_duration_at_an_ordinary_time_counts(read: Read) -> None:
    trace = read(launch(0, 1, 1), kernel(5, 0, 1))

    assert trace.activities.call.tolist() == [0]
    assert "activities-without-time" not in notices(trace)


def test_c1_a_clock_that_begins_at_0_is_no_missing_time(read: Read) -> None:
    trace = read(kernel(0, 10, 1), op("a", 0, 4), launch(1, 1, 1), offset=0)

    assert len(trace.activities.start_ns) == 1
    assert "activities-without-time" not in notices(trace)


def test_c2_a_duration_is_not_the_difference_of_rounded_times(read: Read) -> None:
    trace = read(kernel(100.7, 0.2, 1), launch(100, 0.1, 1))

    assert (trace.activities.end_ns - trace.activities.start_ns).tolist() == [200]


def test_c5_overlapping_kernels_of_one_stream_are_all_kept(read: Read) -> None:
    trace = read(launch(-2, 1, 1), launch(-1, 1, 2), kernel(0, 10, 1), kernel(8, 6, 2))

    assert busy_us(trace) == 14
    assert int((trace.activities.end_ns - trace.activities.start_ns).sum()) == 16_000


def test_c6_a_kernel_before_its_launch_is_kept_and_said(read: Read) -> None:
    trace = read(op("a", 99, 10), launch(100, 5, 1), kernel(98, 4, 1))

    assert trace.activities.start_ns.tolist() == [0]
    assert trace.calls.start_ns.tolist() == [2000]
    assert operator_of_each_activity(trace) == ["a"]
    notice = notices(trace)["clocks-misaligned"]
    assert (notice.count, notice.share, notice.affects_conclusions) == (1, 1.0, True)
    assert plain(notice.text).startswith("The only device activity starts before its launch, by up to 2.00 µs")


def test_c7_launches_without_an_activity_are_counted(read: Read) -> None:
    launches = [launch(10 * n, 1, n + 1) for n in range(10)]
    kernels = [kernel(10 * n + 2, 4, n + 1) for n in range(6, 10)]
    notice = notices(read(*launches, *kernels))["launches-without-activity"]

    assert plain(notice.text).startswith("6 of 10 launches have no device activity, the first in a row")
    assert (notice.count, notice.share, notice.affects_conclusions) == (6, 0.6, True)


def test_c7_a_launch_into_a_graph_being_captured_runs_nothing_and_lost_nothing(read: Read) -> None:
    trace = read(
        launch(0, 1, 1, name="cudaStreamBeginCapture_v10000"),
        launch(2, 1, 2),
        launch(4, 1, 3),
        launch(6, 1, 4, name="cudaStreamEndCapture_v10000"),
        launch(8, 1, 5),
        kernel(10, 2, 5),
    )

    assert "launches-without-activity" not in notices(trace)


def test_c7_a_driver_call_inside_a_runtime_call_is_no_second_launch(read: Read) -> None:
    driver = span("cuda_driver", "cuLaunchKernelEx", 1, 1, args={"correlation": 1})
    trace = read(launch(0, 4, 1, name="cudaLaunchKernelExC"), driver, kernel(6, 2, 1))

    assert "launches-without-activity" not in notices(trace)
    assert trace.calls.is_launch.sum() == 1


def test_c7_work_that_waits_for_an_idle_device_shows_that_something_is_missing(read: Read) -> None:
    trace = read(launch(0, 5, 1), kernel(8000, 10, 1), launch(20, 5, 2), kernel(8010, 10, 2))

    notice = notices(trace)["device-work-not-recorded"]
    assert (notice.count, notice.affects_conclusions) == (1, True)
    assert plain(notice.text).startswith(
        "Launched work waited once for a device that did nothing by this record, 8.00 ms in all"
    )


def test_c7_work_that_waits_for_other_work_or_is_launched_late_misses_nothing(read: Read) -> None:
    queued = [launch(0, 5, 1), kernel(6, 8000, 1), launch(20, 5, 2), kernel(8006, 10, 2)]
    late = [launch(20_000, 5, 3), kernel(20_006, 10, 3)]
    pageable = [launch(30_000, 9000, 4, name="cudaMemcpyAsync"), kernel(38_000, 900, 4)]

    assert "device-work-not-recorded" not in notices(read(*queued, *late, *pageable))
