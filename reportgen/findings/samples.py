"""From how many steps of which pass a finding's figures are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen import formatting as fmt

if TYPE_CHECKING:
    from reportgen.analysis.model import CaseAnalysis, StepTimes


def recorded_steps(case: CaseAnalysis) -> str:
    """Return "3 steps" of a trace from elsewhere, "5 steps of the timeline pass" of an own run, which has several."""
    steps = fmt.plural(case.num_steps, "step")
    return f"{steps} of the timeline pass" if case.passes else steps


def spread_ends(times: StepTimes) -> str:
    """Say from what to what the spread of step times is told."""
    return "shortest to longest" if times.is_few else "5th to 95th percentile"
