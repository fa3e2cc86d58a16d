"""Long files are read in pieces: whatever the borders fall on, the trace is that of the whole."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reportgen.errors import InputUnreadable
from reportgen.trace import source
from reportgen.trace.columns import Trace
from reportgen.trace.reader import read_trace
from tests.trace_builder import base, frame, kernel, launch, memory, op, step, write_trace

AWKWARD_NAMES = ('f("}, {")', "a\\", 'say "b\\"', "}\n],", '{"ph": "X"}', "[[[", "µ→", '"traceEvents": [')


def awkward_trace() -> dict[str, Any]:
    events = []
    for index in range(24):
        name = AWKWARD_NAMES[index % len(AWKWARD_NAMES)]
        at = 100 * index
        events += [
            step(index, at, 90),
            op(name, at + 1, 20, **{"Input Dims": [[[1, 2], [3]], []], "nested": [{"name": "x"}, {"name": "y"}]}),
            frame(f"{name}.py({index}): f", at + 2, 10),
            launch(at + 3, 1, index + 1),
            kernel(at + 30, 5, index + 1),
            memory(at + 4, 64, total=64 * index),
        ]
    return base(*events, distributedInfo={"rank": 3}, notes=["] }", "traceEvents"])


def assert_alike(trace: Trace, expected: Trace) -> None:
    assert trace.notices == expected.notices
    assert trace.info.rank == expected.info.rank
    for table in ("operators", "frames", "calls", "activities", "memory", "steps"):
        read, wanted = vars(getattr(trace, table)), vars(getattr(expected, table))
        for column, values in wanted.items():
            if column == "name":
                # The numbers of names follow the order of tables in a piece.
                assert [trace.names[code] for code in read[column]] == [expected.names[code] for code in values]
            elif column != "signature":
                np.testing.assert_array_equal(read[column], values)
    signatures = [trace.signatures[code] for code in trace.operators.signature]
    assert signatures == [expected.signatures[code] for code in expected.operators.signature]


@pytest.mark.parametrize("block_bytes", [1, 64, 333, 5000])
@pytest.mark.parametrize("layout", ["compact", "pretty", "gz"])
def test_pieces_of_any_size_make_the_same_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: str, block_bytes: int
) -> None:
    trace = awkward_trace()
    text = json.dumps(trace, indent=2 if layout == "pretty" else None).encode()
    path = write_trace(tmp_path, text, "trace.json.gz" if layout == "gz" else "trace.json")
    expected = read_trace(path)
    if block_bytes < 64:
        text = json.dumps({**trace, "traceEvents": trace["traceEvents"][:12]}).encode()
        path = write_trace(tmp_path, text, path.name)
        expected = read_trace(path)

    monkeypatch.setattr(source, "BLOCK_BYTES", block_bytes)
    assert_alike(read_trace(path), expected)


def test_a_damaged_event_costs_the_other_pieces_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = json.dumps(base(*(op(f"op{index}", 10 * index, 5) for index in range(300)))).encode()
    path = write_trace(tmp_path, text.replace(b'"op150"', b'"op" 150"'))
    for block_bytes in (100, 1000, 10_000, 16 << 20):
        monkeypatch.setattr(source, "BLOCK_BYTES", block_bytes)
        trace = read_trace(path)
        names = [trace.names[code] for code in trace.operators.name]
        assert names == [f"op{index}" if index != 150 else 'op" 150' for index in range(300)]
        assert [notice.count for notice in trace.notices if notice.code == "names-repaired"] == [1]


def test_progress_tells_the_share_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "BLOCK_BYTES", 10_000)
    text = json.dumps(awkward_trace()).encode()
    for name in ("trace.json", "trace.json.gz"):
        shares: list[float] = []
        read_trace(write_trace(tmp_path, text, name), progress=shares.append)
        assert shares == sorted(shares)
        assert shares[-1] == 1.0
        assert len(shares) == -(-len(text) // 10_000)


def test_a_byte_order_mark_and_several_gzip_members_are_read(tmp_path: Path) -> None:
    text = b"\xef\xbb\xbf" + json.dumps(base(op("a", 0, 1), op("b", 2, 1))).encode()
    path = tmp_path / "trace.json.gz"
    path.write_bytes(gzip.compress(text[:100]) + gzip.compress(text[100:]) + bytes(20))

    trace = read_trace(path)
    assert trace.names == ("a", "b")
    assert {notice.code for notice in trace.notices} & {"file-cut-off", "file-damaged"} == set()


def test_values_of_other_types_cost_no_event(tmp_path: Path) -> None:
    event = {**kernel(5, 7, c=1), "pid": [1], "args": {"correlation": "12", "stream": 7.5, "grid": "x"}}
    trace = read_trace(write_trace(tmp_path, base(event, op("a", 0, 1), {**op("b", 1, 1), "args": [1]}, op("c", 2, 1))))

    assert trace.activities.correlation.tolist() == [12]
    assert trace.activities.stream.tolist() == [7]
    assert [trace.names[code] for code in trace.operators.name] == ["a", "b", "c"]
    assert [notice.count for notice in trace.notices if notice.code == "values-unreadable"] == [2]


def test_events_without_a_time_are_left_out_and_said(tmp_path: Path) -> None:
    far = "9" * 400
    text = json.dumps(base(op("a", 0, 10), op("b", 1, 2), op("c", 3, 4), op("d", 5, -2))).replace(
        '"ts": 1000001', f'"ts": {far}'
    )
    trace = read_trace(write_trace(tmp_path, text.replace('"ts": 1000003, ', "").encode()))

    assert [trace.names[code] for code in trace.operators.name] == ["a", "d"]
    assert trace.operators.end_ns.tolist() == [10_000, 5_000]
    counts = {notice.code: notice.count for notice in trace.notices}
    assert (counts["times-missing"], counts["durations-missing"]) == (2, 1)


def test_a_name_may_be_a_number_or_absent(tmp_path: Path) -> None:
    events = ({**op("a", 0, 1), "name": 7}, {**op("b", 2, 1), "name": None}, op("7", 4, 1))
    trace = read_trace(write_trace(tmp_path, base(*events)))

    assert [trace.names[code] for code in trace.operators.name] == ["7", "", "7"]


def test_a_long_file_of_something_else_is_refused_before_it_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_bytes(b"x" * 100)
    with pytest.raises(InputUnreadable, match="no JSON"):
        read_trace(path)


def _peak_bytes(path: Path) -> int:
    program = (
        "import resource, sys, pathlib\nfrom reportgen.trace import source\n"
        "from reportgen.trace.reader import read_trace\nsource.BLOCK_BYTES = 1 << 20\n"
        "read_trace(pathlib.Path(sys.argv[1]))\nprint(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)"
    )
    # One thread: the pools of libraries take memory of their own.
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], check=True, capture_output=True, text=True, env=environment
    )
    return int(done.stdout)


def test_b1_memory_grows_with_the_columns_not_with_the_text(tmp_path: Path) -> None:
    one_step = json.dumps(awkward_trace()["traceEvents"])[1:-1].encode()
    num_events = one_step.count(b'"ph": "X"')
    peaks, sizes = [], (100, 800)
    for copies in sizes:
        path = tmp_path / f"{copies}.json"
        path.write_bytes(b'{"traceEvents": [' + b",".join([one_step] * copies) + b"]}")
        peaks.append(_peak_bytes(path))

    more_events = num_events * (sizes[1] - sizes[0])
    assert more_events > 80_000
    # A block of text and its events are held in either case; the difference is columns, and what linking makes of them.
    assert (peaks[1] - peaks[0]) / more_events < 600


@pytest.mark.full
def test_every_shared_trace_reads(shared_traces: Path) -> None:
    paths = sorted(shared_traces.rglob("*.json.gz"))
    assert len(paths) > 40
    damage = re.compile("file-|events-lost|values-unreadable|repaired|header-damaged")
    for path in paths:
        trace = read_trace(path)
        assert len(trace.operators.name) + len(trace.frames.name) > 0
        assert [notice.code for notice in trace.notices if damage.match(notice.code)] == [], path


@pytest.fixture
def shared_traces() -> Path:
    folder = Path(os.environ.get("REPORTGEN_TRACES", "absent"))
    if not folder.is_dir():
        pytest.skip("REPORTGEN_TRACES names no folder of traces")
    return folder


def test_shuffled_lines_of_a_trace_never_raise(tmp_path: Path) -> None:
    chance = random.Random(5)
    lines = json.dumps(awkward_trace(), indent=1).encode().splitlines(keepends=True)
    for _ in range(30):
        chance.shuffle(lines)
        path = write_trace(tmp_path, b"{" + b"".join(lines[:2000]))
        try:
            num_names = len(read_trace(path).names)
        except InputUnreadable:
            num_names = 0
        assert num_names <= 24 + len(AWKWARD_NAMES) + 24
