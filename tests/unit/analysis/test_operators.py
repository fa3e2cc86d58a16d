from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reportgen.analysis.case import CaseInputs
from reportgen.analysis.model import CaseAnalysis, Operator
from reportgen.analysis.totals import operators
from reportgen.recording import Ceilings, Device
from reportgen.trace.columns import Trace
from tests.analyzing import analyze_case
from tests.trace_builder import frame, kernel, launch, op, span, step

Analyze = Callable[..., CaseAnalysis]
Json = dict[str, Any]


def shaped(*shapes: list[int], **more: Any) -> Json:
    return {"Input Dims": list(shapes), "Input type": ["float"] * len(shapes), **more}


def only(case: CaseAnalysis, name: str) -> Operator:
    (row,) = [row for row in case.operators.items if row.name == name]
    return row


def test_per_step_is_the_total_over_the_number_of_steps(analyze: Analyze) -> None:
    case = analyze(
        *(step(1, 0, 20), op("a", 1, 4), launch(2, 1, 1), kernel(10, 6, 1)),
        *(step(2, 20, 20), op("a", 21, 6), op("a", 30, 2), launch(22, 1, 2), kernel(30, 4, 2)),
        *(op("a", 50, 9), launch(51, 1, 3), kernel(60, 99, 3)),  # after the last step
    )

    row = only(case, "a")
    assert row.calls_per_step == 1.5
    assert row.device_us_per_step == 5
    assert row.host_us_per_step == 8  # both calls of the second step: in the first the profiler settles
    assert row.share_of_device == 1


def test_figures_per_call_are_of_the_calls_that_launch_work_themselves(analyze: Analyze) -> None:
    case = analyze(
        *(op("aten::addmm", 0, 9), op("aten::addmm", 1, 7), launch(2, 1, 1), launch(4, 1, 2)),  # it calls itself
        *(kernel(10, 6, 1), kernel(16, 2, 2)),
        *(op("aten::addmm", 20, 9), op("aten::addmm", 21, 7), launch(22, 1, 3), kernel(30, 4, 3)),
        op("aten::t", 40, 2),
    )

    row, idle = only(case, "aten::addmm"), only(case, "aten::t")
    assert (row.calls_per_step, row.device_calls_per_step, row.device_us_per_call) == (4.0, 2.0, 6.0)
    assert (idle.calls_per_step, idle.device_calls_per_step, idle.device_us_per_call) == (1.0, 0.0, None)


def test_a_call_is_held_against_the_roof_by_the_time_of_one_that_worked(
    read: Callable[..., Trace],
) -> None:
    """A product of 8 x 8 x 8 makes 1 024 operations: of 2 us on a device of 1 GFLOP/s its roof is 1.024."""
    square = shaped([8, 8], [8, 8], **{"Input Strides": [[8, 1], [8, 1]]})
    trace = read(
        *(op("aten::mm", 0, 9, **square), op("aten::mm", 1, 7, **square), launch(2, 1, 1), kernel(10, 2, 1)),
    )
    device = Device(
        index=0, name="X",
        ceilings=Ceilings(matmul_flops_per_s={"float32": 1e9}, copy_bytes_per_s=1e12, method="measured"),
    )  # fmt: skip
    case = analyze_case(
        CaseInputs(name="trace", timeline=trace, detail=trace, devices=(device,), flags={"matmul_tf32": False})
    )
    (row,) = (item for item in case.operators.items if item.name == "aten::mm")
    assert row.flops == 1024.0
    assert row.roof_us == pytest.approx(1.024)
    assert row.roof_share == pytest.approx(0.512)


def test_one_operator_at_two_shapes_is_two_rows_the_slower_first(analyze: Analyze) -> None:
    case = analyze(
        op("mm", 0, 5, **shaped([2, 3])),
        launch(1, 1, 1),
        kernel(10, 2, 1),
        op("mm", 5, 5, **shaped([8, 3])),
        launch(6, 1, 2),
        kernel(20, 6, 2),
    )

    assert [(row.input_shapes, row.device_us_per_step) for row in case.operators.items] == [
        (((8, 3),), 6),
        (((2, 3),), 2),
    ]
    assert [row.share_of_device for row in case.operators.items] == [0.75, 0.25]


@pytest.mark.parametrize(
    ("name", "value"), [("Input type", ["double"]), ("Input Strides", [[1, 2]]), ("Input Dims", [[3, 2]])]
)
def test_types_and_strides_tell_rows_apart_too(analyze: Analyze, name: str, value: Any) -> None:
    first = {"Input Dims": [[2, 3]], "Input type": ["float"], "Input Strides": [[3, 1]]}
    case = analyze(op("mm", 0, 5, **first), op("mm", 5, 5, **{**first, name: value}))

    assert case.operators.total == 2


def test_scalars_do_not_tell_rows_apart(analyze: Analyze) -> None:
    case = analyze(
        op("add", 0, 5, **shaped([2], **{"Concrete Inputs": ["1"]})),
        op("add", 5, 5, **shaped([2], **{"Concrete Inputs": ["2"]})),
    )

    assert case.operators.total == 1
    assert case.operators.items[0].calls_per_step == 2


def test_kernels_of_an_operator_are_named_longest_first(analyze: Analyze) -> None:
    case = analyze(
        op("a", 0, 9),
        *(launch(1 + index, 0.5, index) for index in (1, 2, 3)),
        kernel(10, 1, 1, name="short"),
        kernel(11, 5, 2, name="long"),
        kernel(16, 1, 3, name="short"),
    )

    assert only(case, "a").kernels == ("long", "short")


def test_children_of_a_backward_operator_are_backward(analyze: Analyze) -> None:
    case = analyze(
        op("mm", 0, 5, **{"Sequence number": 7, "Fwd thread id": 0}),
        op("MmBackward0", 10, 10, tid=2, **{"Sequence number": 7, "Fwd thread id": 1}),
        op("mm", 11, 5, tid=2),
    )

    assert {(row.name, row.direction) for row in case.operators.items} == {
        ("mm", "forward"),
        ("MmBackward0", "backward"),
        ("mm", "backward"),
    }


@pytest.mark.parametrize("node", ["CudnnConvolutionBackward", "torch::autograd::AccumulateGrad", "MulBackward0"])
def test_without_ids_a_node_of_autograd_is_known_by_its_name(analyze: Analyze, node: str) -> None:
    case = analyze(op("aten::mm_backward", 0, 5), op(node, 10, 10, tid=2), op("aten::child", 11, 5, tid=2))

    assert {row.name: row.direction for row in case.operators.items} == {
        "aten::mm_backward": "forward",  # called outside of any node
        node: "backward",
        "aten::child": "backward",
    }


def test_a_backward_operator_has_the_function_of_what_it_differentiates(analyze: Analyze) -> None:
    case = analyze(
        frame("net.py(3): layer", 0, 8),
        op("mm", 1, 5, **{"Sequence number": 7, "Fwd thread id": 0}),
        op("MmBackward0", 10, 10, tid=2, **{"Sequence number": 7, "Fwd thread id": 1}),
        op("mm_child", 11, 5, tid=2),
    )

    source = only(case, "mm_child").source
    assert source is not None
    assert source.function == "layer"


def test_the_optimizers_operators_have_no_direction(analyze: Analyze) -> None:
    case = analyze(op("a", 0, 5), span("user_annotation", "Optimizer.step#AdamW.step", 10, 20), op("b", 12, 5))

    assert only(case, "a").direction == "forward"
    assert only(case, "b").direction is None


def test_the_module_is_the_nearest_one_and_several_are_named_by_class(analyze: Analyze) -> None:
    case = analyze(
        *(frame("nn.Module: Net_0", 0, 50), frame("nn.Module: Linear_3", 1, 9), op("mm", 2, 5), op("one", 8, 1)),
        *(frame("nn.Module: Linear_4", 11, 9), op("mm", 12, 5)),
        *(frame("nn.Module: Conv1D_0", 21, 9), op("mm", 22, 4)),
        op("none", 60, 1),
    )

    assert only(case, "one").module == "Linear_3"
    assert only(case, "mm").module == "Linear, Conv1D"
    assert only(case, "none").module is None


def test_a_list_that_was_cut_says_how_much_is_left_out(analyze: Analyze, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operators, "MOST_OPERATORS", 1)
    case = analyze(
        op("a", 0, 5),
        launch(1, 1, 1),
        kernel(10, 6, 1),
        op("b", 5, 5),
        launch(6, 1, 2),
        kernel(20, 4, 2),
        op("c", 9, 1),
    )

    assert [row.name for row in case.operators.items] == ["a"]
    assert case.operators.total == 3
    assert case.operators.other_us == 4


def test_a_child_that_outlives_its_parent_makes_no_negative_time(analyze: Analyze) -> None:
    case = analyze(op("parent", 0, 5), op("child", 1, 10))

    assert only(case, "parent").host_us_per_step == 0
