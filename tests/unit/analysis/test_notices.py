from __future__ import annotations

from collections.abc import Callable

import pytest

from reportgen.analysis.case import CaseInputs
from reportgen.analysis.model import Notice
from reportgen.recording import MemoryMarks, PassRecord, RecordedCase, RecordedTiming, Samples
from reportgen.trace.columns import Trace
from tests.analyzing import analyze_case
from tests.trace_builder import kernel, launch, op, step


def notices(recorded: RecordedCase) -> dict[str, Notice]:
    case = analyze_case(CaseInputs(name=recorded.name, recorded=recorded))
    return {notice.code: notice for notice in case.notices}


def test_a_failed_pass_is_said_with_its_reason_and_what_is_lost() -> None:
    failed = PassRecord(name="detail", outcome="failed", reason="out of memory.")
    found = notices(RecordedCase(name="a", phase="train", folder="a", outcome="done", passes=(failed,)))

    assert found["pass-failed"].text == (
        "The pass detail failed: out of memory. Without it shapes, functions and allocations cannot be said."
    )
    assert found["pass-failed"].affects_conclusions


def test_a_run_that_ended_early_says_which_passes_are_missing() -> None:
    done = tuple(PassRecord(name=name, outcome="done") for name in ("cold", "timing"))
    found = notices(RecordedCase(name="a", phase="train", folder="a", outcome="unfinished", passes=done))

    assert found["passes-missing"].count == 4
    assert "timeline, detail, memory, sync" in found["passes-missing"].text
    assert found["passes-missing"].affects_conclusions


def test_a_pass_that_a_finished_run_left_out_is_no_notice() -> None:
    done = (PassRecord(name="cold", outcome="done"), PassRecord(name="sync", outcome="skipped", reason="no device"))

    assert notices(RecordedCase(name="a", phase="train", folder="a", outcome="done", passes=done)) == {}


def test_what_a_crash_left_is_still_analysed() -> None:
    timing = RecordedTiming(mode="drained", drained=Samples(samples_us=(10.0, 12.0, 11.0), blocks=(0, 0, 0)))
    recorded = RecordedCase(
        name="a", phase="train", folder="a", outcome="failed", reason="it raised", timing=timing, device="cuda:0"
    )
    case = analyze_case(CaseInputs(name="a", recorded=recorded, device="NVIDIA H200"))

    assert (case.outcome, case.reason) == ("failed", "it raised")
    assert case.timing is not None
    assert case.timing.step_us == 11
    assert case.device_time is None
    assert case.operators.total == 0


def test_each_pass_is_heard_on_what_is_taken_from_it(read: Callable[..., Trace]) -> None:
    timeline = read(op("a", 0, 1), name="t.json")
    detail = read(op("a", 0, 1, **{"Input Dims": [[2]], "Input type": ["float"]}), name="d.json")
    alone = {notice.code for notice in analyze_case(CaseInputs(name="a", timeline=timeline, detail=timeline)).notices}
    both = [notice.code for notice in analyze_case(CaseInputs(name="a", timeline=timeline, detail=detail)).notices]

    assert "shapes-not-recorded" in alone
    assert "shapes-not-recorded" not in both
    assert "steps-not-marked" in both
    assert len(both) == len(set(both))


@pytest.mark.parametrize(
    ("peak_bytes", "code"),
    [(100, "no-allocations"), (101, "memory-not-recorded")],  # 101: something was allocated that the trace lacks
)
def test_a_trace_without_allocations_is_whole_where_the_steps_make_none(
    read: Callable[..., Trace], peak_bytes: int, code: str
) -> None:
    marks = MemoryMarks(start_bytes=100, peak_allocated_bytes=peak_bytes, peak_reserved_bytes=200)
    trace = read(op("a", 0, 10), launch(2, 1, 1), kernel(4, 5, 1))
    recorded = RecordedCase(name="a", phase="train", folder="a", outcome="done", memory=marks)
    case = analyze_case(CaseInputs(name="a", recorded=recorded, timeline=trace, detail=trace))

    assert {notice.code for notice in case.notices} & {"no-allocations", "memory-not-recorded"} == {code}


def test_what_both_passes_say_of_the_same_graphs_is_said_once(read: Callable[..., Trace]) -> None:
    def replay(name: str, before: int) -> Trace:
        # `before` kernels of 5 us with an operator, one of 5 us from a graph.
        ordinary = [
            event
            for number in range(1, before + 1)
            for event in (op("a", 10 * number, 3), launch(10 * number, 1, number), kernel(10 * number + 2, 5, number))
        ]
        graph = (launch(100, 1, 90, name="cudaGraphLaunch"), kernel(102, 5, 90))
        return read(step(1, 0, 200), *ordinary, *graph, name=name)

    def said(detail: Trace) -> int:
        case = analyze_case(CaseInputs(name="a", timeline=replay("t.json", 1), detail=detail))
        return [notice.code for notice in case.notices].count("graph-replays")

    assert said(replay("d.json", 1)) == 1  # half of the device time in both
    assert said(replay("e.json", 3)) == 2  # a quarter in the detail pass


@pytest.mark.parametrize("marks", [(), (step(1, 0, 50),)])
def test_a_window_without_operators_was_recorded_where_its_steps_are_marked(
    read: Callable[..., Trace], marks: tuple[dict[str, object], ...]
) -> None:
    trace = read(*marks, launch(2, 1, 1, name="cudaGraphLaunch"), kernel(4, 5, 1))
    (notice,) = [notice for notice in trace.notices if notice.code == "operators-not-recorded"]

    assert ("ProfilerActivity.CPU" in notice.text) is (not marks)
