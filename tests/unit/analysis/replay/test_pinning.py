"""Copies from pageable memory, as long as they would take from pinned memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from reportgen.analysis.replay.pinning import pinned_durations_ns
from reportgen.trace.reader import read_trace
from tests.trace_builder import Json, activity, base, kernel, launch, write_trace

PAGEABLE, PINNED = "Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Pinned -> Device)"
BYTES = 10_000_000


def durations_us(tmp_path: Path, *events: Json, capability: int | None = None) -> list[float]:
    device = {"id": 0, "name": "a device", **({"computeMajor": capability, "computeMinor": 0} if capability else {})}
    trace = read_trace(write_trace(tmp_path, base(*events, deviceProperties=[device])))
    durations: list[float] = (pinned_durations_ns(trace) / 1e3).tolist()
    return durations


def copy(at: int, length: int, c: int, name: str) -> list[Json]:
    return [launch(at, 5, c, name="cudaMemcpyAsync"), activity("gpu_memcpy", name, at + 10, length, c, bytes=BYTES)]


# 10 MB over PCIe 3, 4 and 5 with 16 lanes: 12, 25 and 50 GB/s.
@pytest.mark.parametrize(("capability", "expected_us"), [(7, 833.3), (8, 400), (9, 200), (None, 400)])
def test_without_a_pinned_copy_in_the_trace_the_link_says_the_rate(
    tmp_path: Path, capability: int | None, expected_us: float
) -> None:
    events = [*copy(0, 1000, 1, PAGEABLE), launch(2000, 5, 2), kernel(2010, 70, 2)]

    assert durations_us(tmp_path, *events, capability=capability) == pytest.approx([expected_us, 70], rel=1e-3)


def test_the_traces_own_pinned_copies_say_it_better(tmp_path: Path) -> None:
    events = [*copy(0, 1000, 1, PAGEABLE), *copy(2000, 250, 2, PINNED)]

    assert durations_us(tmp_path, *events, capability=9) == pytest.approx([250, 250])


def test_no_copy_becomes_longer(tmp_path: Path) -> None:
    assert np.array(durations_us(tmp_path, *copy(0, 100, 1, PAGEABLE), capability=7)) == pytest.approx([100])
