"""Conditions C3 and C4 of docs/conditions.md: times with more digits than a double holds, a unit that means nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reportgen.trace.reader import read_trace
from tests.trace_builder import base, kernel, launch, op, write_trace

EPOCH_US = "1743521598000000"


def at(text: str, *fractions: str) -> bytes:
    """Replace the times 0.111, 0.222, … of a trace by times since 1970 with three decimals."""
    for index, fraction in enumerate(fractions, start=1):
        text = text.replace(f'"ts": 0.{str(index) * 3}', f'"ts": {EPOCH_US}.{fraction}')
    return text.encode()


def test_c3_seventeen_digits_keep_every_nanosecond(tmp_path: Path) -> None:
    trace = base(kernel(0.111, 0.5, c=1), kernel(0.222, 0.5, c=2), offset=0)
    read = read_trace(write_trace(tmp_path, at(json.dumps(trace), "125", "625")))

    assert read.activities.start_ns.tolist() == [0, 500]
    assert read.activities.end_ns.tolist() == [500, 1000]
    assert read.origin_text == f"{EPOCH_US}.125"


def test_c3_times_relative_to_a_base_read_as_they_are(tmp_path: Path) -> None:
    trace = base(
        kernel(0.125, 0.5, c=1), kernel(0.625, 0.5, c=2), offset=5_106_798_094_921.0, baseTimeNanoseconds=1_790_857_026
    )
    read = read_trace(write_trace(tmp_path, trace))

    assert read.activities.start_ns.tolist() == [0, 500]
    assert read.origin_text == "5106798094921.125"


def test_c3_a_first_event_without_fraction_or_time_does_not_decide(tmp_path: Path) -> None:
    named = {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "python"}}
    trace = base(named, {**op("a", 0, 1), "ts": int(EPOCH_US)}, op("b", 0.111, 0.5), offset=0)
    read = read_trace(write_trace(tmp_path, at(json.dumps(trace), "003")))

    assert read.operators.start_ns.tolist() == [0, 3]


@pytest.mark.parametrize("unit", ["ms", "ns", None])
def test_c4_the_unit_of_display_changes_nothing(tmp_path: Path, unit: str | None) -> None:
    events = (op("a", 0, 10), launch(1, 1, 1), kernel(4, 3, c=1))
    trace = read_trace(write_trace(tmp_path, base(*events, displayTimeUnit=unit)))

    assert trace.activities.start_ns.tolist() == [4000]
    assert trace.activities.end_ns.tolist() == [7000]
    assert trace.window_end_ns == 10_000
