"""Alternatives that the runner tried, as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.analysis.model import Alternative
from reportgen.analysis.steps.timing import summarize_times

if TYPE_CHECKING:
    from reportgen.recording import RecordedAlternative, RecordedCase


def summarize_alternatives(recorded: RecordedCase | None) -> tuple[Alternative, ...]:
    """Return what became of each alternative of a case, the one with the shortest step first."""
    tried = [_summarize(one) for one in recorded.alternatives] if recorded is not None else []
    return tuple(sorted(tried, key=lambda one: one.step_us.median_us if one.step_us else float("inf")))


def _summarize(tried: RecordedAlternative) -> Alternative:
    original, changed = summarize_times(tried.original_us), summarize_times(tried.changed_us)
    return Alternative(
        name=tried.name,
        outcome=tried.outcome,
        reason=tried.reason,
        original_us=original,
        step_us=changed,
        speedup=original.median_us / changed.median_us if original and changed and changed.median_us > 0 else None,
        max_relative_difference=tried.max_relative_difference,
    )
