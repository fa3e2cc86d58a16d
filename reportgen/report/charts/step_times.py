"""Not drawn yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.analysis.model import CaseAnalysis
    from reportgen.report.charts.model import Chart


def step_times_chart(cases: Sequence[CaseAnalysis]) -> Chart | None:
    """Return None."""
    return None
