"""Sources: the user's functions by what they launch, take and make the device wait for."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from reportgen import formatting as fmt
from reportgen.analysis.model import CaseAnalysis, SourceRow
from reportgen.report.model import Report
from reportgen.report.view import cases, tables
from reportgen.report.view.links import Links
from reportgen.report.view.medium import Medium
from reportgen.report.view.sums import left_over
from reportgen.report.view.tables import Cell, Row, RowKind, Table

MISSING = "No Python stack was recorded: functions are left out. Record with with_stack=True."
# Time of no function below this share of the step is of rounding: the borders between functions are whole ns.
_LEAST_SHARE = 1e-4
# Below the functions shown: others, none, and the whole.
_KINDS: tuple[RowKind, ...] = ("rest", "rest", "total")


def view_sources(report: Report, medium: Medium, links: Links) -> tuple[Table, ...]:
    """Return the functions of every case that has any."""
    return tuple(table for case in report.cases if (table := _table(case, len(report.cases), medium, links)))


def _table(case: CaseAnalysis, num_cases: int, medium: Medium, links: Links) -> Table | None:
    shown = case.sources.items[: medium.small_rows]
    if not shown:
        return None
    on_host = case.device_kind == "host"
    sums = [] if on_host else [_sum(case, len(shown), _device_us, _device_of_a_step(case))]
    sums.append(_sum(case, len(shown), _host_us, _host_of_a_step(case)))
    if not on_host:
        sums.append(_sum(case, len(shown), _waiting_us, None))
    figures = [tables.times([*map(column.read, shown), *column.below()], unit="ms") for column in sums]
    limit = 40 if medium.is_print else 120
    rows = []
    for i, row in enumerate(shown):
        place = f"{fmt.legible(row.file, limit)}:{row.line}"
        name = Cell(text=fmt.legible(row.function, limit), code=True, links=links.of_function(case, row))
        where = Cell(text=place if row.line_kind == "call" else f"def at {place}", muted=True)
        cells = (name, where, *(column[i] for column in figures))
        rows.append(Row(id=links.anchors(case).row("function", i), cells=cells))
    rows += _rows_below(case, len(shown), sums, [column[len(shown) :] for column in figures])
    device = () if on_host else (("Device, ms a step", 15.0, True),)
    waiting = () if on_host else (("Waiting, ms", 12.0, True),)
    heads = (("Function", 28.0, False), ("Where", 32.0, False), *device, ("Host, ms a step", 14.0, True), *waiting)
    return Table(
        caption=cases.lead(case, num_cases, "your functions by what runs in them, each moment in the innermost one."),
        columns=tables.columns(*heads),
        rows=tuple(rows),
        note=_note(case, on_host=on_host),
        sortable=not medium.is_print,
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Sum:
    """What lies below the shown functions in one column: other functions, no function, the whole (None: not known)."""

    read: Callable[[SourceRow], float | None]
    other_us: float | None
    none_us: float | None
    whole_us: float | None

    def below(self) -> tuple[float | None, ...]:
        """Return the figures in the order of the rows."""
        return (self.other_us, self.none_us, self.whole_us)


def _sum(case: CaseAnalysis, num_shown: int, read: Callable[[SourceRow], float | None], whole_us: float | None) -> _Sum:
    values = [read(row) or 0.0 for row in case.sources.items]
    left_us = None if whole_us is None else left_over(whole_us, values)
    return _Sum(read=read, other_us=sum(values[num_shown:]), none_us=left_us, whole_us=whole_us)


def _rows_below(
    case: CaseAnalysis, num_shown: int, sums: Sequence[_Sum], figures: Sequence[Sequence[Cell]]
) -> list[Row]:
    """Return the rows that make the columns sum to the step; a figure that is not known leaves its cell empty."""
    num_other = len(case.sources.items) - num_shown
    is_any_cut = case.sources.total > len(case.sources.items)
    kept = [
        any(column.other_us for column in sums),
        any((column.none_us or 0.0) > _LEAST_SHARE * (column.whole_us or 0.0) for column in sums),
        any(column.whole_us for column in sums),
    ]
    names = (
        f"other, {fmt.plural(num_other, 'function')}",
        "no function of yours listed" if is_any_cut else "no function of yours",
        "the step",
    )
    rows = []
    for index, kind in enumerate(_KINDS):
        if kept[index]:
            cells = (
                Cell(text="") if column.below()[index] is None else cells[index]
                for column, cells in zip(sums, figures, strict=True)
            )
            rows.append(Row(kind=kind, cells=(Cell(text=names[index]), Cell(text=""), *cells)))
    return rows


def _device_us(row: SourceRow) -> float | None:
    return row.device_us_per_step


def _host_us(row: SourceRow) -> float | None:
    return row.host_us_per_step


def _waiting_us(row: SourceRow) -> float | None:
    return row.waiting_us_per_step


def _device_of_a_step(case: CaseAnalysis) -> float | None:
    return case.device_time.activity_sum_us_per_step if case.device_time else None


def _host_of_a_step(case: CaseAnalysis) -> float | None:
    """Return the mean host time of the recorded steps, the settling one left out as from the functions' own."""
    steps = [row.host_us for row in case.steps if not row.settling or len(case.steps) == 1]
    return sum(steps) / len(steps) if steps else None


def _note(case: CaseAnalysis, *, on_host: bool) -> str:
    """Say what the figures are of, which the step time is not."""
    after = " without the settling one" if len(case.steps) > 1 else ""
    host = f"Host: from start to end of the steps as profiled{after}, the profiler’s share in it."
    return host if on_host else f"{host} Waiting: device time lost to the function."
