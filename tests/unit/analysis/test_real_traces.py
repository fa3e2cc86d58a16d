"""The numbers of this project's own captures, against what a plain reference program found in them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from reportgen.analysis.case import CaseInputs
from reportgen.analysis.model import CaseAnalysis
from reportgen.trace.columns import Trace
from reportgen.trace.reader import read_trace
from reportgen.trace.snapshot import read_snapshot
from tests.analyzing import analyze_case
from tests.trace_reading import busy_us


@cache
def read(path: Path) -> Trace:
    return read_trace(path)


@cache
def analyzed(path: Path) -> CaseAnalysis:
    return analyze_case(CaseInputs(name=path.stem, timeline=read(path), detail=read(path)))


# Device busy in the whole file, ms.
BUSY_MS = {
    "clean_infer": 17.09, "sync_item": 14.07, "host_stall": 13.82, "alloc_spike_naive_attn": 437.8, "leak_graph": 4.17,
    "tiny_kernels": 2.50, "train_clean_fused": 30.32, "train_opt_forloop": 35.66, "vocab_unaligned": 62.62,
    "vocab_aligned": 14.27, "h2d_pageable": 92.58, "h2d_pinned": 57.52, "cuda_graph": 0.59,
}  # fmt: skip

# Device time launched by the three steps and queued before the window, ms; peak allocated bytes by the trace's counter.
PLANTED = [
    ("clean_infer", 13.05, 4.03, 908_345_344),
    ("sync_item", 14.07, 0, None),
    ("host_stall", 13.09, 0.73, None),
    ("alloc_spike_naive_attn", 218.9, 218.9, 6_948_208_640),
    ("leak_graph", 4.16, 0, 4_276_706_304),
    ("tiny_kernels", 2.50, 0, None),
    ("train_clean_fused", 30.0, 0.32, 4_207_268_352),
    ("train_opt_forloop", 35.66, 0, None),
    ("vocab_unaligned", 37.58, 25.03, 1_283_018_752),
    ("vocab_aligned", 14.27, 0, None),
    ("h2d_pageable", 89.25, 3.33, None),
    ("h2d_pinned", 28.75, 28.77, None),
    ("cuda_graph", 0.59, 0, None),
]


@pytest.mark.parametrize(("name", "launched_ms", "before_ms", "peak_bytes"), PLANTED)
def test_device_time_and_peak_of_planted_traces(
    shared_traces: Path, name: str, launched_ms: float, before_ms: float, peak_bytes: int | None
) -> None:
    case = analyzed(shared_traces / "planted" / f"{name}.json.gz")

    assert case.device_time is not None
    assert case.num_steps == 3
    assert case.device_time.busy_us_per_step is not None
    assert case.device_time.before_window_us is not None
    # The reference is rounded to the digits shown.
    assert case.device_time.busy_us_per_step * 3 / 1e3 == pytest.approx(launched_ms, rel=3e-4, abs=6e-3)
    assert case.device_time.before_window_us / 1e3 == pytest.approx(before_ms, rel=3e-4, abs=6e-3)
    if peak_bytes is not None:
        assert case.memory is not None
        assert case.memory.peak_allocated_bytes == peak_bytes


@pytest.mark.parametrize("name", [row[0] for row in PLANTED])
def test_operators_kernels_and_the_unattributed_add_up_to_the_device_time(shared_traces: Path, name: str) -> None:
    case = analyzed(shared_traces / "planted" / f"{name}.json.gz")

    assert case.device_time is not None
    whole = case.device_time.activity_sum_us_per_step
    unattributed = case.device_time.unattributed_share
    assert whole is not None
    assert unattributed is not None
    of_operators = sum(row.device_us_per_step or 0 for row in case.operators.items) + (case.operators.other_us or 0)
    of_kernels = sum(row.us_per_step for row in case.kernels.items) + (case.kernels.other_us or 0)
    assert of_operators == pytest.approx(whole * (1 - unattributed))
    assert of_kernels == pytest.approx(whole)


def test_a_graph_replay_has_device_time_and_no_operator(shared_traces: Path) -> None:
    case = analyzed(shared_traces / "planted" / "cuda_graph.json.gz")

    assert case.device_time is not None
    assert case.device_time.unattributed_share == 1
    assert case.coverage.operators == 0


def test_the_unaligned_product_is_found_with_its_shapes_and_function(shared_traces: Path) -> None:
    first = analyzed(shared_traces / "planted" / "vocab_unaligned.json.gz").operators.items[0]

    assert first.name == "aten::mm"
    assert first.input_shapes is not None
    assert 50257 in first.input_shapes[1]
    assert first.device_us_per_step == pytest.approx(8900, rel=0.01)
    assert first.module == "Linear_32"
    assert first.source is not None
    assert (first.source.file, first.source.function, first.source.line_kind) == ("planted.py", "forward", "def")


def test_attention_scores_are_the_largest_allocations(shared_traces: Path) -> None:
    memory = analyzed(shared_traces / "planted" / "alloc_spike_naive_attn.json.gz").memory

    assert memory is not None
    largest = memory.largest[0]
    assert largest.bytes == 2 * 2**30
    assert largest.count_per_step == 8
    assert largest.source is not None
    assert largest.source.function == "attend"
    assert memory.curve is not None
    assert max(memory.curve.allocated_bytes) == memory.peak_allocated_bytes


def test_memory_grows_by_the_graph_that_is_kept(shared_traces: Path) -> None:
    growing = analyzed(shared_traces / "planted" / "leak_graph.json.gz").memory
    steady = analyzed(shared_traces / "planted" / "clean_infer.json.gz").memory

    assert growing is not None
    assert steady is not None
    assert growing.growth_bytes_per_step == pytest.approx(534e6, rel=0.01)
    assert list(growing.step_end_bytes) == sorted(set(growing.step_end_bytes))
    assert steady.growth_bytes_per_step == 0


def test_operators_of_a_backward_pass_name_the_function_they_differentiate(shared_traces: Path) -> None:
    rows = analyzed(shared_traces / "planted" / "train_clean_fused.json.gz").operators.items
    backward = [row for row in rows if row.direction == "backward" and (row.device_us_per_step or 0) > 100]

    assert {row.name for row in backward} >= {"aten::mm", "aten::_cudnn_attention_backward"}
    assert all(row.source is not None for row in backward)
    assert {row.direction for row in rows if row.name == "aten::_fused_adamw_"} == {None}


def test_a_light_pass_gets_shapes_and_functions_from_a_detailed_one(shared_traces: Path) -> None:
    light, deep = (read(shared_traces / "gpt2" / f"prefill_{kind}.json.gz") for kind in ("light", "deep"))
    case = analyze_case(CaseInputs(name="prefill", timeline=light, detail=deep))

    assert case.joining is not None
    assert case.joining.share_of_activities == 1
    assert case.coverage.shapes == 1
    assert case.coverage.stacks == 1
    assert case.device_time is not None
    assert case.device_time.activities_per_step == 247
    assert case.device_time.busy_us_per_step == pytest.approx(1300, rel=0.01)
    alone = analyze_case(CaseInputs(name="prefill", timeline=light, detail=light))
    assert sum(row.host_us_per_step or 0 for row in case.operators.items) == pytest.approx(
        sum(row.host_us_per_step or 0 for row in alone.operators.items)
    )


@pytest.mark.parametrize("folder", ["planted", "gpt2", "public"])
def test_every_trace_gives_numbers_that_survive_being_written(shared_traces: Path, folder: str) -> None:
    for path in sorted((shared_traces / folder).glob("*.json.gz")):
        case = analyzed(path)

        assert msgspec.json.decode(msgspec.json.encode(case), type=CaseAnalysis) == case, path.name


@pytest.mark.parametrize("name", BUSY_MS)
def test_the_device_was_busy_in_a_file_as_long_as_the_reference_says(shared_traces: Path, name: str) -> None:
    assert busy_us(read(shared_traces / "planted" / f"{name}.json.gz")) / 1e3 == pytest.approx(
        BUSY_MS[name], rel=3e-4, abs=6e-3
    )


def _snapshots(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.pickle.gz"))


@pytest.mark.full
def test_every_snapshot_reads_and_its_sizes_add_up(shared_traces: Path) -> None:
    for path in _snapshots(shared_traces):
        history = read_snapshot(path)
        blocks = np.bincount(
            history.blocks.segment, weights=history.blocks.bytes, minlength=len(history.segments.device)
        )

        assert len(history.events.action) > 0, path.name
        assert blocks.tolist() == history.segments.reserved_bytes.tolist(), path.name


NOT_RECORDED = {
    "planted/cpu_only_trace": "device-not-recorded",
    "planted/cuda_graph": "graph-replays",
    "public/hta_cupti_profiler_counters": "device-not-recorded",
    "public/hta_sampled_rank0": "device-work-not-recorded",
    "public/tl_sglang_qwen3_decode": "device-work-not-recorded",
    "public/tl_vllm_decode_fullgraph": "device-work-not-recorded",
    "public/hta_mtia_inference": "unattributed-device-time",
}


def test_conclusions_are_doubted_where_a_trace_lacks_work_and_nowhere_else(shared_traces: Path) -> None:
    for path in sorted(shared_traces.rglob("*.json.gz")):
        name = f"{path.parent.name}/{path.name.removesuffix('.json.gz')}"
        grave = {notice.code for notice in read(path).notices if notice.affects_conclusions}

        assert (NOT_RECORDED[name] in grave) if name in NOT_RECORDED else not grave, (name, grave)


def test_every_share_is_one_and_no_time_is_negative(shared_traces: Path) -> None:
    for path in sorted(shared_traces.rglob("*.json.gz")):
        for key, value in _figures(msgspec.to_builtins(analyzed(path))):
            assert not ("share" in key and not 0 <= value <= 1 + 1e-9), (path.name, key, value)
            assert not (key.endswith(("us", "us_per_step")) and value < 0), (path.name, key, value)


def _figures(node: Any, key: str = "") -> Iterator[tuple[str, float]]:
    """Yield every number of a structure with the name that it stands under."""
    if isinstance(node, dict):
        for name, value in node.items():
            yield from _figures(value, name)
    elif isinstance(node, list | tuple):
        for value in node:
            yield from _figures(value, key)
    elif isinstance(node, int | float) and not isinstance(node, bool):
        yield key, float(node)
