"""Budgets of timelines that can be worked out on paper. Times in µs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from reportgen.analysis.budget.compute import compute_budget
from reportgen.analysis.steps.steps import measure_steps
from reportgen.analysis.steps.timing import summarize_timing
from reportgen.analysis.waiting.budget_result import BudgetResult, part_of
from reportgen.trace.columns import Trace
from tests.trace_builder import activity, frame, kernel, launch, op, span, step

Read = Callable[..., Trace]


def budget_of(trace: Trace, device: int | None = None) -> BudgetResult:
    steps = measure_steps(trace)
    result = compute_budget(trace, steps, summarize_timing(None, steps), device=device)
    assert result is not None
    return result


def lengths(result: BudgetResult) -> dict[str, float]:
    """Return how long each part lasts as the trace shows it, over all intervals; work and waits tile them."""
    parts: dict[str, float] = {}
    for table, column in ((result.work, result.work.part), (result.waits, result.waits.cause)):
        for code in np.unique(column).tolist():
            chosen = column == code
            parts[part_of(code)] = float((table.end_ns - table.start_ns)[chosen].sum()) / 1e3
    assert sum(parts.values()) == float((result.interval_end_ns - result.interval_start_ns).sum()) / 1e3
    return parts


def sync(ts: float, dur: float, *, tid: int = 1) -> dict[str, object]:
    return span("cuda_runtime", "cudaStreamSynchronize", ts, dur, tid=tid)


def waiting_operators(trace: Trace, result: BudgetResult, cause: str) -> set[str]:
    rows = [row for row, code in enumerate(result.waits.cause.tolist()) if part_of(code) == cause]
    return {trace.names[trace.operators.name[result.waits.operator[row]]] for row in rows}


def test_two_streams_and_copies_beside_and_behind_compute(read: Read) -> None:
    trace = read(
        launch(0, 1, 1), launch(2, 1, 2), launch(4, 1, 3), launch(6, 1, 4),
        kernel(10, 20, 1, 7), kernel(20, 30, 2, 8),  # compute 10 to 50 on two streams
        activity("gpu_memcpy", "Memcpy DtoD", 60, 20, 3, 8, bytes=1),  # 60 to 80, of which 70 to 80 is hidden
        kernel(70, 20, 4, 7),
    )  # fmt: skip

    # Waits: 0 to 1 the first launch, 1 to 10 and 50 to 60 turnaround, since all was launched by 7.
    assert lengths(budget_of(trace)) == {"compute": 60, "copy": 10, "launch-call": 1, "turnaround": 19}


def test_a_wait_is_charged_to_the_innermost_of_nested_operators(read: Read) -> None:
    trace = read(op("outer", 0, 100), op("inner", 20, 60), launch(50, 5, 1), kernel(60, 40, 1))
    result = budget_of(trace)

    assert lengths(result) == {"launch": 50, "launch-call": 5, "turnaround": 5, "compute": 40}
    assert waiting_operators(trace, result, "launch") == {"inner"}


def test_pauses_inside_a_replayed_graph_are_turnaround(read: Read) -> None:
    graph = [kernel(20, 10, 1), kernel(35, 10, 1), kernel(50, 10, 1)]

    # 10 to 20, 30 to 35, 45 to 50.
    assert lengths(budget_of(read(launch(0, 10, 1, name="cudaGraphLaunch"), *graph))) == {
        "launch-call": 10, "turnaround": 20, "compute": 30,
    }  # fmt: skip


def test_a_step_without_kernels_waits_for_the_next_one(read: Read) -> None:
    trace = read(
        step(1, 0, 100), launch(10, 5, 1), kernel(20, 60, 1),  # complete at 100, when the host leaves it
        step(2, 100, 100),  # complete at 200
        step(3, 200, 100), op("prepare", 150, 55), launch(210, 5, 2), kernel(220, 120, 2),  # complete at 340
    )  # fmt: skip
    result = budget_of(trace)

    # From 100 to 210 the host is on its way to the launch.
    assert lengths(result) == {"launch": 110, "launch-call": 5, "turnaround": 5, "compute": 120}
    assert (result.interval_end_ns - result.interval_start_ns).tolist() == [100_000, 140_000]
    assert len(result.gaps.start_ns) == 2  # cut at 200, where an interval ends


def test_each_of_two_devices_has_a_budget_of_its_own(read: Read) -> None:
    trace = read(launch(0, 2, 1), launch(4, 2, 2), kernel(10, 40, 1, device=0), kernel(20, 80, 2, device=1))

    assert budget_of(trace).device == 1  # it has more work
    assert lengths(budget_of(trace)) == {"launch": 4, "launch-call": 2, "turnaround": 14, "compute": 80}
    # From 50 to 100 nothing more came for the other.
    assert lengths(budget_of(trace, 0)) == {"launch-call": 2, "turnaround": 8, "compute": 40, "launch": 50}


def test_a_drained_queue_costs_until_the_lead_is_back(read: Read) -> None:
    trace = read(
        launch(0, 2, 1), kernel(10, 100, 1),  # busy 10 to 110
        sync(10, 105),  # when it begins the device has 100 left to do: the lead that is lost
        launch(125, 2, 2), kernel(130, 10, 2),
        launch(145, 2, 3), kernel(150, 10, 3),
        launch(165, 2, 4), kernel(170, 200, 4),  # 203 ahead when it returns: the lead is back
        launch(240, 2, 5), kernel(370, 5, 5), launch(310, 2, 6), kernel(375, 5, 6),
        launch(385, 2, 7), kernel(390, 10, 7),
    )  # fmt: skip
    result = budget_of(trace)

    # Under the call 110 to 115; refill 115 to 127, 140 to 147, 160 to 167; the last launch is late by itself.
    assert lengths(result)["sync"] == 5 + 12 + 7 + 7
    assert float((result.waits.end_ns - result.waits.start_ns)[result.waits.refill].sum()) == 26_000
    # Turnaround is nobody's: 2 to 10, and 3 before each of the others.
    assert lengths(result) == {
        "compute": 340, "sync": 31, "launch": 5, "launch-call": 2 + 2, "turnaround": 8 + 4 * 3,
    }  # fmt: skip


def test_a_drain_answers_for_no_more_than_the_lead_that_it_took(read: Read) -> None:
    trace = read(
        launch(0, 2, 1), kernel(10, 25, 1), launch(20, 2, 2), kernel(35, 25, 2),
        launch(40, 2, 3), kernel(60, 25, 3), launch(80, 2, 4), kernel(85, 25, 4),  # busy 10 to 110
        sync(106, 6),  # 4 left to do
        launch(130, 2, 5), kernel(135, 10, 5),
    )  # fmt: skip

    # 110 to 112 under the call, 4 of the 18 until the launch.
    assert lengths(budget_of(trace)) == {
        "compute": 110, "sync": 2 + 4, "launch": 14, "launch-call": 2 + 2, "turnaround": 8 + 3,
    }  # fmt: skip


def test_of_two_launching_threads_the_one_that_launches_next_is_waited_for(read: Read) -> None:
    trace = read(
        op("forward", 0, 30), launch(10, 2, 1), kernel(15, 20, 1),
        op("backward", 40, 60, tid=2), launch(60, 2, 2, tid=2), kernel(70, 30, 2),
    )  # fmt: skip
    result = budget_of(trace)

    assert lengths(result) == {
        "launch": 10 + 25, "launch-call": 2 + 2, "turnaround": 3 + 8, "compute": 50,
    }  # fmt: skip
    assert waiting_operators(trace, result, "launch") == {"forward", "backward"}


def test_a_thread_that_has_nothing_open_waits_for_the_main_one(read: Read) -> None:
    trace = read(
        op("forward", 0, 39), launch(10, 2, 1), kernel(15, 20, 1),
        sync(30, 8),  # 30 to 38: 5 left to do when it begins
        op("backward", 40, 60, tid=2), launch(60, 2, 2, tid=2), kernel(70, 30, 2),
    )  # fmt: skip

    # 35 to 38 under the call, and 5 of the refill until 60.
    assert lengths(budget_of(trace)) == {
        "launch": 10 + 17, "sync": 3 + 5, "launch-call": 2 + 2, "turnaround": 3 + 8, "compute": 50,
    }  # fmt: skip


def test_one_place_that_holds_up_every_step_is_a_stall(read: Read) -> None:
    events = []
    for number in range(3):
        at = 660 * number
        events += [step(number, at, 660)]
        for turn in range(10):
            c = 20 * number + turn + 1
            events += [launch(at + 10 * turn, 2, c), kernel(at + 10 * turn + 4, 5, c)]
        # Among stretches of 8, and one of 48 until the next step, it lasts 500.
        events += [frame("train.py(3): load", at + 100, 500)]
        events += [launch(at + 610, 2, 20 * number + 20), kernel(at + 614, 46, 20 * number + 20)]

    result = budget_of(read(*events))

    assert lengths(result)["stall"] == 2 * 500
    assert result.num_intervals == 2


def _steps_that_end_in_a_pause(*pauses: float, stacks: bool) -> list[dict[str, object]]:
    """Return steps of 160 and their pause: ten launches in the first 92, device done at 99, host code from 120 on."""
    events, at = [], 0.0
    for number, pause in enumerate(pauses):
        events += [step(number, at, 160 + pause)]
        for turn in range(10):
            c = 10 * number + turn + 1
            events += [launch(at + 10 * turn, 2, c), kernel(at + 10 * turn + 4, 5, c)]
        events += [op("size", at + 100, 20)]  # launches nothing
        events += [frame("train.py(3): log", at + 120, pause)] if stacks and pause else []
        at += 160 + pause
    return events


def test_a_pause_after_the_last_launch_is_a_stall_of_every_step_the_last_one_too(read: Read) -> None:
    result = budget_of(read(*_steps_that_end_in_a_pause(500, 500, 500, stacks=True)))

    assert (result.interval_end_ns - result.interval_start_ns).tolist() == [660_000, 660_000]
    assert lengths(result)["stall"] == 2 * 500


def test_a_pause_after_the_last_launch_is_recognised_without_stacks_too(read: Read) -> None:
    result = budget_of(read(*_steps_that_end_in_a_pause(500, 500, 500, stacks=False)))

    # From the end of the operator at 120 to the end of the step: nothing tells the pause from the code around it.
    assert lengths(result)["stall"] == 2 * 540


def test_what_follows_the_last_launch_of_one_step_alone_is_no_stall(read: Read) -> None:
    result = budget_of(read(*_steps_that_end_in_a_pause(0, 0, 500, stacks=True)))

    # From 99 of the last step, where the device is done, to its end at 660; from 99 of the second one to its end.
    assert lengths(result)["launch"] == 561 + 61 + 2 * 9 * 1
    assert "stall" not in lengths(result)


def test_input_counts_where_the_device_waits_for_it(read: Read) -> None:
    loader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
    late = read(op(loader, 0, 200), launch(210, 2, 1), kernel(215, 10, 1))
    early = read(launch(0, 2, 1), kernel(5, 300, 1), op(loader, 10, 200), launch(220, 2, 2), kernel(305, 10, 2))

    assert lengths(budget_of(late))["input"] == 200
    assert "input" not in lengths(budget_of(early))


def test_an_allocation_from_the_driver_is_the_allocators(read: Read) -> None:
    trace = read(span("cuda_runtime", "cudaMalloc", 10, 50), launch(70, 2, 1), kernel(75, 10, 1))

    # The window begins with the allocation.
    assert lengths(budget_of(trace)) == {
        "allocator": 50, "launch": 10, "launch-call": 2, "turnaround": 3, "compute": 10,
    }  # fmt: skip


def test_what_recording_cost_is_taken_out_of_the_waits_that_it_made(read: Read) -> None:
    trace = read(
        step(1, 0, 100), launch(10, 5, 1), kernel(20, 80, 1),
        step(2, 100, 900), op("a", 100, 800), launch(900, 10, 2), kernel(920, 80, 2),
    )  # fmt: skip
    rows = {row.name: (row.us_per_step, row.low_us, row.high_us) for row in budget_of(trace).budget.parts}

    # An operator without shapes costs 1.0 to 1.6 to record, a runtime call 1.2 to 3.7.
    assert rows["launch"] == pytest.approx((800 - 1.3, 800 - 1.6, 800 - 1.0))
    assert rows["launch-call"] == pytest.approx((10 - 2.45, 10 - 3.7, 10 - 1.2))
    assert rows["profiler"] == pytest.approx((3.75, 2.2, 5.3))
    assert rows["turnaround"] == pytest.approx((10, 10, 10))
    assert sum(row[0] for row in rows.values()) == pytest.approx(900)
