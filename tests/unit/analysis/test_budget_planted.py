"""Captures with a known fault: the fault is in the numbers, and nothing else is."""

from __future__ import annotations

import pytest

from reportgen.analysis.model import BudgetPart
from tests.planted import analyzed, budget_of, gaps_of, launching_of, parts_us

# Waits that the program can be blamed for.
FAULTS: tuple[BudgetPart, ...] = ("sync", "input", "allocator", "build", "stall")
WITH_BUDGET = (
    "clean_infer", "sync_item", "host_stall", "alloc_spike_naive_attn", "leak_graph", "tiny_kernels",
    "train_clean_fused", "train_opt_forloop", "vocab_unaligned", "vocab_aligned", "h2d_pageable", "h2d_pinned",
    "cuda_graph", "prefill_light", "prefill_deep", "decode_light", "decode_deep",
)  # fmt: skip


@pytest.mark.parametrize("name", WITH_BUDGET)
def test_every_instant_of_the_step_is_in_one_part(name: str) -> None:
    case = analyzed(name)
    budget = budget_of(case)

    assert sum(row.us_per_step for row in budget.parts) == pytest.approx(budget.step_us, rel=1e-6)
    assert all(0 <= row.low_us <= row.us_per_step <= row.high_us for row in budget.parts)
    assert parts_us(case)["unexplained"] < 0.05 * budget.step_us
    assert case.timing is not None
    assert budget.step_us == case.timing.step_us


def test_device_time_that_was_not_recorded_gives_no_budget() -> None:
    case = analyzed("cpu_only_trace")

    assert (case.budget, case.gaps, case.launching) == (None, None, None)


@pytest.mark.parametrize(
    ("name", "step_us"), [("vocab_unaligned", 12_700), ("h2d_pinned", 9_615), ("alloc_spike_naive_attn", 73_365)]
)
def test_a_step_is_as_long_as_from_completion_to_completion(name: str, step_us: float) -> None:
    assert budget_of(analyzed(name)).step_us == pytest.approx(step_us, rel=0.02)


@pytest.mark.parametrize("name", ["clean_infer", "vocab_unaligned", "vocab_aligned", "h2d_pinned", "tiny_kernels"])
def test_no_wait_is_called_a_fault_of_a_program_without_one(name: str) -> None:
    case = analyzed(name)
    parts = parts_us(case)

    assert sum(parts[fault] for fault in FAULTS) == pytest.approx(0, abs=0.001 * budget_of(case).step_us)
    assert case.syncs.items == ()
    assert case.first_visits == ()


def test_items_read_in_each_layer_cost_their_refill_too() -> None:
    case = analyzed("sync_item")
    (item,) = case.syncs.items

    assert (item.call, item.operator) == ("cudaStreamSynchronize", "aten::_local_scalar_dense")
    assert item.count_per_step == 8
    assert item.source is not None
    assert (item.source.function, item.source.line, item.source.line_kind) == ("hook", 57, "def")
    assert item.cost_us_per_step > 1000
    # All of it is lost after the host was let go: under the calls themselves the device worked.
    assert {gap.cause for gap in gaps_of(case).items[:16]} == {"sync"}
    assert parts_us(case)["stall"] == 0


def test_a_busy_wait_is_a_stall_in_its_function() -> None:
    case = analyzed("host_stall")

    assert parts_us(case)["stall"] == pytest.approx(20_000, rel=0.01)
    stalls = [gap for gap in gaps_of(case).items if gap.cause == "stall"]
    assert [gap.source.function for gap in stalls if gap.source is not None] == ["hook", "hook"]
    first = case.sources.items[0]
    assert first.function == "hook"
    assert first.waiting_us_per_step == pytest.approx(20_000, rel=0.02)
    assert [(sync.call, sync.count_per_step) for sync in case.syncs.items] == [("cudaDeviceSynchronize", 1)]
    assert launching_of(case).verdict == "device-bound"  # its stall aside


def test_a_copy_from_pageable_memory_holds_the_host() -> None:
    case = analyzed("h2d_pageable")
    copy = case.syncs.items[0]

    assert (copy.call, copy.operator, copy.count_per_step) == ("cudaMemcpyAsync", "aten::copy_", 1)
    assert copy.blocked_us_per_step > 25_000
    assert copy.cost_us_per_step < 1000  # beyond the copy itself, which the device is busy with


def test_a_first_visit_of_each_length_is_a_build_at_the_attention() -> None:
    case = analyzed("decode_light")
    (visit,) = case.first_visits

    assert visit.operator == "aten::_cudnn_attention_forward"
    assert 62_000 < visit.first_us < 64_000
    assert 60 < visit.later_us < 190
    assert parts_us(case)["build"] == pytest.approx(62_900, rel=0.01)
    assert gaps_of(case).items[0].cause == "build"


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("leak_graph", "host-bound"), ("tiny_kernels", "host-bound"), ("train_clean_fused", "host-bound"),
        ("train_opt_forloop", "host-bound"), ("prefill_light", "host-bound"), ("decode_deep", "host-bound"),
        ("alloc_spike_naive_attn", "device-bound"), ("vocab_unaligned", "device-bound"),
        ("clean_infer", "device-bound"), ("h2d_pinned", "device-bound"),
    ],
)  # fmt: skip
def test_who_limits_the_step(name: str, verdict: str) -> None:
    assert launching_of(analyzed(name)).verdict == verdict


def test_a_replayed_graph_is_not_called_idle() -> None:
    case = analyzed("cuda_graph")

    assert launching_of(case).verdict == "undecided"
    assert case.device_time is not None
    assert case.device_time.busy_share is not None
    assert case.device_time.busy_share > 0.8
    assert "graph-replays" in {notice.code for notice in case.notices}


def test_tiny_kernels_are_over_before_the_next_is_launched() -> None:
    launching = launching_of(analyzed("tiny_kernels"))

    assert launching.launches_per_step == 900
    assert launching.short_kernels_per_step is not None
    assert launching.short_kernels_per_step > 890
    assert launching.median_activity_us is not None
    assert launching.median_activity_us < 1


@pytest.mark.parametrize("name", ["sync_item", "leak_graph", "host_stall", "vocab_unaligned"])
def test_gaps_sum_to_the_step_without_its_work(name: str) -> None:
    case = analyzed(name)
    gaps, parts = gaps_of(case), parts_us(case)

    work = parts["compute"] + parts["communication"] + parts["copy"]
    assert gaps.us_per_step == pytest.approx(budget_of(case).step_us - work)
    assert sum(row.us_per_step for row in gaps.causes) == pytest.approx(gaps.us_per_step)
    assert gaps.threshold_us is not None
    assert 1 < gaps.threshold_us < 10
    durations = [gap.duration_us for gap in gaps.items]
    assert durations == sorted(durations, reverse=True)
    assert all(gap.duration_us >= gaps.threshold_us for gap in gaps.items)


def test_the_waits_for_the_device_add_up_to_the_part_sync_once_the_profilers_share_is_out() -> None:
    case = analyzed("sync_item")

    told = [sync.cost_without_profiler_us_per_step or 0.0 for sync in case.syncs.items]
    assert sum(told) == pytest.approx(parts_us(case)["sync"], rel=0.01)
    # Recording made most of what the trace shows.
    assert sum(told) < sum(sync.cost_us_per_step for sync in case.syncs.items) / 2
