from __future__ import annotations

from collections.abc import Callable

import pytest

from reportgen.analysis.case import CaseInputs
from reportgen.recording import RecordedCase, RecordedTiming
from reportgen.trace.columns import Trace
from tests.analyzing import analyze_case
from tests.unit.analysis.test_budget_first_lap import one_step, samples


def test_the_host_issues_work_for_no_longer_than_the_step_less_its_other_waits(read: Callable[..., Trace]) -> None:
    # Unprofiled the first lap takes 11 ms, 10 of them building; the profiled step is 39 ms of host time.
    trace = read(*(event for number, us in enumerate((20_000, 25_000, 35_000)) for event in one_step(number, us)))
    timing = RecordedTiming(mode="drained", drained=samples(11_000), revisit=samples(1_000))
    recorded = RecordedCase(name="decode", phase="decode", folder="decode", timing=timing)

    case = analyze_case(CaseInputs(name="decode", recorded=recorded, timeline=trace, detail=trace))

    assert case.launching is not None
    assert case.launching.host_high_us == pytest.approx(1_000)
