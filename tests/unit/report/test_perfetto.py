from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from reportgen.analysis.case import CaseInputs, analyze_with_step
from reportgen.analysis.model import Where
from reportgen.analysis.one_step.step_export import StepExport
from reportgen.findings.model import Finding
from reportgen.report.perfetto import write_step
from reportgen.trace.reader import read_trace
from tests.trace_builder import OFFSET_US, base, frame, kernel, launch, op, step, write_trace

Event = dict[str, Any]


def exported(tmp_path: Path, *events: Event) -> StepExport:
    trace = read_trace(write_trace(tmp_path, base(*events)))
    export = analyze_with_step(CaseInputs(name="trace", timeline=trace, detail=trace)).step
    assert export is not None
    return export


def written(tmp_path: Path, export: StepExport, *findings: Finding) -> dict[str, Any]:
    path = tmp_path / "step.perfetto.json.gz"
    write_step(path, export, findings)
    document: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return document


def tracks(document: dict[str, Any]) -> dict[str, list[Event]]:
    """Return complete events by the name of their track."""
    events = document["traceEvents"]
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    found: dict[str, list[Event]] = {name: [] for name in names.values()}
    for event in events:
        if event["ph"] == "X":
            found[names[event["pid"], event["tid"]]].append(event)
    return found


def finding(*where: Where, case: str | None = "trace") -> Finding:
    return Finding(
        id="F1", rule="host-stall", fingerprint="f", checklist_step=2, severity="high", case=case, title="It stalls",
        evidence=(), mechanism="", action="Do not stall", verify="", where=where, confidence="low",
    )  # fmt: skip


STEP = (
    *(step(1, 0, 100), step(2, 100, 60)),
    *(frame("run.py(1): main", 90, 80), frame("torch/nn.py(2): call", 101, 30)),
    *(op("aten::mm", 102, 10, **{"Input Dims": [[2, 3], [3, 4]], "Input type": ["float", "float"]}),),
    *(launch(103, 5, 1), kernel(120, 30, 1, name="gemm")),
    *(op("early", 5, 10), launch(6, 2, 2), kernel(20, 5, 2)),
)


def test_one_step_is_written_with_host_and_device_tracks(tmp_path: Path) -> None:
    found = tracks(written(tmp_path, exported(tmp_path, *STEP)))

    host, device = found["thread 1"], found["device 0, stream 7"]
    assert [(e["name"], e["ts"], e["dur"]) for e in host] == [
        ("run.py(1): main", 0, 60),  # cut to the step
        ("aten::mm", 2, 10),
        ("cudaLaunchKernel", 3, 5),
    ]
    assert [(e["name"], e["ts"], e["dur"]) for e in device] == [("gemm", 20, 30)]
    assert device[0]["args"] == {"operator": "aten::mm", "shapes": "2×3, 3×4", "in": "main (run.py:1)"}


def test_a_launch_points_to_its_kernel(tmp_path: Path) -> None:
    events = written(tmp_path, exported(tmp_path, *STEP))["traceEvents"]
    (begin,) = [e for e in events if e["ph"] == "s"]
    (end,) = [e for e in events if e["ph"] == "f"]

    assert begin["id"] == end["id"]
    assert (begin["ts"], end["ts"]) == (3, 20)


def test_the_documents_say_where_in_the_trace_the_step_lies(tmp_path: Path) -> None:
    other = written(tmp_path, exported(tmp_path, *STEP))["otherData"]

    assert other["step"] == 2
    assert other["step_in_report"] == 2
    assert other["step_start_us_in_trace"] == OFFSET_US + 100
    assert other["trace"] == "trace.json"


def test_findings_are_painted_where_they_lie_in_the_step(tmp_path: Path) -> None:
    def place(start: float, end: float, trace: str = "trace.json") -> Where:
        return Where(trace=trace, start_us=OFFSET_US + start, end_us=OFFSET_US + end)

    export = exported(tmp_path, *STEP)
    found = tracks(
        written(
            tmp_path,
            export,
            finding(place(110, 130), place(150, 190), place(0, 50), place(110, 130, trace="other.json")),
            finding(case="another"),
        )
    )

    assert [(e["ts"], e["dur"]) for e in found["F1: It stalls"]] == [(10, 20), (50, 10)]
    assert found["F1: It stalls"][0]["args"] == {"do": "Do not stall"}


def test_equal_input_gives_equal_bytes(tmp_path: Path) -> None:
    export = exported(tmp_path, *STEP)
    one, other = tmp_path / "one.gz", tmp_path / "other.gz"
    write_step(one, export)
    write_step(other, export)

    assert one.read_bytes() == other.read_bytes()


@pytest.mark.full
def test_a_step_of_very_many_events_stays_small(tmp_path: Path) -> None:
    events = [
        event
        for c in range(1, 40_001)
        for event in (op(f"op{c % 50}", 5 * c, 4), launch(5 * c + 1, 1 + c % 3, c), kernel(5 * c + 9, 1 + c % 7, c))
    ]
    export = exported(tmp_path, *events)
    path = tmp_path / "step.gz"
    write_step(path, export)

    assert export.num_dropped == 3 * 30_000
    assert path.stat().st_size < 1_000_000


def test_half_an_arrow_is_left_out(tmp_path: Path) -> None:
    # A kernel of step 1 ends at 115 only, so step 2 counts from there:
    # its launch at 103 lies before, the one at 116 within.
    late = (op("late", 16, 10), launch(17, 2, 7), kernel(110, 5, 7))
    within = (op("within", 115, 10), launch(116, 2, 9), kernel(151, 2, 9))
    events = written(tmp_path, exported(tmp_path, *STEP, *late, *within))["traceEvents"]

    begins = {e["id"] for e in events if e["ph"] == "s"}
    assert begins == {e["id"] for e in events if e["ph"] == "f"}
    assert len(begins) == 1


def test_groups_without_a_track_are_not_named(tmp_path: Path) -> None:
    events = written(tmp_path, exported(tmp_path, *STEP))["traceEvents"]
    named = {e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert "Findings" not in named
    assert {"Host", "Device"} <= named
