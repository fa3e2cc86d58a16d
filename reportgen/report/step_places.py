"""Places that lie in the step which documents show, in its own time."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from reportgen.analysis.model import Where
    from reportgen.analysis.one_step.step_export import StepExport
    from reportgen.findings.model import Finding


class Stretch(NamedTuple):
    """A part of a step; times in µs from the step's start."""

    start_us: float
    end_us: float


def stretch_of(export: StepExport, where: Where | None) -> Stretch | None:
    """Return what of `where` lies in the step; None where it is in another step or another file."""
    if where is None or where.trace != export.trace:
        return None
    start_us = max(where.start_us - export.origin_us, 0.0)
    end_us = min(where.end_us - export.origin_us, export.duration_us)
    return Stretch(start_us, end_us) if end_us > start_us else None


def places_of(export: StepExport, finding: Finding) -> list[Stretch]:
    """Return where in the step a finding about its case points to."""
    if finding.case not in (None, export.case):
        return []
    return [stretch for where in finding.where if (stretch := stretch_of(export, where)) is not None]
