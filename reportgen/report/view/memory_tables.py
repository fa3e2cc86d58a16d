"""The tables of the memory section."""

from __future__ import annotations

import dataclasses

from reportgen import formatting as fmt
from reportgen.analysis.model import Memory, PeakLine
from reportgen.report.view import tables
from reportgen.report.view.medium import Medium
from reportgen.report.view.tables import Cell, Row, Table
from reportgen.report.view.waits import source_cell

_LEAST_SHARE = 0.01  # of what is alive at the peak: on paper, smaller places are counted


def table_at_peak(memory: Memory) -> Table | None:
    """Return what is alive at the peak by category, None where nothing tells."""
    if not memory.at_peak:
        return None
    values = [share.bytes for share in memory.at_peak]
    column = fmt.size_column(values, sum(values))
    cells = tables.figures([*column.cells, column.total])
    rows = [Row(cells=(Cell(text=share.category), cells[i])) for i, share in enumerate(memory.at_peak)]
    rows.append(Row(kind="total", cells=(Cell(text="alive at the peak"), cells[-1])))
    return Table(
        caption=f"Alive at the peak, {column.unit}",
        columns=tables.columns(("Category", 70.0, False), (column.unit, 30.0, True)),
        rows=tuple(rows),
    )


def table_of_lines(memory: Memory, medium: Medium) -> Table | None:
    """Return what is alive at the peak by the place that allocated it, None where no place is known."""
    shown = memory.peak_lines[: medium.small_rows]
    if medium.is_print:
        least = _LEAST_SHARE * sum(line.bytes for line in memory.peak_lines)
        shown = tuple(line for line in shown if line.bytes >= least)
    if not any(line.source for line in shown):
        return None
    column = fmt.size_column([line.bytes for line in shown])
    sizes = tables.figures(column.cells, [line.bytes for line in shown])
    rows = tuple(
        Row(
            cells=(
                sizes[i],
                Cell(text=fmt.count(line.num_blocks) if line.num_blocks else "", sort=line.num_blocks),
                Cell(text=line.category),
                _line_cell(line),
            )
        )
        for i, line in enumerate(shown)
    )
    left = len(memory.peak_lines) - len(shown)
    heads = (
        (f"Size, {column.unit}", 14.0, True), ("Blocks", 10.0, True), ("Category", 18.0, False),
        ("Allocated", 58.0, False),
    )  # fmt: skip
    return Table(
        caption="Alive at the peak, by the place that allocated it",
        columns=tables.columns(*heads),
        rows=rows,
        note=f"{fmt.plural(left, 'smaller place')} in the HTML." if left and medium.is_print else None,
        sortable=not medium.is_print,
    )


def _line_cell(line: PeakLine) -> Cell:
    """Return the place that allocated a line's blocks, with what it had called there: one line can call much."""
    if line.source is None and line.before_recording:
        return Cell(text="before the history began", muted=True)
    cell = source_cell(line.source, 60)
    beneath = line.source.beneath if line.source else None
    return dataclasses.replace(cell, note=f"{cell.note}, through {fmt.legible(beneath, 72)}") if beneath else cell


def table_of_largest(memory: Memory, medium: Medium) -> Table | None:
    """Return the largest allocations of a step."""
    shown = memory.largest[: medium.small_rows]
    if not shown:
        return None
    column = fmt.size_column([item.bytes for item in shown])
    sizes = tables.figures(column.cells, [item.bytes for item in shown])
    limit = 30 if medium.is_print else 80
    rows = tuple(
        Row(
            cells=(
                sizes[i],
                Cell(text=fmt.count(item.count_per_step), sort=item.count_per_step),
                tables.name(
                    item.operator.removeprefix("aten::") if item.operator else None, 24 if medium.is_print else 80
                ),
                tables.text(fmt.shorten(fmt.shapes(item.input_shapes, None, item.operator or "", limit=3), limit)),
                Cell(text=fmt.duration(item.held_us), muted=item.held_us is None, sort=item.held_us),
                source_cell(item.source, limit),
            )
        )
        for i, item in enumerate(shown)
    )
    heads = (
        (f"Size, {column.unit}", 11.0, True), ("A step", 7.0, True), ("Operator", 20.0, False),
        ("Input shapes", 22.0, False), ("Held", 11.0, True), ("Function", 29.0, False),
    )  # fmt: skip
    return Table(
        caption="The largest allocations of a step",
        columns=tables.columns(*heads),
        rows=rows,
        sortable=not medium.is_print,
    )


def table_of_spikes(memory: Memory, medium: Medium) -> Table | None:
    """Return the rises that are gone again when their function returns, None without any."""
    shown = memory.spikes[: medium.small_rows]
    if not shown:
        return None
    column = fmt.size_column([item.above_baseline_bytes for item in shown])
    sizes = tables.figures(column.cells)
    rows = tuple(
        Row(
            cells=(
                sizes[i],
                tables.name(item.operator.removeprefix("aten::") if item.operator else None, 28),
                Cell(text=fmt.duration(item.held_us), muted=item.held_us is None),
                source_cell(item.source, 40),
            )
        )
        for i, item in enumerate(shown)
    )
    heads = (
        (f"Rise, {column.unit}", 15.0, True),
        ("Operator", 30.0, False),
        ("Held", 15.0, True),
        ("Function", 40.0, False),
    )
    caption = "Rises that are gone again when their function returns"
    return Table(caption=caption, columns=tables.columns(*heads), rows=rows)
