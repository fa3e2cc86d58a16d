"""Tables as plain values: what a template prints cell by cell, without a decision of its own."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from reportgen import formatting as fmt
from reportgen.analysis.model import BudgetPart

if TYPE_CHECKING:
    from reportgen.report.view.medium import Medium

MOST_ROWS_UNSPLIT = 8
# Columns of cases beside each other that have room for a name and a figure on paper, and the width of each, per cent.
MOST_COLUMNS_ON_PAPER = 4
_ON_PAPER = 12.0
RowKind = Literal["", "rest", "total"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Show:
    """What the timeline is asked to show: a stretch of the step, or all activities of an operator's or kernel's row.

    `label` is written over what is shown.
    """

    start_us: float | None = None
    end_us: float | None = None
    row: str | None = None
    label: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Link:
    """A link, with words around it that are none. Without JavaScript one into the timeline leads to its chart."""

    text: str
    href: str
    before: str = ""
    after: str = ""
    code: bool = False
    # The whole name of what it leads to, where `text` is not it.
    title: str | None = None
    show: Show | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Cell:
    """One cell. `pad` is printed invisibly, `bar` is the width of a bar beside the text in per cent of its room."""

    text: str
    code: bool = False
    strong: bool = False
    muted: bool = False
    pad: str = ""
    note: str | None = None
    part: BudgetPart | None = None
    bar: float | None = None
    href: str | None = None
    # With `href`: what the timeline is to show there.
    show: Show | None = None
    # Below the text, where the medium can follow them.
    links: tuple[Link, ...] = ()
    # What the screen sorts by where the text would not do.
    sort: float | None = None
    # The whole name, where `text` is cut.
    title: str | None = None

    @property
    def is_only_code(self) -> bool:
        """Whether nothing stands in the cell but a name in the fixed pitch."""
        beside = (self.strong, self.part, self.pad, self.note, self.href, self.links)
        return self.code and self.bar is None and not any(beside)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Column:
    """A column's head and its share of the table's width in per cent."""

    label: str
    width: float
    numeric: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row:
    """A row; its first cell names it."""

    cells: tuple[Cell, ...]
    kind: RowKind = ""
    # What a link leads to; None where nothing does.
    id: str | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Table:
    """A table; `caption` is shown above it, `note` below. With `sortable` the screen offers sorting and filtering."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    note: str | None = None
    sortable: bool = False
    # A short table stays on one page unless it says otherwise.
    breaks: bool = False

    @property
    def is_long(self) -> bool:
        """Tell whether the table may be split between pages."""
        return self.breaks or len(self.rows) > MOST_ROWS_UNSPLIT


def linked(cell: Cell, link: Link | None) -> Cell:
    """Return `cell` as a link, as it is where there is none."""
    return dataclasses.replace(cell, href=link.href, show=link.show) if link else cell


def text(value: str, *, code: bool = False, strong: bool = False, muted: bool = False) -> Cell:
    """Return a cell of words; "not recorded" and "not evaluated" are muted by themselves."""
    absent = value in (fmt.NOT_RECORDED, fmt.NOT_EVALUATED)
    return Cell(text=value, code=code and not absent, strong=strong, muted=muted or absent)


def name(value: str | None, limit: int, missing: str = "not known") -> Cell:
    """Return a cell with a name out of a trace, cut to `limit` characters."""
    if value is None:
        return Cell(text=missing, muted=True)
    whole = fmt.legible(value, 400)
    cut = fmt.shorten(whole, limit)
    return Cell(text=cut, code=True, title=whole if cut != whole else None)


def figures(texts: Sequence[str], values: Sequence[float | None] = (), *, strong: bool = False) -> list[Cell]:
    """Return the cells of a column of figures, decimal points in line; `values` are what the screen sorts by."""
    pads = fmt.hidden_digits(texts)
    keys = [*values, *[None] * (len(texts) - len(values))]
    return [
        Cell(text=value, pad=pad, strong=strong, sort=key, muted=value == fmt.NOT_RECORDED)
        for value, pad, key in zip(texts, pads, keys, strict=False)
    ]


def times(values_us: Sequence[float | None], total_us: float | None = None, unit: str | None = None) -> list[Cell]:
    """Return the cells of a column of times in one unit, the total last where one is given."""
    column = fmt.time_column(values_us, total_us, unit=unit)
    texts = [*column.cells, column.total] if total_us is not None else list(column.cells)
    return figures(texts, values_us)


def widths(*shares: float) -> tuple[float, ...]:
    """Return `shares` scaled to sum to 100."""
    whole = sum(shares)
    return tuple(round(share / whole * 100, 2) for share in shares)


def columns(*heads: tuple[str, float, bool]) -> tuple[Column, ...]:
    """Return columns from (label, width, numeric), widths scaled to the whole table."""
    scaled = widths(*(width for _, width, _ in heads))
    return tuple(
        Column(label=label, width=width, numeric=numeric)
        for (label, _, numeric), width in zip(heads, scaled, strict=True)
    )


def side_by_side(table: Table, medium: Medium, *, last: int = 0) -> tuple[Table, ...]:
    """Return a table of cases beside each other as the tables that paper has room for; on the screen it scrolls.

    The columns are one that names the row, one for each case, and `last` that every part repeats.
    """
    middle = len(table.columns) - 1 - last
    if not medium.is_print or middle <= MOST_COLUMNS_ON_PAPER:
        return (table,)
    parts = []
    for start in range(0, middle, MOST_COLUMNS_ON_PAPER):
        kept = [
            0,
            *range(1 + start, 1 + min(start + MOST_COLUMNS_ON_PAPER, middle)),
            *range(1 + middle, 1 + middle + last),
        ]
        columns_kept = [table.columns[i] for i in kept]
        wide = widths(*(_ON_PAPER if 0 < i <= middle else table.columns[i].width for i in kept))
        parts.append(
            dataclasses.replace(
                table,
                caption=table.caption if start == 0 else "The same of the next cases.",
                columns=tuple(
                    dataclasses.replace(column, width=width) for column, width in zip(columns_kept, wide, strict=True)
                ),
                rows=tuple(dataclasses.replace(row, cells=tuple(row.cells[i] for i in kept)) for row in table.rows),
                note=table.note if start + MOST_COLUMNS_ON_PAPER >= middle else None,
            )
        )
    return tuple(parts)
