from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reportgen.analysis.model import CaseAnalysis
from tests.trace_builder import kernel, launch, op, step

Analyze = Callable[..., CaseAnalysis]


def steps_of(lengths: list[int], busy: list[int]) -> list[dict[str, Any]]:
    """Return steps of `lengths` µs, each with one kernel of `busy` µs that ends with its step."""
    events, at = [], 0
    for number, (length, work) in enumerate(zip(lengths, busy, strict=True)):
        end = at + length
        events += [step(number, at, length), op("a", at, length), launch(end - work - 10, 5, number + 1)]
        events += [kernel(end - work, work, number + 1)]
        at = end
    return events


def test_an_outlier_names_the_wait_that_made_it_long(analyze: Analyze) -> None:
    # The operator holds every launch up, by 890 in an ordinary step; in the third by 2990 more.
    case = analyze(*steps_of([1000, 1000, 4000, 1000, 1000], [100, 100, 110, 100, 100]))

    assert [row.outlier for row in case.steps] == [False, False, True, False, False]
    assert [(row.differs_in, row.differs_by_us) for row in case.steps] == [
        (None, None), (None, None), ("stall", 2990), (None, None), (None, None),
    ]  # fmt: skip


def test_an_outlier_may_have_had_more_to_compute(analyze: Analyze) -> None:
    case = analyze(*steps_of([1000, 1000, 4000, 1000], [100, 100, 3100, 100]))

    assert (case.steps[2].differs_in, case.steps[2].differs_by_us) == ("compute", 3000)


def test_of_equal_steps_nothing_is_said(analyze: Analyze) -> None:
    case = analyze(*steps_of([1000, 1000, 1000], [100, 100, 100]))

    assert {row.differs_in for row in case.steps} == {None}
