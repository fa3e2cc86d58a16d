from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reportgen.analysis.allocations.curve import thin
from reportgen.analysis.case import CaseInputs
from reportgen.analysis.model import CaseAnalysis, Memory
from reportgen.recording import MemoryMarks, RecordedCase
from reportgen.trace.columns import Trace
from tests.analyzing import analyze_case
from tests.trace_builder import frame, kernel, launch, memory, op, step

Analyze = Callable[..., CaseAnalysis]
Read = Callable[..., Trace]


def memory_of(case: CaseAnalysis) -> Memory:
    assert case.memory is not None
    return case.memory


def on_host(event: dict[str, Any]) -> dict[str, Any]:
    return {**event, "args": {**event["args"], "Device Type": 0, "Device Id": -1}}


def test_start_is_what_the_counter_showed_before_the_first_event(analyze: Analyze) -> None:
    found = memory_of(analyze(step(1, 0, 10), memory(1, 100, total=350), memory(2, -100, total=250)))

    assert found.start_bytes == 250
    assert found.peak_allocated_bytes == 350
    assert found.basis == "trace"


def test_start_is_that_of_the_step_which_holds_the_peak(analyze: Analyze) -> None:
    found = memory_of(
        analyze(
            *(step(1, 0, 10), memory(1, 100, total=100, address=1)),
            *(step(2, 10, 10), memory(11, 30, total=130, address=2), memory(12, 70, total=200, address=3)),
            *(memory(13, -70, total=130, address=3), memory(25, 500, total=630, address=4)),  # after the steps
        )
    )

    # Both figures are of the curve's step.
    assert (found.start_bytes, found.peak_allocated_bytes) == (100, 200)
    assert found.curve is not None
    assert (found.curve.allocated_bytes[0], max(found.curve.allocated_bytes)) == (100, 200)
    assert found.at_peak_bytes == 200


@pytest.mark.parametrize(
    ("heights", "lengths", "ordinal"),
    [
        (
            (300, 300, 300, 300),
            (90, 50, 20, 30),
            4,
        ),  # alike: the settling one passed over, 30 is the median of the rest
        ((301, 300, 300, 300), (90, 50, 20, 30), 1),  # the peak is where it is
        ((300, 200, 300, 200), (90, 50, 20, 30), 3),
        ((300,), (90,), 1),
    ],
)
def test_of_steps_that_reach_the_peak_one_that_the_medians_are_about_is_drawn(
    analyze: Analyze, heights: tuple[int, ...], lengths: tuple[int, ...], ordinal: int
) -> None:
    events: list[dict[str, Any]] = []
    at = 0
    for number, (height, length) in enumerate(zip(heights, lengths, strict=True), 11):
        events += [step(number, at, length), memory(at + 2, height, total=1000 + height)]
        events += [memory(at + 4, -height, total=1000)]
        at += length + 10
    curve = memory_of(analyze(*events)).curve

    assert curve is not None
    assert (curve.ordinal, curve.num_steps) == (ordinal, len(heights))
    assert max(curve.allocated_bytes) == 1000 + max(heights)
    assert curve.time_us[-1] == 4  # from the step's own start


def test_a_hosts_counter_begins_with_the_recording_and_says_so(analyze: Analyze) -> None:
    events = (step(1, 0, 10), memory(1, 100, total=100), memory(2, -100, total=0))

    assert memory_of(analyze(events[0], *map(on_host, events[1:]))).since_recording
    assert not memory_of(analyze(*events)).since_recording


def test_growth_is_the_mean_rise_between_ends_of_steps(analyze: Analyze) -> None:
    found = memory_of(
        analyze(
            *(step(1, 0, 10), memory(1, 100, total=100, address=1)),
            *(step(2, 10, 10), memory(11, 30, total=130, address=2)),
            *(step(3, 20, 10), memory(21, 50, total=180, address=3)),
        )
    )

    assert found.step_end_bytes == (100, 130, 180)
    assert found.growth_bytes_per_step == 40


def test_one_step_cannot_grow(analyze: Analyze) -> None:
    assert memory_of(analyze(step(1, 0, 10), memory(1, 100, total=100))).growth_bytes_per_step is None


def test_allocations_are_named_after_the_operator_that_asked_for_room(analyze: Analyze) -> None:
    found = memory_of(
        analyze(
            frame("net.py(4): forward", 0, 40),
            op("aten::mm", 1, 20, **{"Input Dims": [[2, 3]], "Input type": ["float"]}),
            op("aten::empty", 2, 5),
            memory(3, 512, total=512, address=1),
            op("aten::mm", 22, 6, **{"Input Dims": [[2, 3]], "Input type": ["float"]}),
            memory(24, 512, total=1024, address=2),
            memory(30, -512, total=512, address=2),
        )
    )

    (largest,) = found.largest
    assert (largest.bytes, largest.operator, largest.input_shapes) == (512, "aten::mm", ((2, 3),))
    assert largest.count_per_step == 2
    assert largest.held_us == 6  # of the one that was freed
    assert largest.source is not None
    assert largest.source.function == "forward"


def test_an_address_that_is_used_again_is_a_block_of_its_own(analyze: Analyze) -> None:
    found = memory_of(
        analyze(
            *(memory(0, 512, total=512, address=7), memory(4, -512, total=0, address=7)),
            *(memory(5, 1024, total=1024, address=7), memory(15, -1024, total=0, address=7)),
        )
    )

    assert [(row.bytes, row.held_us) for row in found.largest] == [(1024, 10), (512, 4)]


def test_the_devices_allocator_goes_before_the_hosts(analyze: Analyze) -> None:
    found = memory_of(analyze(on_host(memory(0, 4096, total=4096)), memory(1, 512, total=512)))

    assert found.peak_allocated_bytes == 512


def test_without_a_device_the_hosts_allocator_counts_and_reserves_nothing(analyze: Analyze) -> None:
    found = memory_of(analyze(op("a", 0, 9), on_host(memory(1, 4096, total=4096))))

    assert found.peak_allocated_bytes == 4096
    assert found.peak_reserved_bytes is None
    assert found.allocator is None


def test_of_several_devices_the_one_with_the_highest_peak_is_told(analyze: Analyze) -> None:
    found = memory_of(analyze(memory(0, 900, total=900, device=0), memory(1, 950, total=950, device=1)))

    assert found.peak_allocated_bytes == 950


def test_no_memory_event_is_no_memory_section(analyze: Analyze) -> None:
    assert analyze(op("a", 0, 10)).memory is None


def test_counters_of_an_unprofiled_run_go_before_the_traces(read: Read) -> None:
    trace = read(step(1, 0, 10), memory(1, 100, total=350))
    marks = MemoryMarks(start_bytes=240, peak_allocated_bytes=330, peak_reserved_bytes=512)
    recorded = RecordedCase(name="case", phase="train", folder="case", memory=marks)
    found = memory_of(analyze_case(CaseInputs(name="case", recorded=recorded, timeline=trace, detail=trace)))

    assert (found.start_bytes, found.peak_allocated_bytes, found.peak_reserved_bytes) == (240, 330, 512)
    assert found.basis == "unprofiled"
    assert found.largest[0].bytes == 100


def test_driver_calls_of_the_allocator_are_counted_per_step(analyze: Analyze) -> None:
    case = analyze(
        *(step(1, 0, 10), launch(1, 1, 1, name="cudaMalloc"), launch(3, 1, 2, name="cudaFree")),
        *(step(2, 10, 10), launch(11, 1, 3, name="cudaMalloc"), launch(12, 1, 4, name="cudaMallocHost")),
        *(launch(14, 1, 5), kernel(16, 1, 5), memory(15, 8, total=8)),
    )

    allocator = memory_of(case).allocator
    assert allocator is not None
    assert (allocator.device_mallocs_per_step, allocator.device_frees_per_step) == (1, 0.5)


@pytest.mark.parametrize("num_bins", [1, 3, 10])
@given(values=st.lists(st.integers(0, 1000), min_size=1, max_size=60), gaps=st.data())
def test_a_thinned_curve_keeps_its_extremes_and_ends(num_bins: int, values: list[int], gaps: st.DataObject) -> None:
    steps = gaps.draw(st.lists(st.integers(0, 50), min_size=len(values), max_size=len(values)))
    time, value = np.cumsum(np.array(steps)), np.array(values)
    kept = thin(time, value, num_bins)

    assert len(kept) <= 4 * num_bins
    assert {0, len(values) - 1} <= set(kept.tolist())
    assert value[kept].max() == max(values)
    assert value[kept].min() == min(values)
    assert kept.tolist() == sorted(set(kept.tolist()))
