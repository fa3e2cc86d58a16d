"""Memory over one step of each case as data for the page's curve."""

from __future__ import annotations

import dataclasses
from typing import Any

from reportgen.analysis.model import CaseAnalysis, MemoryCurve
from reportgen.report.charts.model import Chart
from reportgen.report.memory_levels import levels_of
from reportgen.report.model import Report
from reportgen.report.view import cases
from reportgen.report.view.medium import Medium

# A curve is bounded where it is analysed; so many of them are 200 kB.
MOST_CURVES = 12


@dataclasses.dataclass(frozen=True, kw_only=True)
class Curve:
    """A case's memory: its chart, where one was drawn, and the points of its curve, where it can be explored."""

    id: str
    case: str
    chart: Chart | None
    data: dict[str, Any] | None = None


def view_curves(report: Report, charts: dict[str, Chart], medium: Medium) -> tuple[Curve, ...]:
    """Return a curve for each case that has a chart, on the screen for each that has points, in order of the cases."""
    found: list[Curve] = []
    for number, case in enumerate(report.cases, 1):
        data = None if medium.is_print or len(found) >= MOST_CURVES else _points(case)
        chart = charts.get(cases.label(case))
        if chart is not None or data is not None:
            found.append(Curve(id=f"memory-{number}", case=cases.label(case), chart=chart, data=data))
    return tuple(found)


def _points(case: CaseAnalysis) -> dict[str, Any] | None:
    """Return times (ns from the first; of a history without times the number of the event) and bytes of the curve."""
    memory = case.memory
    curve: MemoryCurve | None = memory.curve if memory else None
    if memory is None or curve is None or len(curve.time_us) < 2:
        return None
    levels = levels_of(memory, curve)
    unit = 1 if curve.axis == "event" else 1000
    return {
        "case": cases.label(case),
        "axis": curve.axis,
        "time": [round((time_us - curve.time_us[0]) * unit) for time_us in curve.time_us],
        "allocated": curve.allocated_bytes,
        "reserved": curve.reserved_bytes,
        "start": levels.start_bytes,
        "lasting": levels.lasting_bytes,
        "lasting_name": levels.lasting,
    }
