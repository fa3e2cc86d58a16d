from __future__ import annotations

from collections.abc import Callable

import pytest

from reportgen.analysis.model import CaseAnalysis, Lane, Timeline
from reportgen.analysis.one_step.timeline import NUM_BINS
from tests.trace_builder import activity, kernel, launch, op, span, step

Analyze = Callable[..., CaseAnalysis]


def lanes(case: CaseAnalysis) -> dict[str, Lane]:
    assert case.timeline is not None
    return {lane.name: lane for lane in case.timeline.lanes}


def timeline(case: CaseAnalysis) -> Timeline:
    assert case.timeline is not None
    return case.timeline


def test_the_step_of_median_length_is_drawn(analyze: Analyze) -> None:
    lengths = [900, 100, 120, 110]
    starts = [0, 900, 1000, 1120]
    case = analyze(*(step(n, at, length) for n, (at, length) in enumerate(zip(starts, lengths, strict=True), start=1)))

    assert (timeline(case).step, timeline(case).duration_us) == (4, 110)


def test_lanes_show_operators_launches_and_each_stream(analyze: Analyze) -> None:
    case = analyze(
        *(op("a", 0, 150), launch(10, 10, 1), launch(30, 10, 2)),
        kernel(100, 50, 1),
        activity("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 200, 100, 2, 8, bytes=4),
    )
    drawn = lanes(case)

    assert timeline(case).duration_us == 300
    shown = {
        name: [(piece.start_us, piece.duration_us, piece.part, piece.share) for piece in lane.segments]
        for name, lane in drawn.items()
    }
    assert shown == {
        "operators": [(0, 150, "launch", 1)],
        "launches": [(10, 10, "launch-call", 1), (30, 10, "launch-call", 1)],
        "stream 7": [(100, 50, "compute", 1)],
        "stream 8": [(200, 100, "copy", 1)],
        # Until the launch, under it, and from its end to the kernel; then until the copy, launched long before.
        "waits": [
            (0, 10, "launch", 1),
            (10, 10, "launch-call", 1),
            (20, 80, "turnaround", 1),
            (150, 50, "turnaround", 1),
        ],
    }


def test_a_bin_shows_how_much_of_it_is_filled(analyze: Analyze) -> None:
    case = analyze(launch(0, 1, 1), launch(1, 1, 2), kernel(60, 1.5, 1), kernel(599, 1, 2))  # bins of 2 µs

    assert [(piece.start_us, piece.share) for piece in lanes(case)["stream 7"].segments] == [(60, 0.75), (598, 0.5)]


def test_a_lane_stays_small_whatever_the_number_of_events(analyze: Analyze) -> None:
    events = [event for c in range(1, 900) for event in (launch(2 * c, 1, c), kernel(3000 + 3 * c, 1 + c % 2, c))]

    assert all(len(lane.segments) <= NUM_BINS for lane in lanes(analyze(*events)).values())


def test_without_a_device_the_host_computes(analyze: Analyze) -> None:
    assert {piece.part for piece in lanes(analyze(op("a", 0, 10)))["operators"].segments} == {"compute"}


def test_a_collective_on_a_thread_of_its_backend_is_communication_of_the_host(analyze: Analyze) -> None:
    # 9 us of an operator, and 40 us in which the backend's thread waits for the other ranks, in each step of 100.
    case = analyze(
        *(
            event
            for at in (0, 100, 200)
            for event in (
                step(at, at, 100),
                op("aten::mm", at + 1, 9),
                span("user_annotation", "gloo:all_reduce", at + 20, 40, tid=2),
                span("user_annotation", "my_all_reduce", at + 70, 20, tid=2),  # a name that the program gave
            )
        )
    )

    assert case.budget is not None
    parts = {part.name: part.us_per_step for part in case.budget.parts if part.us_per_step}
    assert parts["communication"] == 40
    assert parts["compute"] == pytest.approx(9, abs=1.6)  # less what recording an operator costs


def test_a_trace_without_events_has_no_strip(analyze: Analyze) -> None:
    assert analyze().timeline is None


def test_what_recording_adds_to_a_wait_is_the_profilers_in_the_strip_as_in_the_budget(analyze: Analyze) -> None:
    # The wait for the launch at 100 us holds 20 operators of 1.0 to 1.6 us of recording each: 26 us of it.
    ops = [op("a", 5 * number, 4) for number in range(20)]
    case = analyze(*ops, launch(100, 1, 1), kernel(101, 99, 1))
    waits = lanes(case)["waits"]

    assert waits.us_by_part["launch"] == pytest.approx(74, abs=0.1)
    assert waits.us_by_part["profiler"] >= 26
    assert sum(waits.us_by_part.values()) == pytest.approx(101)
    assert case.budget is not None
    assert waits.us_by_part == pytest.approx(
        {row.name: row.us_per_step for row in case.budget.parts if row.us_per_step and row.name != "compute"}
    )
