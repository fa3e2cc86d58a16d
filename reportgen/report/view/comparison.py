"""The cases against each other: families of operators, kernels that change, and what a sweep shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen import formatting as fmt
from reportgen.analysis.comparison import UNMODELLED
from reportgen.report.view import cases, tables
from reportgen.report.view.sums import left_over
from reportgen.report.view.tables import Cell, Row, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.analysis.allocations.scaling import PeakScaling
    from reportgen.analysis.comparison import CaseColumn, Comparison, FamilyCell, FamilyRow, Turn
    from reportgen.report.model import Report
    from reportgen.report.view.medium import Medium

# More cases than this do not fit beside each other on paper.
_MOST_COLUMNS_ON_PAPER = 4
_ABSENT = "none"


def view_comparison(report: Report, medium: Medium) -> tuple[Table, ...]:
    """Return the tables of the comparison; none where there is nothing to compare.

    On paper the first cases stand for all where there are too many for the width, and kernels are left to the HTML.
    """
    comparison = report.comparison
    if comparison is None:
        return ()
    num_shown = len(comparison.columns)
    if medium.is_print:
        num_shown = min(num_shown, _MOST_COLUMNS_ON_PAPER)
    made = (
        _families(comparison, num_shown, medium),
        None if medium.is_print else _kernels(comparison, medium),
        _turns(comparison, medium),
        *(_peaks(scaling) for scaling in comparison.peaks),
    )
    return tuple(table for table in made if table is not None)


def _columns(
    comparison: Comparison, num_shown: int, first: str, width: float, *, numeric: bool
) -> tuple[tables.Column, ...]:
    each = (100.0 - width) / num_shown
    names = [_name(comparison, column) for column in comparison.columns[:num_shown]]
    return tables.columns((first, width, False), *[(name, each, numeric) for name in names])


def _name(comparison: Comparison, column: CaseColumn) -> str:
    """Name a case by the value that is swept, else by its own name."""
    if comparison.parameter is None:
        return cases.label(column.case, 16)
    return f"{fmt.legible(comparison.parameter, 16)} {fmt.legible(str(column.value), 12)}"


def _left_out(comparison: Comparison, num_shown: int) -> str | None:
    left = len(comparison.columns) - num_shown
    return f"{fmt.plural(left, 'more case')} in the HTML." if left else None


def _families(comparison: Comparison, num_shown: int, medium: Medium) -> Table | None:
    shown = comparison.families[: medium.small_rows]
    if not shown:
        return None
    rows = [
        Row(cells=(Cell(text=_family_name(row.family)), *(_family_cell(cell) for cell in row.cells[:num_shown])))
        for row in shown
    ]
    columns = comparison.columns[:num_shown]
    left_us = _left_us(columns, shown)
    if any(left_us):
        name = _left_name(len(comparison.families) - len(shown), any(_left_us(columns, comparison.families)))
        cells = tuple(_left_cell(column, us) for column, us in zip(columns, left_us, strict=True))
        rows.append(Row(kind="rest", cells=(Cell(text=name), *cells)))
    whole = [Cell(text=f"100{fmt.NBSP}%", note=fmt.duration(column.device_us_per_step)) for column in columns]
    rows.append(Row(kind="total", cells=(Cell(text="device time"), *whole)))
    return Table(
        caption="Families of operators in each case: share of its device time.",
        columns=_columns(comparison, num_shown, "Family", 24.0, numeric=True),
        rows=tuple(rows),
        note=_left_out(comparison, num_shown),
    )


def _family_name(family: str) -> str:
    """Name a family; operators whose work has no model are none, whatever is left out below them."""
    return "without a model of its work" if family == UNMODELLED else fmt.legible(family, 40)


def _left_us(columns: Sequence[CaseColumn], shown: Sequence[FamilyRow]) -> list[float]:
    """Return for each case the device time a step that is of none of the families shown."""
    left = []
    for index, column in enumerate(columns):
        cells = (row.cells[index] for row in shown)
        parts = [cell.device_us_per_step for cell in cells if cell]
        left.append(left_over(column.device_us_per_step or 0.0, parts))
    return left


def _left_name(num_families: int, is_any_unlisted: bool) -> str:
    """Name what is left: families that were cut, and work that no operator of the list launched."""
    unlisted = "of no operator listed"
    if not num_families:
        return unlisted
    families = f"other, {fmt.plural(num_families, 'family', 'families')}"
    return f"{families} and {unlisted}" if is_any_unlisted else families


def _left_cell(column: CaseColumn, left_us: float) -> Cell:
    if not left_us or not column.device_us_per_step:
        return Cell(text=_ABSENT, muted=True)
    return Cell(text=fmt.share(left_us / column.device_us_per_step), note=fmt.duration(left_us))


def _family_cell(cell: FamilyCell | None) -> Cell:
    """Write a family's share, with its time, what bounds it and how near the roof it is below."""
    if cell is None:
        return Cell(text=_ABSENT, muted=True)
    notes = [fmt.duration(cell.device_us_per_step)]
    if cell.bound is not None:
        notes.append(f"{cell.bound}-bound")
    if cell.roof_share is not None:
        notes.append(f"{fmt.share(cell.roof_share, 0)} of the roof")
    return Cell(text=fmt.share(cell.share_of_device), note=", ".join(notes))


def _kernels(comparison: Comparison, medium: Medium) -> Table | None:
    rows = [
        Row(
            cells=(
                tables.name(fmt.operator_name(row.operator), medium.name_limit),
                *(tables.name(kernel, medium.name_limit, missing=_ABSENT) for kernel in row.kernels),
            )
        )
        for row in comparison.kernels[: medium.small_rows]
    ]
    if not rows:
        return None
    return Table(
        caption="Operators that run another kernel from case to case: the longest one of each.",
        columns=_columns(comparison, len(comparison.columns), "Operator", 22.0, numeric=False),
        rows=tuple(rows),
    )


def _turns(comparison: Comparison, medium: Medium) -> Table | None:
    shown = comparison.turns[: medium.small_rows]
    if not shown:
        return None
    rows = tuple(Row(cells=(Cell(text=fmt.shapes((turn.weight_shape,), None)), *_turn_cells(turn))) for turn in shown)
    heads = (
        ("Weight", 18.0, False), ("Rows", 22.0, False), ("Time a call", 24.0, False), ("Bound", 14.0, False),
        ("Turns at, by the roofs", 11.0, True), ("by the times", 11.0, True),
    )  # fmt: skip
    return Table(
        caption="Matrix products with one weight: from which number of rows arithmetic limits them, not memory.",
        columns=tables.columns(*heads),
        rows=rows,
        note="By the roofs: where both take the same time. By the times: where those that grow with the rows meet "
        "the one that does not yet.",
    )


def _turn_cells(turn: Turn) -> tuple[Cell, ...]:
    bounds = dict.fromkeys(bound or fmt.NOT_EVALUATED for bound in turn.bounds)
    return (
        Cell(text=_first_to_last([fmt.count(rows) for rows in turn.rows])),
        Cell(text=_first_to_last([fmt.duration(us) for us in turn.us_per_call])),
        tables.text(" → ".join(bounds)),
        *(
            tables.text(fmt.count(at) if at is not None else fmt.NOT_EVALUATED)
            for at in (turn.predicted, turn.measured)
        ),
    )


def _first_to_last(texts: list[str]) -> str:
    return texts[0] if texts[0] == texts[-1] else f"{texts[0]} to {texts[-1]}"


def _peaks(scaling: PeakScaling) -> Table:
    """Return a sweep's peaks beside what the fit says of them; the note says what a size costs and what still fits."""
    points = scaling.points
    measured = [fmt.size(point.peak_bytes) for point in points]
    fitted = [fmt.size(point.predicted_bytes) for point in points]
    rows = tuple(
        Row(cells=(Cell(text=fmt.count(point.value), sort=point.value), Cell(text=cases.label(point.case)),
                   Cell(text=measured[i]), Cell(text=fitted[i])))
        for i, point in enumerate(points)
    )  # fmt: skip
    heads = ((scaling.axis, 20.0, False), ("Case", 40.0, False), ("Peak", 20.0, True), ("Fitted", 20.0, True))
    return Table(
        caption=f"The peak of memory over {scaling.axis}.",
        columns=tables.columns(*heads),
        rows=rows,
        note=_peak_note(scaling),
    )


def _peak_note(scaling: PeakScaling) -> str:
    parts = [f"{fmt.size(scaling.linear_bytes)} a unit of {scaling.axis}"]
    if scaling.quadratic_bytes:
        parts.append(f"{fmt.size(scaling.quadratic_bytes)} a unit squared")
    text = f"The fit: {fmt.size(scaling.fixed_bytes)}, and {fmt.listing(parts)}"
    text += f"; it misses the measured peaks by {fmt.share(scaling.largest_error)} at most."
    if scaling.fits_until is not None:
        text += f" By it {scaling.axis} {fmt.count(scaling.fits_until)} is the largest that fits the device."
    return text
