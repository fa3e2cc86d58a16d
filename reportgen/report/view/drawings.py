"""The charts of a report, each drawn once for all documents."""

from __future__ import annotations

import dataclasses

import msgspec

from reportgen.report.charts.model import Chart
from reportgen.report.model import Report
from reportgen.report.view import cases
from reportgen.report.view.fixes import case_of, fix_name
from reportgen.report.view.memory import highest_peaks

_MOST_STRIPS = 2  # timelines: one for each of the longest cases


@dataclasses.dataclass(frozen=True, kw_only=True)
class Drawings:
    """The charts; None and missing keys where there is nothing to draw. Keys are the printed names of cases."""

    budget: Chart | None = None
    # The same of the first two cases, for a page one that would be too long.
    budget_short: Chart | None = None
    step_times: Chart | None = None
    roofline: Chart | None = None
    timelines: dict[str, Chart] = dataclasses.field(default_factory=dict)
    memory: dict[str, Chart] = dataclasses.field(default_factory=dict)
    fixes: dict[str, Chart] = dataclasses.field(default_factory=dict)


def draw(report: Report) -> Drawings:
    """Draw every chart that the report's numbers allow."""
    from reportgen.report import charts  # loads matplotlib: a fifth of a second

    # Names are cut as the tables cut them: a caption has no more room than a cell.
    drawn = [msgspec.structs.replace(case, name=cases.label(case)) for case in report.cases]
    with_budget = [case for case in drawn if case.budget is not None]
    longest = sorted(drawn, key=lambda case: -(cases.step_us(case) or 0.0))[:_MOST_STRIPS]
    longest.sort(key=drawn.index)
    timelines = {case.name: chart for case in longest if (chart := charts.timeline_chart(case))}
    memory = {case.name: chart for case in highest_peaks(drawn) if (chart := charts.memory_chart(case))}
    return Drawings(
        budget=charts.budget_chart(with_budget[:4]) if with_budget else None,
        budget_short=charts.budget_chart(with_budget[:2]) if len(with_budget) > 2 else None,
        step_times=charts.step_times_chart(drawn),
        roofline=charts.roofline_chart(drawn, report.devices),
        timelines=timelines,
        memory=memory,
        fixes=_draw_fixes(report),
    )


def _draw_fixes(report: Report) -> dict[str, Chart]:
    """Draw the fixes of the cases with the longest steps."""
    from reportgen.report.charts.whatif import Fix, whatif_chart

    told = sorted((one for one in report.fixes if one.fixes), key=lambda one: -one.step_us)[:_MOST_STRIPS]
    drawn = {}
    for sequence in told:
        fixes = [
            Fix(name=fix_name(fix), step_after_us=fix.step_after_us, method=fix.method, id=fix.finding)
            for fix in sequence.fixes
        ]
        chart = whatif_chart(case_of(report, sequence), fixes, works_after_us=sequence.device_after_us)
        if chart is not None:
            drawn[sequence.case] = chart
    return drawn
