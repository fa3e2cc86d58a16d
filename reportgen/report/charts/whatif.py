"""Not drawn yet."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.analysis.model import CaseAnalysis
    from reportgen.report.charts.model import Chart


@dataclasses.dataclass(frozen=True, kw_only=True)
class Fix:
    """A fix and the step after it, given the fixes before it."""

    name: str  # what is done: "Capture the step as one CUDA graph"
    step_after_us: float
    method: Literal["measured", "replay", "roofline", "bound"]
    id: str = ""  # the finding that asks for it: "F2"


def whatif_chart(case: CaseAnalysis, fixes: Sequence[Fix], *, works_after_us: float | None = None) -> Chart | None:
    """Return None."""
    return None
