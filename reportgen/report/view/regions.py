"""Regions: the parts of the step that the program named, or torch for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen import formatting as fmt
from reportgen.report.view import cases, tables
from reportgen.report.view.tables import Cell, Row, Table

if TYPE_CHECKING:
    from reportgen.analysis.model import CaseAnalysis
    from reportgen.report.model import Report
    from reportgen.report.view.medium import Medium

_MOST_ROWS = 20
_NOTE = (
    "A region holds those opened within it, so the times do not add up to the step. Device: what was launched while it "
    "was open. Host: as the timeline pass shows it, the profiler’s share included."
)


def view_regions(report: Report, medium: Medium) -> tuple[Table, ...]:
    """Return the regions of every case that has any, longest first, in the order of the analysis."""
    return tuple(table for case in report.cases if (table := _table(case, len(report.cases), medium)))


def _table(case: CaseAnalysis, num_cases: int, medium: Medium) -> Table | None:
    shown = case.regions.items[: min(medium.small_rows, _MOST_ROWS)]
    if not shown:
        return None
    has_device = any(region.device_us_per_step is not None for region in shown)
    device = tables.times([region.device_us_per_step for region in shown], unit="ms")
    host = tables.times([region.host_us_per_step for region in shown], unit="ms")
    rows = []
    for i, region in enumerate(shown):
        share = tables.text(fmt.share(region.share_of_device))
        rows.append(
            Row(
                cells=(
                    tables.name(region.name, 48 if medium.is_print else medium.name_limit),
                    Cell(text=fmt.count(region.count_per_step), sort=region.count_per_step),
                    *((device[i], share) if has_device else ()),
                    host[i],
                )
            )
        )
    heads = [("Region", 44.0, False), ("Times a step", 12.0, True)]
    if has_device:
        heads += [("Device, ms a step", 15.0, True), ("Share of device", 14.0, True)]
    heads.append(("Host, ms a step", 15.0, True))
    left = case.regions.total - len(shown)
    more = f" {fmt.plural(left, 'more region')} in the HTML or in report.json." if left > 0 else ""
    return Table(
        caption=cases.lead(case, num_cases, "the parts of the step that it names itself."),
        columns=tables.columns(*heads),
        rows=tuple(rows),
        note=_NOTE + more,
        sortable=not medium.is_print,
    )
