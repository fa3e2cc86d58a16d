"""Recordings of known faults and known memory on an H200, against what was planted and what can be counted by hand."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from reportgen.analysis.inputs import load_recorded
from reportgen.analysis.model import CaseAnalysis, Memory
from reportgen.recording import Recording
from tests.analyzing import analyze_case

DATA = Path(__file__).parents[2] / "data"
EXAMPLE = Path(__file__).parents[3] / "reports" / "example-gpt2-h200" / "recording"


@cache
def analyzed(folder: Path) -> dict[str, CaseAnalysis]:
    recording = Recording.open(folder)
    return {case.name: analyze_case(load_recorded(recording, case).inputs) for case in recording.manifest.cases}


def parts(case: CaseAnalysis) -> dict[str, float]:
    assert case.budget is not None
    return {row.name: row.us_per_step for row in case.budget.parts}


@pytest.mark.parametrize("folder", [DATA / "host-faults", EXAMPLE], ids=["host-faults", "gpt2"])
def test_the_parts_of_each_case_sum_to_its_unprofiled_step(folder: Path) -> None:
    for case in analyzed(folder).values():
        assert case.timing is not None
        assert case.timing.basis == "unprofiled"
        step_us = case.timing.step_us
        assert step_us is not None
        assert sum(parts(case).values()) == pytest.approx(step_us, rel=0.005)
        assert min(parts(case).values()) >= 0
        assert parts(case)["unexplained"] < 0.05 * step_us


@pytest.mark.parametrize(("name", "pause_us"), [("stall-5", 5000), ("stall-1", 1000), ("stall-0", 0)])
def test_a_busy_wait_is_in_the_part_stall_as_long_as_it_is(name: str, pause_us: float) -> None:
    found = parts(analyzed(DATA / "host-faults")[name])

    assert found["stall"] == pytest.approx(pause_us, rel=0.1, abs=200)


def test_a_busy_wait_is_found_in_its_function() -> None:
    case = analyzed(DATA / "host-faults")["stall-1"]

    assert case.gaps is not None
    (place,) = [place for place in case.gaps.places if place.cause == "stall"]
    assert place.source is not None
    assert place.source.function == "pause"


def test_the_sync_pass_names_the_line_of_an_item() -> None:
    case = analyzed(DATA / "host-faults")["item"]

    (sync,) = case.syncs.items
    assert sync.source is not None
    assert (sync.source.function, sync.source.line, sync.source.line_kind) == ("read_loss", 23, "call")
    assert sync.count_per_step == 4


def test_decode_over_new_lengths_pays_at_the_attention_and_known_lengths_do_not() -> None:
    case = analyzed(EXAMPLE)["decode"]

    assert case.timing is not None
    assert case.timing.revisit is not None
    assert case.timing.step_us is not None
    (visit,) = case.first_visits
    assert "attention" in visit.operator
    assert visit.first_us > 100 * visit.later_us
    # What building costs is the first lap less the later laps, both without the profiler.
    assert parts(case)["build"] == pytest.approx(case.timing.step_us - case.timing.revisit.median_us)


# A transformer of 8 layers of width 1024 over 8192 words, counted by hand: embedding and head V·W each; a layer has two
# norms (2W), the three projections (3W² + 3W), the output (W² + W) and the MLP (8W² + 5W).
WIDTH, LAYERS, WORDS = 1024, 8, 8192
PARAMETERS = 2 * WORDS * WIDTH + LAYERS * (12 * WIDTH**2 + 13 * WIDTH)


def memory(name: str) -> tuple[Memory, dict[str, int]]:
    found = analyzed(DATA / "memory-cases")[name].memory
    assert found is not None
    assert found.at_peak is not None
    return found, {share.category: share.bytes for share in found.at_peak}


@pytest.mark.parametrize(("name", "bytes_each"), [("decode", 2), ("naive-attention", 2), ("train", 4)])
def test_parameters_are_what_the_model_holds_and_little_is_unknown(name: str, bytes_each: int) -> None:
    found, at_peak = memory(name)

    assert at_peak["parameters"] == pytest.approx(PARAMETERS * bytes_each, rel=0.01)
    assert found.peak_allocated_bytes is not None
    assert at_peak.get("unknown", 0) < 0.1 * found.peak_allocated_bytes
    assert sum(at_peak.values()) == pytest.approx(found.peak_allocated_bytes, rel=0.01)


def test_adam_keeps_two_moments_beside_parameters_and_gradients() -> None:
    _, at_peak = memory("train")

    assert at_peak["gradients"] == pytest.approx(4 * PARAMETERS, rel=0.01)
    assert at_peak["optimizer"] == pytest.approx(8 * PARAMETERS, rel=0.01)


def test_a_growing_cache_is_a_cache_and_grows_by_a_token() -> None:
    found, at_peak = memory("decode")

    assert found.growth is not None
    assert found.growth.kind == "cache"
    # Keys and values of 8 layers, 1024 numbers of 2 bytes each.
    assert found.growth.bytes_per_step == 2 * LAYERS * WIDTH * 2
    assert at_peak["cache"] >= 256 * 2 * LAYERS * WIDTH * 2


def test_attention_in_whole_matrices_is_a_spike_of_its_function() -> None:
    found, _ = memory("naive-attention")

    (spike,) = found.spikes
    assert spike.source is not None
    assert (spike.source.function, spike.source.line_kind) == ("attend", "call")
    # Scores of 4 x 16 x 2048 x 2048 in float32 are 1 GiB; two of them stand at the top.
    assert spike.bytes == pytest.approx(2 * 2**30, rel=0.1)
