"""Sources: the user's functions by what they launch, take and make the device wait for."""

from __future__ import annotations

from reportgen import formatting as fmt
from reportgen.analysis.model import CaseAnalysis
from reportgen.report.model import Report
from reportgen.report.view import cases, tables
from reportgen.report.view.links import Links
from reportgen.report.view.medium import Medium
from reportgen.report.view.tables import Cell, Row, Table

MISSING = "No Python stack was recorded: functions are left out. Record with with_stack=True."


def view_sources(report: Report, medium: Medium, links: Links) -> tuple[Table, ...]:
    """Return the functions of every case that has any."""
    return tuple(table for case in report.cases if (table := _table(case, len(report.cases), medium, links)))


def _table(case: CaseAnalysis, num_cases: int, medium: Medium, links: Links) -> Table | None:
    shown = case.sources.items[: medium.small_rows]
    if not shown:
        return None
    device = tables.times([row.device_us_per_step for row in shown], unit="ms")
    host = tables.times([row.host_us_per_step for row in shown], unit="ms")
    waiting = tables.times([row.waiting_us_per_step for row in shown], unit="ms")
    on_host = case.device_kind == "host"
    limit = 40 if medium.is_print else 120
    rows = []
    for i, row in enumerate(shown):
        place = f"{fmt.legible(row.file, limit)}:{row.line}"
        name = Cell(text=fmt.legible(row.function, limit), code=True, links=links.of_function(case, row))
        where = Cell(text=place if row.line_kind == "call" else f"def at {place}", muted=True)
        figures = (host[i],) if on_host else (device[i], host[i], waiting[i])
        rows.append(Row(id=links.anchors(case).row("function", i), cells=(name, where, *figures)))
    heads = [("Function", 28.0, False), ("Where", 32.0, False)]
    all_heads: list[tuple[str, float, bool]] = [*heads]
    if on_host:
        all_heads.append(("Host, ms a step", 16.0, True))
    else:
        all_heads += [("Device, ms a step", 15.0, True), ("Host, ms a step", 13.0, True), ("Waiting, ms", 12.0, True)]
    caption = cases.lead(case, num_cases, "your functions by what runs under them.")
    note = None if on_host else "Waiting: device time lost to the function; host time is the profiled pass’s."
    return Table(
        caption=caption, columns=tables.columns(*all_heads), rows=tuple(rows), note=note, sortable=not medium.is_print
    )
