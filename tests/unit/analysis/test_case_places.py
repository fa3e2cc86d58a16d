from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from reportgen.analysis.attribution.attribution import Attribution
from reportgen.analysis.attribution.case_places import CasePlaces
from reportgen.analysis.steps.window import count
from reportgen.analysis.totals.sources import rank_sources
from reportgen.recording import SyncSite
from reportgen.trace.columns import Trace
from tests.trace_builder import OFFSET_US, frame, kernel, launch, op, step

Read = Callable[..., Trace]


def passes(read: Read) -> tuple[Trace, Trace]:
    """Return a step as two passes saw it: two operators, between them user code that takes 60 of 100 and of 200 µs.

    In the detail pass all took twice as long, and frames tell that `pause` ran between the operators.
    """
    timeline = read(step(1, 0, 100), op("a", 0, 20), op("b", 80, 20), name="timeline.json")
    detail = read(
        step(4, 1000, 200),
        frame("run.py(1): main", 990, 220),
        frame("run.py(9): pause", 1050, 100),
        op("a", 1000, 40),
        op("b", 1160, 40),
        name="detail.json",
    )
    return timeline, detail


def test_user_code_between_operators_is_found_through_the_detail_pass(read: Read) -> None:
    places = CasePlaces(Attribution(*passes(read)), "timeline.json")

    assert [places.source_at(us * 1000).function for us in (10, 22, 50, 78, 90)] == [  # type: ignore[union-attr]
        "main", "main", "pause", "main", "main",
    ]  # fmt: skip


def test_host_time_is_the_timelines_and_is_shared_out_as_in_the_detail_pass(read: Read) -> None:
    timeline, detail = passes(read)
    ranked = rank_sources(CasePlaces(Attribution(timeline, detail), "t"), count(timeline), None)

    # Detail: `pause` has 100 of the 120 µs between the operators; the timeline has 60 µs there.
    host = {row.function: row.host_us_per_step for row in ranked.items}
    assert host["pause"] == pytest.approx(50, abs=0.01)  # borders are whole ns
    assert host["main"] == pytest.approx(50, abs=0.01)


def test_host_time_of_one_trace_is_that_of_its_own_frames(read: Read) -> None:
    trace = read(
        frame("run.py(1): main", -10, 300),
        frame("run.py(9): pause", 30, 40),
        frame("torch/nn/functional.py(7): f", 40, 10),
        step(1, 0, 100),
        frame("run.py(9): pause", 110, 10),
        step(2, 100, 100),
        frame("run.py(9): pause", 210, 30),
        step(3, 200, 80),
    )
    ranked = rank_sources(CasePlaces(Attribution(trace, trace), "t"), count(trace), None)

    # The first step settles; the others pause for 10 of 100 and 30 of 80.
    assert {row.function: row.host_us_per_step for row in ranked.items} == {"main": 70, "pause": 20}


def test_device_time_belongs_to_the_innermost_user_function_that_launched(read: Read) -> None:
    trace = read(
        frame("run.py(1): main", 0, 50),
        frame("run.py(9): layer", 5, 20),
        op("a", 6, 10),
        launch(7, 1, 1),
        launch(30, 1, 2),  # a custom kernel: no operator around it
        kernel(40, 12, 1),
        kernel(52, 3, 2),
    )
    ranked = rank_sources(CasePlaces(Attribution(trace, trace), "t"), count(trace), None)

    assert [(row.function, row.device_us_per_step) for row in ranked.items] == [("layer", 12), ("main", 3)]
    assert {row.line_kind for row in ranked.items} == {"def"}


def test_a_place_is_given_in_the_files_own_clock(read: Read) -> None:
    trace = read(op("a", 5, 10), launch(6, 1, 42), kernel(20, 3, 42, stream=9))
    where = CasePlaces(Attribution(trace, trace), "trace.json").where(15_000, 18_000, activity=0, thread=0)

    assert (where.start_us, where.end_us) == (OFFSET_US + 20, OFFSET_US + 23)
    assert (where.trace, where.stream, where.thread, where.correlation) == ("trace.json", 9, "1", 42)


@pytest.mark.parametrize(
    ("sites", "line", "kind"),
    [
        ([("/home/u/work/planted.py", 58, "hook")], 58, "call"),
        ([("/home/u/work/planted.py", 58, "hook"), ("/home/u/work/planted.py", 60, "hook")], 57, "def"),
        ([("/home/u/work/other.py", 58, "hook")], 57, "def"),
        ([("/home/u/work/planted.py", 90, "main")], 57, "def"),
        ([], 57, "def"),
    ],
)
def test_a_synchronization_gets_the_line_that_the_sync_pass_saw(
    read: Read, sites: list[tuple[str, int, str]], line: int, kind: str
) -> None:
    trace = read(
        frame("planted.py(57): hook", 0, 50),
        op("aten::item", 1, 40),
        launch(2, 1, 1, name="cudaMemcpyAsync"),
        launch(4, 30, 2, name="cudaStreamSynchronize"),
        kernel(10, 2, 1),
    )
    recorded = [SyncSite(file=file, line=number, function=function, count=1) for file, number, function in sites]
    places = CasePlaces(Attribution(trace, trace), "trace.json", recorded)
    source = places.source(frame=-1, operator=-1, call=1)

    assert source is not None
    assert (source.function, source.line, source.line_kind) == ("hook", line, kind)
    launching = places.source(frame=-1, operator=-1, call=0)
    assert launching is not None
    assert launching.line_kind == "def"


def test_frames_of_many_events_are_found_at_once(read: Read) -> None:
    trace = read(frame("run.py(1): main", 0, 50), op("a", 1, 10), launch(2, 1, 1), kernel(9, 1, 1), launch(60, 1, 2))
    places = CasePlaces(Attribution(trace, trace), "t")
    unknown = np.array([-1, -1, -1, -1], dtype=np.int32)
    found = places.frames(
        frame=np.array([0, -1, -1, -1], dtype=np.int32),
        operator=np.array([-1, 0, -1, -1], dtype=np.int32),
        call=np.array([-1, -1, 0, 1], dtype=np.int32),
    )

    assert found.tolist() == [0, 0, 0, -1]
    assert places.frames(frame=unknown, operator=unknown, call=unknown).tolist() == [-1] * 4


@pytest.mark.parametrize(
    ("shown_ns", "example"),
    [
        (None, 0),  # the longest of all
        ((100_000, 200_000), 2),  # the longest inside, though a longer one reaches out of it
        ((300_000, 400_000), 0),  # none inside
    ],
)
def test_the_place_that_stands_for_several_lies_in_the_step_that_is_shown(
    read: Read, shown_ns: tuple[int, int] | None, example: int
) -> None:
    trace = read(op("a", 5, 10))
    places = CasePlaces(Attribution(trace, trace), "t", shown_ns=shown_ns)
    starts, ends = np.array([0, 110_000, 150_000, 190_000]), np.array([90_000, 120_000, 180_000, 230_000])
    assert places.example(starts, ends) == example
