"""Work that rules look for, on steps of 100 us made by hand: copies, updates, attention, compilers, clocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reportgen.analysis.attribution.attribution import Attribution
from reportgen.analysis.model import CaseAnalysis
from reportgen.analysis.patterns.autograd_work import measure_autograd
from reportgen.analysis.steps.clocks import measure_clocks
from reportgen.recording import RecordedCase, RecordedTiming, Samples
from reportgen.trace.columns import Trace
from tests.trace_builder import activity, frame, kernel, launch, op, span, step

Analyze = Callable[..., CaseAnalysis]
Read = Callable[..., Trace]
Json = dict[str, Any]
NUM_STEPS = 2


def steps(make: Callable[[int, int], list[Json]]) -> list[Json]:
    """Return steps of 100; `make` gets where one begins and its first correlation."""
    made: list[Json] = []
    for number in range(NUM_STEPS):
        made += [step(number, 100 * number, 100), *make(100 * number, 10 * number + 1)]
    return made


def conversion(at: int, c: int, written: str, read: str, length: int, name: str = "aten::copy_") -> list[Json]:
    """Return a copy of 4x8 from type `read` to type `written`, whose kernel begins 10 later."""
    dims = {"Input Dims": [[4, 8], [4, 8]], "Input type": [written, read], "Input Strides": [[8, 1], [8, 1]]}
    return [op(name, at, 5, **dims), launch(at + 1, 2, c), kernel(at + 10, length, c)]


def there_and_back(at: int, c: int) -> list[Json]:
    return [*conversion(at + 10, c, "float", "c10::Half", 6), *conversion(at + 20, c + 1, "c10::Half", "float", 4)]


def test_a_cast_that_is_undone_is_a_chain_of_which_all_can_go(analyze: Analyze) -> None:
    (chain,) = analyze(*steps(there_and_back)).copy_chains
    assert (chain.num_copies, chain.restores, chain.types) == (2, True, ("c10::Half", "float", "c10::Half"))
    assert (chain.shape, chain.count_per_step) == ((4, 8), 1.0)
    assert chain.device_us_per_step == chain.removable_us_per_step == pytest.approx(10)
    assert set(chain.left_of_operators.values()) == {0.0}


def test_of_casts_that_end_elsewhere_the_shortest_stays(analyze: Analyze) -> None:
    def on_and_on(at: int, c: int) -> list[Json]:
        return [*conversion(at + 10, c, "float", "c10::Half", 6), *conversion(at + 20, c + 1, "double", "float", 4)]

    (chain,) = analyze(*steps(on_and_on)).copy_chains
    assert (chain.restores, chain.device_us_per_step, chain.removable_us_per_step) == (False, 10.0, 6.0)


def test_work_between_two_casts_is_no_chain(analyze: Analyze) -> None:
    def with_work(at: int, c: int) -> list[Json]:
        return [
            *conversion(at + 10, c, "float", "c10::Half", 6),
            op("aten::relu", at + 20, 5), launch(at + 21, 2, c + 1), kernel(at + 28, 1, c + 1),
            *conversion(at + 30, c + 2, "c10::Half", "float", 4),
        ]  # fmt: skip

    assert analyze(*steps(with_work)).copy_chains == ()


def test_copies_that_the_program_calls_are_its_own(analyze: Analyze) -> None:
    def called(at: int, c: int) -> list[Json]:
        method = "<built-in method float of Tensor object at 0x7f00>"
        return [
            frame("train.py(3): scale", at + 8, 12), frame(method, at + 9, 9),
            *conversion(at + 10, c, "float", "c10::Half", 6),
        ]  # fmt: skip

    (copy,) = analyze(*steps(called)).user_copies
    assert (copy.method, copy.shape) == ("Tensor.float", (4, 8))
    assert (copy.count_per_step, copy.device_us_per_step) == (1.0, 6.0)
    assert copy.source is not None
    assert (copy.source.function, copy.source.line) == ("scale", 3)


def test_a_copy_is_exposed_where_no_kernel_runs_beside_it(analyze: Analyze) -> None:
    def copying(at: int, c: int) -> list[Json]:
        return [
            op("aten::copy_", at + 5, 10), launch(at + 6, 2, c, name="cudaMemcpyAsync"),
            activity("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", at + 20, 30, c, 8, bytes=3000),
            launch(at + 16, 2, c + 1), kernel(at + 40, 20, c + 1),
        ]  # fmt: skip

    (copy,) = analyze(*steps(copying)).copies
    assert (copy.direction, copy.memory, copy.operator) == ("host-to-device", "pinned", "aten::copy_")
    assert (copy.count_per_step, copy.bytes_per_step, copy.us_per_step) == (1.0, 3000.0, 30.0)
    assert copy.exposed_us_per_step == 20.0  # 20 to 40; the kernel hides 40 to 50


def test_an_update_is_what_the_optimizers_span_launched(analyze: Analyze) -> None:
    def update(at: int, c: int) -> list[Json]:
        return [
            op("aten::mm", at + 1, 4), launch(at + 2, 2, c), kernel(at + 5, 20, c),
            span("user_annotation", "Optimizer.step#AdamW.step", at + 30, 40),
            op("aten::add_", at + 32, 4), launch(at + 33, 2, c + 1), kernel(at + 40, 3, c + 1),
            op("aten::add_", at + 42, 4), launch(at + 43, 2, c + 2), kernel(at + 50, 5, c + 2),
            op("aten::sqrt", at + 52, 4), launch(at + 53, 2, c + 3), kernel(at + 60, 2, c + 3),
        ]  # fmt: skip

    (found,) = analyze(*steps(update)).optimizer_updates
    assert (found.name, found.activities_per_step) == ("AdamW", 3.0)
    assert found.parameters_per_step == 2.0  # no gradients were recorded: the most frequent operator's calls
    assert (found.device_us_per_step, found.host_us_per_step) == (10.0, 40.0)
    assert found.extent_us_per_step >= found.device_us_per_step


def backward(at: int, *shapes: list[int]) -> list[Json]:
    """Return a backward pass of 2 for each gradient, which the engine runs on a thread of its own."""
    made: list[Json] = []
    for number, shape in enumerate(shapes):
        start, node = at + 2 * number, "torch::autograd::AccumulateGrad"
        made += [
            op(f"autograd::engine::evaluate_function: {node}", start, 2, tid=2),
            op(node, start, 1, tid=2, **{"Input Dims": [shape]} if shape else {}),
        ]
    return made


def update_of(at: int, c: int, *passes: list[list[int]]) -> list[Json]:
    """Return the forward and backward of each of `passes`, 10 apart, then an update of two launches at 60."""
    made: list[Json] = []
    for number, shapes in enumerate(passes):
        made += [op("aten::linear", at + 10 * number, 2), *backward(at + 10 * number + 3, *shapes)]
    return [
        *made, span("user_annotation", "Optimizer.step#AdamW.step", at + 60, 20),
        op("aten::add_", at + 62, 4), launch(at + 63, 2, c), kernel(at + 70, 3, c),
        op("aten::add_", at + 72, 4), launch(at + 73, 2, c + 1), kernel(at + 80, 3, c + 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("passes", "parameters"),
    [
        ([[[4], [4, 8]]], 2),
        ([[[4], [4, 8]], [[4], [4, 8]], [[4, 8], [4]]], 2),  # three micro-batches of the same two
        ([[[], []], [[], []]], 2),  # no shapes: as many of them
        ([[[4], [4, 8]], [[4], [4, 16]]], 4),  # two models of one optimizer
        ([[[], []], [[]]], 3),  # cannot be told: at most three
    ],
)
def test_a_parameter_counts_once_however_many_micro_batches_accumulate_it(
    analyze: Analyze, passes: list[list[list[int]]], parameters: int
) -> None:
    (found,) = analyze(*steps(lambda at, c: update_of(at, c, *passes))).optimizer_updates
    assert (found.parameters_per_step, found.activities_per_step) == (parameters, 2.0)


def test_an_update_every_other_step_counts_its_parameters_once_in_two(analyze: Analyze) -> None:
    def every_other(at: int, c: int) -> list[Json]:
        if at == 0:
            return [op("aten::linear", at, 2), *backward(at + 3, [4], [4, 8])]
        return update_of(at, c, [[4], [4, 8]])

    (found,) = analyze(*steps(every_other)).optimizer_updates
    assert (found.parameters_per_step, found.activities_per_step) == (1.0, 1.0)


def test_gradients_without_the_engines_nodes_count_as_one_pass(analyze: Analyze) -> None:
    def of_old(at: int, c: int) -> list[Json]:
        return [
            event for event in update_of(at, c, [[4], [4, 8]], [[4], [4, 8]])
            if not event["name"].startswith("autograd::engine")
        ]  # fmt: skip

    (found,) = analyze(*steps(of_old)).optimizer_updates
    assert found.parameters_per_step == 4.0


def shaped(name: str, at: int, c: int, length: int, *dims: list[int]) -> list[Json]:
    args = {"Input Dims": list(dims), "Input type": ["float"] * len(dims)}
    return [op(name, at, 5, **args), launch(at + 1, 2, c), kernel(at + 10, length, c, name=name)]


def attention(at: int, c: int, columns: int = 6) -> list[Json]:
    """Return 2 heads of 6 positions of width 4, the softmax over [2, 6, `columns`]."""
    return [
        *shaped("aten::bmm", at + 10, c, 3, [2, 6, 4], [2, 4, 6]),
        *shaped("aten::mul", at + 20, c + 1, 4, [2, 6, 6], []),
        *shaped("aten::_softmax", at + 30, c + 2, 5, [2, 6, columns]),
        *shaped("aten::bmm", at + 40, c + 3, 7, [2, 6, 6], [2, 6, 4]),
    ]


def test_a_softmax_between_two_products_of_its_size_is_attention(analyze: Analyze) -> None:
    (chain,) = analyze(*steps(attention)).attention_chains
    assert (chain.scores_shape, chain.scores_type) == ((2, 6, 6), "float")
    assert (chain.count_per_step, chain.activities_per_step) == (1.0, 4.0)
    assert (chain.device_us_per_step, chain.between_us_per_step) == (19.0, 9.0)
    assert chain.scaling_operators == ("aten::mul",)
    assert len(chain.between_operators) == 2


def test_a_softmax_over_something_else_is_none(analyze: Analyze) -> None:
    assert analyze(*steps(lambda at, c: attention(at, c, columns=5))).attention_chains == ()


def test_phases_of_a_compiler_that_nest_are_one_compilation(analyze: Analyze) -> None:
    def compiling(at: int, c: int) -> list[Json]:
        if at:
            return [launch(at + 2, 2, c), kernel(at + 5, 10, c)]
        return [
            frame("train.py(7): forward", at + 1, 90),
            span("cpu_op", "entire_frame_compile (dynamo_timed)", at + 10, 40),
            span("cpu_op", "backend_compile (dynamo_timed)", at + 20, 20),
            launch(at + 60, 2, c), kernel(at + 70, 10, c),
        ]  # fmt: skip

    (found,) = analyze(*steps(compiling)).compilations
    assert (found.count_per_step, found.host_us_per_step, found.num_steps) == (0.5, 20.0, 1)
    assert found.source is not None
    assert found.source.function == "forward"


def test_a_node_is_made_wherever_the_number_of_the_next_one_rises(read: Read) -> None:
    def training(at: int, _: int) -> list[Json]:
        number = at // 50
        return [
            op("aten::mm", at + 10, 5, **{"Sequence number": number, "Fwd thread id": 0}),
            op("aten::relu", at + 20, 5, **{"Sequence number": number + 1, "Fwd thread id": 0}),
            op("aten::detach", at + 30, 5, **{"Sequence number": number + 2, "Fwd thread id": 0}),
            op("autograd::engine::evaluate_function: MmBackward0", at + 50, 20),
            op("aten::mm", at + 55, 5),
        ]  # fmt: skip

    trace = read(*steps(training))
    work = measure_autograd(Attribution(trace, trace))
    assert work is not None
    assert work.nodes_per_step == 2.0
    assert work.backward_operators_per_step == 2.0  # the node and what it calls


def test_without_operators_nothing_is_said_of_autograd(read: Read) -> None:
    trace = read(step(0, 0, 100), launch(5, 2, 1), kernel(10, 5, 1))
    assert measure_autograd(Attribution(trace, trace)) is None


def timed(**conditions: Any) -> RecordedCase:
    timing = RecordedTiming(mode="pipelined", pipelined=Samples(samples_us=(1.0,), blocks=(0,)), conditions=conditions)
    return RecordedCase(name="case", phase="forward", folder="case", timing=timing)


def test_clocks_are_the_medians_of_the_first_and_the_last_third() -> None:
    mhz = [1980, 1970, 1960, 1900, 1800, 1700, 1500, 1400, 1300]
    reasons = ["", "", "", "power", "power", "power, thermal", "power", "power", "power"]
    clocks = measure_clocks(timed(clock_mhz=mhz, throttle_reasons=reasons))

    assert clocks is not None
    assert (clocks.num_samples, clocks.first_mhz, clocks.last_mhz, clocks.highest_mhz) == (9, 1970.0, 1400.0, 1980.0)
    assert clocks.throttled == {"power": pytest.approx(6 / 9), "thermal": pytest.approx(1 / 9)}


def test_two_samples_have_no_thirds_and_no_samples_no_clocks() -> None:
    clocks = measure_clocks(timed(clock_mhz=[1980, 1200]))
    assert clocks is not None
    assert (clocks.first_mhz, clocks.last_mhz, clocks.highest_mhz) == (None, None, 1980.0)
    assert measure_clocks(timed()) is None
    assert measure_clocks(None) is None
