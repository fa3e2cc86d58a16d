"""A case analysed for its numbers alone."""

from __future__ import annotations

from reportgen.analysis.case import CaseInputs, analyze_with_step
from reportgen.analysis.model import CaseAnalysis


def analyze_case(inputs: CaseInputs) -> CaseAnalysis:
    """Compute all numbers of a case."""
    return analyze_with_step(inputs).analysis
