"""Memory in captures of known faults, and in the same model without them."""

from __future__ import annotations

from functools import cache

import pytest

from reportgen.analysis.case import CaseInputs
from reportgen.analysis.model import CaseAnalysis, Memory
from reportgen.findings import evaluate
from reportgen.recording import Environment
from reportgen.trace.snapshot import read_snapshot
from tests import planted
from tests.analyzing import analyze_case

MEMORY_RULES = {"allocation-spike", "memory-growth", "allocator-churn", "fragmentation", "near-capacity"}


@cache
def analyzed(name: str, *, with_snapshot: bool) -> CaseAnalysis:
    trace = planted.read(planted.find(name))
    snapshot = read_snapshot(planted.find_snapshot(name)) if with_snapshot else None
    return analyze_case(CaseInputs(name="case", timeline=trace, detail=trace, snapshot=snapshot))


def memory_of(name: str, *, with_snapshot: bool = True) -> Memory:
    memory = analyzed(name, with_snapshot=with_snapshot).memory
    if memory is None and planted.COPIES in planted.find(name).parents:
        pytest.skip(f"the copy of {name} was cut without its memory events, and REPORTGEN_TRACES names no other")
    assert memory is not None
    return memory


def fired(case: CaseAnalysis) -> set[str]:
    return {finding.rule for finding in evaluate([case], Environment())[0]} & MEMORY_RULES


@pytest.mark.parametrize(
    ("name", "peak_bytes"),
    [
        ("clean_infer", 908_345_344),
        ("alloc_spike_naive_attn", 6_948_208_640),
        ("leak_graph", 4_276_706_304),
        ("train_clean_fused", 4_207_268_352),
        ("vocab_unaligned", 1_283_018_752),
    ],
)
def test_peaks_are_those_of_the_allocators_own_counter(name: str, peak_bytes: int) -> None:
    memory = memory_of(name)

    assert memory.peak_allocated_bytes == peak_bytes
    assert memory.curve is not None
    assert max(memory.curve.allocated_bytes) == peak_bytes
    # The snapshot, reckoned back from its end, comes to the same but for blocks larger than what was asked for.
    assert memory.at_peak_bytes == pytest.approx(peak_bytes, rel=0.002)
    assert memory.at_peak is not None
    assert sum(share.bytes for share in memory.at_peak) == memory.at_peak_bytes


@pytest.mark.parametrize("with_snapshot", [False, True])
def test_the_planted_spike_is_the_functions_that_writes_whole_matrices(*, with_snapshot: bool) -> None:
    memory = memory_of("alloc_spike_naive_attn", with_snapshot=with_snapshot)

    (spike,) = memory.spikes
    assert spike.above_baseline_bytes == pytest.approx(6_580_862_976, rel=0.05)
    assert spike.bytes >= 3 * 2**31
    assert spike.count_per_step == 8
    assert not spike.within_operator
    assert spike.source is not None
    assert spike.source.function == "attend"
    assert spike.source.line_kind == ("call" if with_snapshot else "def")
    # At the top stand two blocks of 2 GiB from line 75 and one from line 73; the def is on line 72.
    assert spike.source.line == (75 if with_snapshot else 72)


@pytest.mark.parametrize("with_snapshot", [False, True])
def test_the_kept_graph_is_growth_with_the_lines_that_allocated_it(*, with_snapshot: bool) -> None:
    case = analyzed("leak_graph", with_snapshot=with_snapshot)

    assert case.memory is not None
    growth = case.memory.growth
    assert growth is not None
    assert growth.kind == "kept"
    assert growth.bytes_per_step == pytest.approx(534e6, rel=0.02)
    # These lines explain it: their largest is the loss's own copy in fp32.
    assert sum(line.bytes_per_step for line in growth.lines) >= 0.9 * growth.bytes_per_step
    assert growth.lines[0].operator == "aten::_to_copy"
    assert growth.lines[0].source is not None
    assert (growth.lines[0].source.function, growth.lines[0].source.line) == ("step", 81)
    assert fired(case) == {"memory-growth"}


@pytest.mark.parametrize("with_snapshot", [False, True])
@pytest.mark.parametrize(
    "name", ["clean_infer", "train_clean_fused", "train_opt_forloop", "sync_item", "vocab_aligned"]
)
def test_clean_steps_have_neither_spike_nor_growth(name: str, *, with_snapshot: bool) -> None:
    growth = memory_of(name, with_snapshot=with_snapshot).growth

    assert growth is not None
    assert growth.bytes_per_step == 0
    assert fired(analyzed(name, with_snapshot=with_snapshot)) == set()


@pytest.mark.parametrize("with_snapshot", [False, True])
def test_a_growing_cache_is_recognised(*, with_snapshot: bool) -> None:
    case = analyzed("decode_deep", with_snapshot=with_snapshot)

    assert case.memory is not None
    growth = case.memory.growth
    assert growth is not None
    # 12 layers, keys and values, of 768 numbers of 2 bytes.
    assert (growth.kind, growth.bytes_per_step) == ("cache", 12 * 2 * 768 * 2)
    assert fired(case) == set()
    assert case.memory.at_peak is not None
    assert "cache" in {share.category for share in case.memory.at_peak}


def test_a_training_steps_optimizer_state_is_told_by_the_lines_that_allocated_it() -> None:
    memory = memory_of("train_clean_fused")

    assert memory.at_peak is not None
    shares = {share.category: share.bytes for share in memory.at_peak}
    # Two moments in fp32 for each fp32 parameter of what was there before: twice its size, but for the workspaces.
    assert shares["optimizer"] == pytest.approx(2 * 564e6, rel=0.01)
    assert shares["activations"] > 10**9


def test_a_trace_of_a_device_job_without_activities_still_tells_its_memory() -> None:
    memory = memory_of("cpu_only_trace", with_snapshot=False)

    assert memory.peak_allocated_bytes == 390_156_800
    assert memory.peak_reserved_bytes == 962_592_768


def test_what_a_convolution_takes_for_itself_is_the_operators_own() -> None:
    memory = memory_of("h2d_pageable", with_snapshot=False)

    # One is the workspace of each convolution: it comes and goes within the operator.
    assert [(spike.operator, spike.within_operator) for spike in memory.spikes] == [
        ("aten::cudnn_convolution", True)
    ] * len(memory.spikes)
    assert memory.spikes
