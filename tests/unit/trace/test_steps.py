"""Which marks are steps."""

from __future__ import annotations

from collections.abc import Callable

from reportgen.trace.columns import Trace
from tests.trace_builder import op, span, step


def test_a_mark_whose_number_fits_no_column_is_no_step(read: Callable[..., Trace]) -> None:
    huge = span("user_annotation", "ProfilerStep#" + "9" * 5000, 20, 10)
    trace = read(step(1, 0, 10), op("aten::mm", 1, 5), huge)

    assert trace.steps.number.tolist() == [1]
