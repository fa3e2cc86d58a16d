"""The fixes of a report one after another, as a table in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.report.terminal import columns_of, plain
from reportgen.report.view import cases
from reportgen.report.view.fixes import case_of, fixes_table

if TYPE_CHECKING:
    from reportgen.findings.model import FixSequence
    from reportgen.report.model import Report
    from reportgen.report.view.tables import Cell


def render_fixes(report: Report) -> str:
    """Return a table for each case with fixes: plain text, no colour."""
    told = [sequence for sequence in report.fixes if sequence.fixes]
    if not told:
        return "No finding has a fix that gives time.\n"
    return "\n".join(_table(report, sequence) for sequence in told)


def _table(report: Report, sequence: FixSequence) -> str:
    case = case_of(report, sequence)
    table = fixes_table(sequence, case, 1)
    texts = [[plain(column.label) for column in table.columns]]
    texts += [[_text(cell) for cell in row.cells] for row in table.rows]
    room = [max(columns_of(line[i]) for line in texts) for i in range(len(table.columns))]
    lines = []
    for line in texts:
        cells = []
        for cell, width, column in zip(line, room, table.columns, strict=True):
            space = " " * (width - columns_of(cell))
            cells.append(space + cell if column.numeric else cell + space)
        lines.append("  " + "  ".join(cells).rstrip())
    return "\n".join([cases.label(case), *lines, *([f"  {plain(table.note)}"] if table.note else []), ""])


def _text(cell: Cell) -> str:
    """Return a cell with its decimal point in line with the others of its column."""
    return plain(cell.text) + " " * columns_of(cell.pad)
