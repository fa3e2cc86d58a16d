from __future__ import annotations

import pytest

from reportgen.analysis.model import CaseAnalysis, Memory, StepTimes, Throughput, Timing
from reportgen.analysis.steps.timing import summarize_times
from reportgen.report.view.figures import case_figures, view_figures
from reportgen.report.view.medium import SCREEN, Medium, page
from tests import report_builder as build
from tests.case_builder import host_bound_case

TIMES = StepTimes(
    median_us=6600.0, p5_us=6000.0, p95_us=7300.0, min_us=5900.0, max_us=8000.0, num_samples=200, samples_us=()
)
TIMING = Timing(
    step_us=6600.0,
    mode="pipelined",
    basis="unprofiled",
    pipelined=TIMES,
    throughput=Throughput(value=512 / 0.0066, unit="tokens/s"),
)
MEMORY = Memory(
    peak_allocated_bytes=363 * 2**20, peak_reserved_bytes=None, start_bytes=294 * 2**20, growth_bytes_per_step=0.0
)


def test_each_figure_has_its_unit_and_what_stands_behind_it() -> None:
    case = host_bound_case(timing=TIMING, memory=MEMORY)
    finding = build.finding(gain=build.gain(6600.0, 1540.0))
    view = view_figures(build.report([case], [finding]), page(1))
    assert view.heads == (
        "Case",
        "Step, not profiled",
        "Throughput",
        "Device busy",
        "Best step measured",
        "Peak memory",
    )
    step, throughput, busy, best, memory = view.rows[0].figures
    assert (step.value, step.unit) == ("6.60", "ms")
    assert step.note.replace("\u00a0", " ") == "6.00 to 7.30 ms, n = 200"
    assert (throughput.value, throughput.unit) == ("77.6", "k tokens/s")
    assert throughput.note.replace("\u00a0", " ") == "512 tokens a step"
    assert (busy.value, busy.unit) == ("3.0", "%")
    assert (best.value, best.note) == ("1.54", "F1, measured, 4.3×")
    assert (memory.value, memory.unit) == ("363", "MiB")
    assert memory.note.replace("\u00a0", " ") == "69.0 MiB over its start"


def test_a_best_step_is_told_beside_the_one_that_was_timed_in_turn_with_it() -> None:
    # The unchanged step took 7.20 ms in turn with the changed one, 6.60 ms in the timing pass.
    case = host_bound_case(timing=TIMING)
    finding = build.finding(gain=build.gain(7200.0, 1540.0))
    best = view_figures(build.report([case], [finding]), page(1)).rows[0].figures[3]
    assert (best.value, best.note) == ("1.54", "F1, measured from 7.20")


def test_the_spread_of_few_steps_is_from_the_shortest_to_the_longest() -> None:
    # Of 19 steps, 1.0 ms but for one of 0.5 and one of 3.0, the percentiles are 0.95 and 1.2.
    times = summarize_times([500.0, *[1000.0] * 17, 3000.0])
    assert times is not None
    assert (times.p5_us, times.p95_us) == pytest.approx((950.0, 1200.0))
    few = host_bound_case(timing=Timing(step_us=1000.0, mode="pipelined", basis="unprofiled", pipelined=times))
    more = summarize_times([500.0, *[1000.0] * 18, 3000.0])
    many = host_bound_case(timing=Timing(step_us=1000.0, mode="pipelined", basis="unprofiled", pipelined=more))

    def note(case: CaseAnalysis, medium: Medium) -> str:
        return case_figures(build.report([case]), case, medium)[0].note.replace("\u00a0", " ")

    assert note(few, page(1)) == note(few, SCREEN) == "0.50 to 3.00 ms, shortest to longest, n = 19"
    # Of 20 the 5th percentile is 0.95 of the way from the shortest to the second, the 95th 0.05 from the second last.
    assert note(many, SCREEN) == "0.98 to 1.10 ms, 5th to 95th percentile, n = 20"
    assert note(many, page(1)) == "0.98 to 1.10 ms, n = 20"


def test_a_missing_figure_says_so() -> None:
    case = host_bound_case(device_kind="not-recorded", device_time=None, budget=None, memory=None, timing=None)
    figures = view_figures(build.report([case]), page(1)).rows[0].figures
    assert [figure.value for figure in figures] == [
        "not recorded",
        "not recorded",
        "not recorded",
        "none",
        "not recorded",
    ]
    assert all(figure.missing for figure in figures)


def test_a_trace_without_timing_is_headed_profiled() -> None:
    timing = Timing(step_us=1000.0, mode="pipelined", basis="trace")
    assert view_figures(build.report([host_bound_case(timing=timing)]), page(1)).heads[1] == "Step, profiled"


def test_cases_beyond_the_room_are_counted() -> None:
    cases = [host_bound_case(name=f"case {number}") for number in range(6)]
    view = view_figures(build.report(cases), page(6, fit=3))
    assert len(view.rows) == 2
    assert view.more == "4\u00a0more cases, each in the budget below."
