"""Whose the memory is: an allocator's history of two steps with the model's own tensors, small enough to follow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from reportgen.analysis.case import CaseInputs
from reportgen.analysis.model import Memory
from reportgen.trace.snapshot import read_snapshot
from tests.analyzing import analyze_case

Json = dict[str, Any]
KIB = 1024
PARAMETER, STATE, PROMPT, GRADIENT, ACTIVATION, LOSS = (0x10000 * number for number in range(1, 7))


def block(address: int, size: int) -> Json:
    return {"address": address, "size": size, "requested_size": size, "state": "active_allocated", "frames": []}


def entry(action: str, address: int, size: int, time_us: int, line: int = 5) -> Json:
    frames = [
        {"filename": "/site-packages/torch/nn/functional.py", "line": 9, "name": "linear"},
        {"filename": "/home/net/train.py", "line": line, "name": "step"},
    ]
    return {"action": action, "addr": address, "size": size, "stream": 0, "time_us": time_us, "frames": frames}


def a_step(start: int) -> list[Json]:
    """Allocate an activation and a gradient of 4 KiB, free the activation first."""
    return [
        entry("alloc", ACTIVATION, 4 * KIB, start + 1, line=5),
        entry("alloc", GRADIENT, 4 * KIB, start + 3, line=6),
        entry("free_requested", ACTIVATION, 4 * KIB, start + 5),
        entry("free_requested", GRADIENT, 4 * KIB, start + 8),
    ]


def tensor(category: str, address: int, size: int, time_us: float = -1.0) -> Json:
    return {"category": category, "address": address, "bytes": size, "time_us": time_us}


def analyzed(tmp_path: Path, entries: list[Json], tensors: list[Json], blocks: list[Json]) -> Memory:
    held = sum(it["size"] for it in blocks)
    segment = {
        "device": 0, "address": 0, "total_size": 1 << 20, "allocated_size": held, "active_size": held,
        "stream": 0, "segment_type": "small", "blocks": blocks,
    }  # fmt: skip
    content = {
        "segments": [segment],
        "device_traces": [entries],
        "steps": [(1000, 1010), (1020, 1030), (1040, 1050)],
        "tensors": tensors,
    }
    path = tmp_path / "memory.json"
    path.write_text(json.dumps(content))
    memory = analyze_case(CaseInputs(name="case", phase="train", snapshot=read_snapshot(path))).memory
    assert memory is not None
    return memory


STANDING = [block(PARAMETER, 64 * KIB), block(STATE, 32 * KIB), block(PROMPT, 8 * KIB)]
KNOWN = [
    tensor("parameters", PARAMETER, 64 * KIB),
    tensor("optimizer", STATE, 32 * KIB),
    tensor("inputs", PROMPT, 8 * KIB),
]


def shares(memory: Memory) -> dict[str, int]:
    assert memory.at_peak is not None
    return {share.category: share.bytes // KIB for share in memory.at_peak}


def test_own_tensors_are_told_by_address_and_a_gradient_by_address_and_time(tmp_path: Path) -> None:
    entries = [*a_step(1000), *a_step(1020), *a_step(1040)]
    # A gradient was seen in each step, after it was allocated and before it was freed.
    seen = [tensor("gradients", GRADIENT, 4 * KIB, start + 4.5) for start in (1000, 1020, 1040)]
    memory = analyzed(tmp_path, entries, [*KNOWN, *seen], STANDING)

    assert memory.peak_allocated_bytes == (64 + 32 + 8 + 4 + 4) * KIB
    assert shares(memory) == {"parameters": 64, "optimizer": 32, "inputs": 8, "gradients": 4, "activations": 4}
    assert memory.at_peak_bytes == memory.peak_allocated_bytes
    assert memory.start_bytes == 104 * KIB


def test_a_gradient_seen_at_another_time_names_no_later_block_at_its_address(tmp_path: Path) -> None:
    memory = analyzed(tmp_path, [*a_step(1000)], [*KNOWN, tensor("gradients", GRADIENT, 4 * KIB, 1009.5)], STANDING)

    assert "gradients" not in shares(memory)


def test_what_nobody_names_and_was_there_before_is_unknown(tmp_path: Path) -> None:
    memory = analyzed(tmp_path, a_step(1000), [], STANDING)

    assert shares(memory)["unknown"] == 104


def test_lines_are_those_of_the_calls_in_the_users_own_code(tmp_path: Path) -> None:
    memory = analyzed(tmp_path, a_step(1000), KNOWN, STANDING)

    places = {(line.source.function, line.source.line) for line in memory.peak_lines if line.source}
    assert places == {("step", 5), ("step", 6)}
    (activation,) = [row for row in memory.peak_blocks if row.source and row.source.line == 5]
    assert [frame.function for frame in activation.stack] == ["linear", "step"]
    assert activation.source is not None
    assert activation.source.beneath == "functional.py: linear"


def test_losses_that_are_kept_are_growth_with_their_line(tmp_path: Path) -> None:
    losses = [block(LOSS + 0x1000 * step, KIB) for step in range(3)]
    entries = []
    for step, start in enumerate((1000, 1020, 1040)):
        entries += [*a_step(start), entry("alloc", LOSS + 0x1000 * step, KIB, start + 9, line=7)]
    growth = analyzed(tmp_path, entries, KNOWN, [*STANDING, *losses]).growth

    assert growth is not None
    assert (growth.kind, growth.bytes_per_step, growth.rises_bytes) == ("kept", KIB, (KIB, KIB))
    assert [(row.source.line if row.source else None, row.bytes_per_step) for row in growth.lines] == [(7, KIB)]


def test_a_cache_that_each_step_replaces_by_a_longer_one_is_no_leak(tmp_path: Path) -> None:
    sizes = [2 * KIB, 3 * KIB, 4 * KIB, 5 * KIB]
    entries = []
    for step, start in enumerate((1000, 1020, 1040)):
        entries.append(entry("alloc", LOSS + 0x2000 * (step + 1), sizes[step + 1], start + 2))
        entries.append(entry("free_requested", LOSS + 0x2000 * step, sizes[step], start + 4))
    memory = analyzed(tmp_path, entries, KNOWN, [*STANDING, block(LOSS + 0x6000, 5 * KIB)])

    assert memory.growth is not None
    assert (memory.growth.kind, memory.growth.bytes_per_step, memory.growth.lines) == ("cache", KIB, ())
    # At the peak, in the last step, the old cache of 4 KiB is alive beside the new one of 5 KiB.
    assert shares(memory)["cache"] == 9
