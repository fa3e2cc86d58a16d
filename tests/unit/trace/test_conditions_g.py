"""Conditions G1 to G4 of docs/conditions.md: stacks, shapes and FLOPs that are broken or partial."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from reportgen.trace.columns import Trace
from tests.trace_builder import Json, frame, kernel, launch, op, span
from tests.trace_reading import notices, plain

Read = Callable[..., Trace]


def test_g1_a_frame_that_outlives_its_parent_stays_open_until_its_own_end(read: Read) -> None:
    trace = read(
        frame("train.py(1): main", 0, 10),
        span("python_function", "train.py(9): step", 2, 50, args={"Python id": 2, "Python parent id": 77}),
        op("inside", 5, 2),
        op("after the parent", 20, 2),
    )

    assert trace.frames.parent.tolist() == [-1, 0]
    assert trace.operators.frame.tolist() == [1, 1]
    notice = notices(trace)["stacks-broken"]
    assert (notice.count, notice.share) == (1, 0.5)
    assert plain(notice.text).startswith("1 Python frame outlives the frame around")


def test_g1_a_parent_id_that_exists_nowhere_does_no_harm(read: Read) -> None:
    orphan = span("python_function", "a.py(1): f", 0, 10, args={"Python id": 2, "Python parent id": 77})
    trace = read(orphan, op("a", 1, 2))

    assert trace.operators.frame.tolist() == [0]
    assert "stacks-broken" not in notices(trace)


def test_g2_coverage_of_shapes_is_a_share_of_device_time(read: Read) -> None:
    trace = read(
        span("cpu_op", "a", 0, 10, args={"Input Dims": [[2]], "Input type": ["float"]}),
        launch(1, 1, 1),
        op("b", 10, 10),
        launch(11, 1, 2),
        kernel(20, 30, 1),
        kernel(50, 10, 2),
    )

    assert trace.coverage.shapes == 0.75
    assert trace.coverage.operators == 1.0
    assert notices(trace)["shapes-partial"].share == 0.75
    assert "75.0 %" in plain(notices(trace)["shapes-partial"].text)


def test_g2_shapes_of_no_device_time_are_not_called_a_share_of_it(read: Read) -> None:
    trace = read(
        span("cpu_op", "a", 0, 10, args={"Input Dims": [[2]], "Input type": ["float"]}),
        launch(12, 1, 1),
        kernel(20, 30, 1),
    )

    assert notices(trace)["shapes-partial"].share == 0
    assert plain(notices(trace)["shapes-partial"].text).startswith("Shapes are recorded for none of the device time")


def _with_flops(event: Json, flops: float) -> Json:
    return {**event, "args": {**event["args"], "flops": flops}}


def test_g3_flops_of_some_operators_are_called_partial_with_their_coverage(read: Read) -> None:
    trace = read(
        _with_flops(op("aten::mm", 0, 10), 1e6),
        launch(1, 1, 1),
        op("aten::_scaled_dot_product_flash_attention", 10, 10),
        launch(11, 1, 2),
        kernel(20, 30, 1),
        kernel(50, 10, 2),
    )

    assert trace.operators.flops[0] == 1e6
    assert np.isnan(trace.operators.flops[1])
    assert notices(trace)["flops-partial"].share == 0.75


def test_g3_more_flops_than_any_device_can_do_are_an_error(read: Read) -> None:
    trace = read(_with_flops(op("aten::mm", 0, 10), 1e18), launch(1, 1, 1), kernel(20, 1, 1))

    notice = notices(trace)["flops-impossible"]
    assert (notice.count, notice.affects_conclusions) == (1, True)
    assert "aten::mm" in notice.text


def test_g3_a_product_at_the_speed_of_a_device_is_no_error(read: Read) -> None:
    trace = read(_with_flops(op("aten::mm", 0, 10), 8e8), launch(1, 1, 1), kernel(20, 1, 1))

    assert "flops-impossible" not in notices(trace)
    assert "flops-partial" not in notices(trace)


def test_g4_generated_kernel_names_stay_apart(read: Read) -> None:
    names = ["triton_poi_fused_add_0", "triton_poi_fused_add_1"]
    trace = read(
        *(event for n, name in enumerate(names) for event in (launch(n, 1, n + 1), kernel(9, 1, n + 1, name=name)))
    )

    assert sorted(trace.names[code] for code in trace.activities.name) == names
