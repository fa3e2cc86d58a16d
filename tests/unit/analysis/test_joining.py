from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reportgen.analysis.attribution.joining import join
from reportgen.analysis.case import CaseInputs
from reportgen.trace.columns import Trace
from tests.analyzing import analyze_case
from tests.trace_builder import frame, kernel, launch, op, step

Read = Callable[..., Trace]
Json = dict[str, Any]


def run(*kernels: tuple[str, int], start: float = 0, first: int = 1) -> list[Json]:
    """Return operators of 10 µs that launch one kernel each: (name, grid)."""
    events = []
    for index, (name, grid) in enumerate(kernels):
        at = start + 10 * index
        events += [
            op(f"aten::{name}", at, 9),
            launch(at + 1, 1, first + index),
            kernel(at + 5, 3, first + index, name=name, grid=[grid, 1, 1], block=[32, 1, 1]),
        ]
    return events


def test_a_trace_is_its_own_twin(read: Read) -> None:
    trace = read(*run(("a", 1), ("b", 1)))
    twins = join(trace, trace)

    assert twins.activity.tolist() == [0, 1]
    assert twins.operator.tolist() == [0, 1]


def test_an_activity_that_only_one_pass_has_shifts_no_other(read: Read) -> None:
    timeline = read(step(1, 0, 100), *run(("a", 1), ("b", 1), ("c", 1)), name="timeline.json")
    detail = read(step(1, 0, 100), *run(("a", 1), ("extra", 1), ("b", 1), ("c", 1)), name="detail.json")
    twins = join(timeline, detail)

    assert twins.activity.tolist() == [0, 2, 3]
    assert twins.operator.tolist() == [0, 2, 3]


def test_equal_names_are_told_apart_by_their_grid(read: Read) -> None:
    timeline = read(*run(("gemm", 8), ("gemm", 64)), name="timeline.json")
    detail = read(*run(("gemm", 2), ("gemm", 8), ("gemm", 64)), name="detail.json")

    assert join(timeline, detail).activity.tolist() == [1, 2]


def test_what_runs_with_other_shapes_gets_operators_but_no_shapes(read: Read) -> None:
    """A step of the timeline pass that is launched with other grids was not recorded with its shapes."""

    def shaped(length: int, *starts: float) -> list[Json]:
        events = []
        for number, start in enumerate(starts):
            # A product's kernel has the grid of the device, whatever its shape; the others follow the length.
            named = [("mm", 132), ("add", length), ("mul", length), ("sum", length)]
            for index, (name, grid) in enumerate(named):
                at, c = start + 10 * index, 10 * number + 100 * length + index + 1
                events += [
                    op(f"aten::{name}", at, 9, **{"Input Dims": [[length, 64]], "Input type": ["float"]}),
                    launch(at + 1, 1, c),
                    kernel(at + 5, 3, c, name=name, grid=[grid, 1, 1], block=[32, 1, 1]),
                ]
        return events

    def plain(events: list[Json]) -> list[Json]:
        return [{**event, "args": {k: v for k, v in event["args"].items() if k[:5] != "Input"}} for event in events]

    steps = [step(1, 0, 100), step(2, 100, 100)]
    timeline = read(*steps, *plain([*shaped(7, 0), *shaped(9, 100)]), name="timeline.json")
    detail = read(*steps, *shaped(7, 0, 100), name="detail.json")
    twins = join(timeline, detail)
    assert twins.activity.min() >= 0
    assert twins.other_shapes.tolist() == [False, True]

    case = analyze_case(CaseInputs(name="case", timeline=timeline, detail=detail))
    rows = {(row.name, row.input_shapes): row.device_us_per_step for row in case.operators.items}
    # A kernel of 3 in one of two steps each.
    assert rows[("aten::mm", ((7, 64),))] == pytest.approx(1.5)
    assert rows[("aten::mm", None)] == pytest.approx(1.5)
    assert case.coverage.shapes == pytest.approx(0.5)
    (notice,) = [notice for notice in case.notices if notice.code == "shapes-vary"]
    assert notice.count == 1
    assert notice.share == pytest.approx(0.5)


def test_a_grid_that_grew_is_joined_by_name_between_its_neighbours(read: Read) -> None:
    timeline = read(*run(("a", 1), ("attention", 9), ("b", 1), ("attention", 9)), name="timeline.json")
    detail = read(*run(("a", 1), ("attention", 7), ("b", 1), ("attention", 7)), name="detail.json")

    assert join(timeline, detail).activity.tolist() == [0, 1, 2, 3]


def test_a_step_joins_the_detail_step_that_did_the_same(read: Read) -> None:
    timeline = read(step(1, 0, 40), *run(("a", 1), ("b", 1)), name="timeline.json")
    detail = read(
        *(step(1, 0, 40), *run(("a", 1), ("b", 1))),
        *(step(2, 100, 40), *run(("c", 1), ("d", 1), start=100, first=11)),
        name="detail.json",
    )

    assert join(timeline, detail).activity.tolist() == [0, 1]


def test_streams_are_paired_by_how_much_they_hold(read: Read) -> None:
    def streams(busy: int, idle: int) -> list[Json]:
        names = [("a", busy), ("x", idle), ("b", busy)]
        return [
            event
            for index, (name, stream) in enumerate(names, start=1)
            for event in (launch(index, 0.5, index), kernel(10 * index, 5, index, stream, name=name))
        ]

    timeline, detail = read(*streams(7, 20), name="timeline.json"), read(*streams(33, 34), name="detail.json")

    assert join(timeline, detail).activity.tolist() == [0, 1, 2]


def test_times_come_from_the_timeline_and_names_from_the_detail_pass(read: Read) -> None:
    timeline = read(step(1, 0, 50), op("mm", 1, 4), launch(2, 1, 5), kernel(10, 8, 5, name="gemm"), name="t.json")
    shapes: Json = {"Input Dims": [[2, 3], [3, 4]], "Input type": ["float", "float"]}
    detail = read(
        step(1, 0, 100),
        frame("train.py(3): main", 0, 90),
        op("mm", 1, 44, **shapes),
        launch(2, 21, 9),
        kernel(50, 9, 9, name="gemm"),
        name="d.json",
    )
    case = analyze_case(CaseInputs(name="case", timeline=timeline, detail=detail))

    (row,) = case.operators.items
    assert row.input_shapes == ((2, 3), (3, 4))
    assert row.source is not None
    assert row.source.function == "main"
    assert row.device_us_per_step == 8
    assert row.host_us_per_step == 4
    assert case.joining is not None
    assert case.joining.share_of_device == 1


def test_what_is_not_joined_keeps_the_operator_that_its_own_pass_names(read: Read) -> None:
    timeline = read(*run(("a", 1), ("only_here", 1)), name="timeline.json")
    detail = read(*run(("a", 1)), name="detail.json")
    case = analyze_case(CaseInputs(name="case", timeline=timeline, detail=detail))

    assert case.joining is not None
    assert case.joining.share_of_activities == 0.5
    assert {row.name: row.device_us_per_step for row in case.operators.items} == {"aten::a": 3, "aten::only_here": 3}
    assert case.device_time is not None
    assert case.device_time.unattributed_share == 0


def test_a_timeline_without_its_detail_pass_stands_alone(read: Read) -> None:
    timeline = read(*run(("a", 1)))
    case = analyze_case(CaseInputs(name="case", timeline=timeline, detail=None))

    assert case.joining is None
    assert case.operators.items[0].device_us_per_step == 3
    assert case.operators.items[0].input_shapes is None


@pytest.mark.parametrize("missing", ["timeline", "detail"])
def test_an_empty_pass_does_no_harm(read: Read, missing: str) -> None:
    full, empty = read(*run(("a", 1)), name="full.json"), read(name="empty.json")
    timeline, detail = (empty, full) if missing == "timeline" else (full, empty)

    assert analyze_case(CaseInputs(name="case", timeline=timeline, detail=detail)).num_steps == 1


@pytest.mark.parametrize(("rows", "stays"), [((64, 64), True), ((64, 16), False)])
def test_without_a_device_shapes_hold_where_the_recorded_steps_agree_on_them(
    read: Read, rows: tuple[int, int], stays: bool
) -> None:
    def one_step(number: int, rows: int) -> list[Json]:
        at = 100.0 * number
        shapes: Json = {"Input Dims": [[rows, 8]], "Input type": ["float"]}
        return [step(number, at, 60), op("aten::relu", at + 1, 9, **shapes), op("aten::sum", at + 20, 9, **shapes)]

    timeline = read(*one_step(1, 64), name="timeline.json")
    detail = read(*one_step(1, rows[0]), *one_step(2, rows[1]), name="detail.json")
    case = analyze_case(CaseInputs(name="case", timeline=timeline, detail=detail))

    assert {row.name: row.input_shapes for row in case.operators.items} == {
        "aten::relu": ((64, 8),) if stays else None,
        "aten::sum": ((64, 8),) if stays else None,
    }
    assert ("shapes-vary" in {notice.code for notice in case.notices}) is not stays
