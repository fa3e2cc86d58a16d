"""Not drawn yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reportgen.analysis.model import CaseAnalysis
    from reportgen.report.charts.model import Chart


def memory_chart(case: CaseAnalysis) -> Chart | None:
    """Return None."""
    return None
