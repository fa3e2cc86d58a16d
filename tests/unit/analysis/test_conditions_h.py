"""Conditions H1, H3, H4 and H5 of docs/conditions.md: what memory must survive, each by its smallest input."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reportgen.analysis.case import CaseInputs
from reportgen.analysis.model import CaseAnalysis, Memory
from reportgen.recording import MemoryMarks, RecordedCase
from reportgen.trace.columns import Trace
from reportgen.trace.snapshot import read_snapshot
from tests.analyzing import analyze_case
from tests.trace_builder import frame, memory, op, step

Json = dict[str, Any]
MIB = 2**20
FRAME = {"filename": "train.py", "line": 58, "name": "build"}


def block(address: int, size: int, state: str = "active_allocated") -> Json:
    return {"address": address, "size": size, "requested_size": size, "state": state, "frames": [FRAME]}


def segment(address: int, size: int, *blocks: Json) -> Json:
    active = sum(it["size"] for it in blocks if it["state"].startswith("active"))
    return {
        "device": 0, "address": address, "total_size": size, "allocated_size": active, "active_size": active,
        "stream": 0, "segment_type": "large", "blocks": list(blocks),
    }  # fmt: skip


def entry(action: str, address: int, size: int, time_us: int | None = None) -> Json:
    known = {"action": action, "addr": address, "size": size, "stream": 0, "frames": [FRAME]}
    return known if time_us is None else {**known, "time_us": time_us}


@pytest.fixture
def snapshot_memory(tmp_path: Path) -> Callable[..., Memory]:
    """Return a function that analyses a snapshot alone."""

    def analyze_snapshot(segments: list[Json], entries: list[Json], **top: Any) -> Memory:
        path = tmp_path / "memory.json"
        path.write_text(json.dumps({"segments": segments, "device_traces": [entries], **top}))
        found = analyze_case(CaseInputs(name="case", snapshot=read_snapshot(path))).memory
        assert found is not None
        return found

    return analyze_snapshot


def test_h1_what_one_operator_allocates_and_another_frees_is_counted_once(
    analyze: Callable[..., CaseAnalysis],
) -> None:
    case = analyze(
        *(op("A", 0, 10), memory(5, 100, total=100)),
        *(op("B", 20, 10), memory(25, -100, total=0)),
    )

    assert case.memory is not None
    assert case.memory.peak_allocated_bytes == 100
    assert case.memory.curve is not None
    assert case.memory.curve.allocated_bytes == (0, 100, 0)
    assert [(row.bytes, row.operator) for row in case.memory.largest] == [(100, "A")]


def test_h3_a_block_that_an_empty_history_does_not_explain_is_the_peak(
    snapshot_memory: Callable[..., Memory],
) -> None:
    found = snapshot_memory([segment(0x1000, 4 * MIB, block(0x1000, MIB))], [])

    assert found.peak_allocated_bytes == MIB
    assert found.basis == "snapshot"


def test_h3_a_history_that_begins_with_a_free_had_that_block_before(snapshot_memory: Callable[..., Memory]) -> None:
    segments = [segment(0x1000, 4 * MIB, block(0x1000, MIB), block(0x101000, 3 * MIB, "inactive"))]
    entries = [
        entry("free_requested", 0x201000, 2 * MIB, 10),
        entry("free_completed", 0x201000, 2 * MIB, 11),
        entry("alloc", 0x301000, 512, 12),
        entry("free_requested", 0x301000, 512, 13),
    ]
    found = snapshot_memory(segments, entries)

    # 1 MiB is there at the end, 2 MiB were until the first entry, 512 bytes came and went.
    assert found.peak_allocated_bytes == 3 * MIB
    assert found.curve is not None
    assert found.curve.allocated_bytes == (3 * MIB, MIB, MIB + 512, MIB)
    assert found.at_peak_bytes == 3 * MIB
    assert found.at_peak is not None
    assert [(share.category, share.bytes, share.num_blocks) for share in found.at_peak] == [("unknown", 3 * MIB, 2)]


def test_h4_without_history_segments_holes_and_blocks_are_told_and_the_rest_said_to_be_missing(
    tmp_path: Path,
) -> None:
    blocks = (block(0x1000, MIB), block(0x101000, 2 * MIB, "inactive"), block(0x301000, 3 * MIB))
    path = tmp_path / "memory.json"
    path.write_text(json.dumps({"segments": [segment(0x1000, 8 * MIB, *blocks)], "device_traces": [[]]}))
    case = analyze_case(CaseInputs(name="case", snapshot=read_snapshot(path)))

    assert case.memory is not None
    holes = case.memory.fragmentation
    assert holes is not None
    assert (holes.at, holes.num_segments) == ("snapshot", 1)
    # 1 + 3 of 8 MiB are used; the holes are of 2 MiB between the blocks and of 2 MiB behind them.
    assert (holes.reserved_bytes, holes.allocated_bytes) == (8 * MIB, 4 * MIB)
    assert (holes.stranded_bytes, holes.largest_hole_bytes) == (4 * MIB, 2 * MIB)
    assert [row.bytes for row in case.memory.peak_blocks] == [3 * MIB, MIB]
    assert case.memory.peak_blocks[0].source is not None
    assert case.memory.peak_blocks[0].source.line == 58
    assert (case.memory.curve, case.memory.at_peak, case.memory.transients) == (None, None, None)
    assert "memory-history-missing" in {notice.code for notice in case.notices}


def test_h4_a_history_without_times_is_drawn_over_its_entries(snapshot_memory: Callable[..., Memory]) -> None:
    entries = [entry("alloc", 0x1000, 512), entry("alloc", 0x2000, 1024), entry("free_requested", 0x2000, 1024)]
    found = snapshot_memory([segment(0x1000, 2 * MIB, block(0x1000, 512))], entries)

    assert found.curve is not None
    assert (found.curve.axis, found.curve.time_us) == ("event", (0, 0, 1, 2))
    assert found.curve.allocated_bytes == (0, 512, 1536, 512)


def test_h5_allocated_reserved_and_in_use_are_three_numbers(read: Callable[..., Trace]) -> None:
    trace = read(step(1, 0, 10), memory(1, MIB, total=MIB, reserved=20 * MIB))
    marks = MemoryMarks(
        start_bytes=0,
        peak_allocated_bytes=MIB,
        peak_reserved_bytes=20 * MIB,
        in_use_on_device_bytes=500 * MIB,
    )
    recorded = RecordedCase(name="case", phase="train", folder="case", memory=marks)
    found = analyze_case(CaseInputs(name="case", recorded=recorded, timeline=trace, detail=trace)).memory

    assert found is not None
    assert (found.peak_allocated_bytes, found.peak_reserved_bytes, found.in_use_on_device_bytes) == (
        MIB,
        20 * MIB,
        500 * MIB,
    )


def test_h5_a_segment_of_20_mib_with_1_mib_in_use_is_no_use_of_20(snapshot_memory: Callable[..., Memory]) -> None:
    found = snapshot_memory([segment(0x1000, 20 * MIB, block(0x1000, MIB))], [])

    assert (found.peak_allocated_bytes, found.peak_reserved_bytes) == (MIB, 20 * MIB)
    assert found.in_use_on_device_bytes is None


def test_what_a_function_returns_is_no_spike(analyze: Callable[..., CaseAnalysis]) -> None:
    # `attend` frees 512 MiB before it returns, `make` returns as much, which is freed later.
    large = 512 * MIB
    case = analyze(
        step(1, 0, 100),
        *(frame("net.py(4): attend", 10, 20), op("aten::mm", 11, 5), memory(12, large, total=large, address=1)),
        *(op("aten::add", 20, 2), memory(28, -large, total=0, address=1)),
        *(frame("net.py(9): make", 40, 20), op("aten::mm", 41, 5), memory(42, large, total=large, address=2)),
        *(op("aten::add", 70, 2), memory(75, -large, total=0, address=2)),
    )

    assert case.memory is not None
    (spike,) = case.memory.spikes
    assert spike.source is not None
    assert (spike.source.function, spike.bytes, spike.above_baseline_bytes) == ("attend", large, large)
    assert spike.held_us == 16


def test_a_variable_that_goes_as_its_function_returns_is_a_spike(analyze: Callable[..., CaseAnalysis]) -> None:
    # The profiler notes the return before Python lets go of the function's variables.
    large = 512 * MIB
    case = analyze(
        *(step(1, 0, 100), frame("net.py(1): forward", 5, 90)),
        *(frame("net.py(4): attend", 10, 20), op("aten::mm", 11, 5), memory(12, large, total=large, address=1)),
        *(memory(31, -large, total=0, address=1), op("aten::add", 40, 2)),
    )

    assert case.memory is not None
    assert [spike.bytes for spike in case.memory.spikes] == [large]


def test_what_is_saved_for_the_gradient_is_no_spike(analyze: Callable[..., CaseAnalysis]) -> None:
    large = 512 * MIB
    backward = op("autograd::engine::evaluate_function: MmBackward0", 40, 20, tid=2)
    case = analyze(
        *(step(1, 0, 100), frame("net.py(4): train", 5, 90)),
        *(op("aten::mm", 11, 5), memory(12, large, total=large, address=1)),
        *(backward, op("aten::mm", 42, 5, tid=2), memory(43, 512, total=large + 512, address=2, tid=2)),
        memory(58, -large, total=512, address=1, tid=2),
    )

    assert case.memory is not None
    assert case.memory.spikes == ()
