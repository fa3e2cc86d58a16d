"""A step over new shapes: what building takes is known without the profiler, from the same shapes met again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reportgen.analysis.case import CaseInputs
from reportgen.analysis.model import BudgetRow
from reportgen.recording import RecordedCase, RecordedTiming, Samples
from reportgen.trace.columns import Trace
from tests.analyzing import analyze_case
from tests.trace_builder import kernel, launch, op, step


def samples(us: float) -> Samples:
    return Samples(samples_us=(us,) * 5, blocks=(0,) * 5)


def one_step(number: int, build_us: float) -> list[dict[str, Any]]:
    """Return a step of 40 000 µs: one operator builds for `build_us`, another launches 50 µs of work."""
    at = number * 40_000
    shape = {"Input Dims": [[1, number]], "Input type": ["float"]}
    return [
        step(number, at, 39_000),
        op("attention", at + 100, build_us, **shape),
        op("attention", at + 36_000, 100, **{"Input Dims": [[1, 0]], "Input type": ["float"]}),
        op("mm", at + 38_000, 100),
        launch(at + 38_010, 10, number + 1),
        kernel(at + 38_030, 50, number + 1),
    ]


def test_building_takes_what_the_timing_pass_says_however_long_it_took_profiled(read: Callable[..., Trace]) -> None:
    # Profiled, building took 20 to 35 ms; unprofiled the first lap takes 11 ms and the later laps 1 ms. So building
    # takes 10 ms and everything else sums to 1 ms.
    trace = read(*(event for number, us in enumerate((20_000, 25_000, 35_000)) for event in one_step(number, us)))
    timing = RecordedTiming(mode="drained", drained=samples(11_000), revisit=samples(1_000))
    recorded = RecordedCase(name="decode", phase="decode", folder="decode", timing=timing)

    case = analyze_case(CaseInputs(name="decode", recorded=recorded, timeline=trace, detail=trace))

    assert case.budget is not None
    parts = {row.name: row.us_per_step for row in case.budget.parts if row.us_per_step > 0}
    assert parts["build"] == pytest.approx(10_000)
    assert parts["compute"] <= 50 + 1e-6
    assert sum(parts.values()) == pytest.approx(11_000)


def test_a_slower_host_stretches_its_launches_and_leaves_the_device_s_work(read: Callable[..., Trace]) -> None:
    # Profiled, a step takes 1 ms, 50 us of it on the device. Unprofiled it takes 2 ms: the host was slower then.
    events = [
        event
        for number in range(3)
        for event in (
            step(number, number * 1000, 990),
            op("mm", number * 1000 + 900, 50),
            launch(number * 1000 + 910, 10, number + 1),
            kernel(number * 1000 + 930, 50, number + 1),
        )
    ]
    parts = parts_of(read(*events), unprofiled_us=2_000)

    assert parts["compute"] == pytest.approx(50)
    assert sum(parts.values()) == pytest.approx(2_000)


def test_where_the_host_is_the_device_its_work_was_slower_too(read: Callable[..., Trace]) -> None:
    # Operators run 800 of 1000 us profiled. The unprofiled step takes twice as long: the work is 1600 of 2000.
    events = [
        event
        for number in range(3)
        for event in (step(number, number * 1000, 1000), op("mm", number * 1000 + 100, 800))
    ]
    parts = parts_of(read(*events), unprofiled_us=2_000)

    assert parts["compute"] == pytest.approx(1_600, rel=0.01)


def test_how_launch_and_launch_call_share_what_recording_cost_is_open(read: Callable[..., Trace]) -> None:
    """Profiled, a step takes 1 000 us: the host is 900 us in coming to a launch call of 10, recording included.

    Unprofiled it takes 998, so 2 us are recording's. An operator costs 1.0 to 1.6 to record and is in the 900, a call
    1.2 to 3.7. By the middles, 1.3 and 2.45, the call gives 2 x 2.45 / 3.75 = 1.307. With a dear call and a cheap
    operator it is 2 x 3.7 / 4.7 = 1.574; where a call is recorded before its span, it gives nothing.
    """
    events = [
        event
        for number in range(3)
        for event in (
            step(number, number * 1000, 1000),
            op(f"operator_{number}", number * 1000 + 101, 600),  # one place in all steps would be a stall
            launch(number * 1000 + 900, 10, number + 1),
            kernel(number * 1000 + 920, 80, number + 1),
        )
    ]
    rows = rows_of(read(*events), unprofiled_us=998)

    launch_call, waiting = rows["launch-call"], rows["launch"]
    assert (launch_call.us_per_step, waiting.us_per_step) == pytest.approx((8.693, 899.307), abs=0.002)
    assert (launch_call.low_us, launch_call.high_us) == pytest.approx((8.426, 10), abs=0.002)
    assert (waiting.low_us, waiting.high_us) == pytest.approx((898, 899.574), abs=0.002)
    assert rows["turnaround"].low_us == rows["turnaround"].high_us == 10
    assert sum(row.us_per_step for row in rows.values()) == pytest.approx(998)


def parts_of(trace: Trace, *, unprofiled_us: float) -> dict[str, float]:
    return {name: row.us_per_step for name, row in rows_of(trace, unprofiled_us=unprofiled_us).items()}


def rows_of(trace: Trace, *, unprofiled_us: float) -> dict[str, BudgetRow]:
    timing = RecordedTiming(mode="pipelined", pipelined=samples(unprofiled_us))
    recorded = RecordedCase(name="case", phase="forward", folder="case", timing=timing)
    case = analyze_case(CaseInputs(name="case", recorded=recorded, timeline=trace, detail=trace))
    assert case.budget is not None
    return {row.name: row for row in case.budget.parts if row.us_per_step > 0}
