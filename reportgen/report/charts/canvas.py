"""A sheet of paper to draw on, in points from its upper left corner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from reportgen.report.charts.model import Chart
from reportgen.report.charts.palette import CODED
from reportgen.report.charts.svg import (
    Layer,
    Text,
    circle,
    coloured,
    cut,
    document,
    hatching,
    outline,
    rectangles,
    skyline,
)
from reportgen.report.charts.text import width_pt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from reportgen.report.charts.model import Caption
    from reportgen.report.charts.palette import Paint, Theme
    from reportgen.report.charts.svg import Box

MM_PER_INCH, PT_PER_INCH = 25.4, 72.0
WIDTH_MM = 170.0  # the text of an A4 page
WIDTH = WIDTH_MM / MM_PER_INCH * PT_PER_INCH
TEXT = 8.0
NAME = 9.0
OUTLINE = 0.6

Align = Literal["left", "center", "right"]
_BEFORE: dict[Align, float] = {"left": 0.0, "center": 0.5, "right": 1.0}  # the share of a text left of its anchor
# Baseline of a line of capitals and figures that is centred on y, in sizes: half the cap height of Liberation.
_MIDDLE = 0.344


class Canvas:
    """A sheet `WIDTH` wide; y grows downward, and all lengths are points."""

    def __init__(self, height: float, theme: Theme) -> None:
        self.height = height
        self.theme = theme
        self._behind, self._areas, self._lines = Layer(), Layer(), Layer()
        self._texts: list[Text] = []

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        colour: str | None = None,
        size: float = TEXT,
        bold: bool = False,
        align: Align = "left",
        angle: float = 0.0,
    ) -> None:
        """Write one line whose capitals are centred on `y`, turned by `angle` degrees to the left around (x, y)."""
        drawn = Text(
            text=text,
            left=x - _BEFORE[align] * width_pt(text, size, bold=bold),
            baseline=y + _MIDDLE * size,
            colour=colour or self.theme.ink,
            size=size,
            bold=bold,
            angle=angle,
            centre=(x, y),
        )
        self._texts.append(drawn)

    def box(self, box: Box, paint: Paint, *, width: float = OUTLINE) -> None:
        """Draw a rectangle; the outline lies within it."""
        left, top, wide, high = box
        inset = min(width, wide, high) / 2
        inner = (left + inset, top + inset, wide - 2 * inset, high - 2 * inset)
        self.boxes([inner], paint.fill)
        if paint.hatch:
            self.hatch([inner], paint.outline)
        dashes = "2.4 1.6" if paint.dashed else None
        edge = rectangles([inner])
        self._areas.path(edge, fill="none", stroke=paint.outline, stroke_width=2 * inset, stroke_dasharray=dashes)

    def boxes(self, boxes: Iterable[Box], fill: str) -> None:
        """Fill many rectangles as one mark, without outlines."""
        self._areas.path(rectangles(boxes), fill=fill)

    def hatch(self, boxes: Iterable[Box], colour: str) -> None:
        """Hatch rectangles; the lines go on from one to the next."""
        self._areas.path(hatching(boxes), fill="none", stroke=colour, stroke_width=OUTLINE)

    def columns(self, boxes: Iterable[Box], fill: str) -> None:
        """Fill rectangles that stand on one line, from left to right, as one mark without outlines."""
        self._areas.path(skyline(boxes), fill=fill)

    def areas(self, outlines: Iterable[Sequence[tuple[float, float]]], fill: str) -> None:
        """Fill areas of any form as one mark, without outlines."""
        self._areas.path("".join(f"{outline(points)}z" for points in outlines), fill=fill)

    def line(
        self,
        points: Iterable[tuple[float, float]],
        colour: str,
        *,
        width: float = OUTLINE,
        dashed: bool = False,
        behind: bool = False,
    ) -> None:
        """Draw a line through `points`; `behind` areas, as a grid is, and else before them."""
        layer = self._behind if behind else self._lines
        dashes = f"{cut(3 * width)} {cut(2 * width)}" if dashed else None
        layer.path(
            outline(points),
            fill="none",
            stroke=colour,
            stroke_width=width,
            stroke_dasharray=dashes,
            stroke_linejoin="round",
        )

    def marks(
        self, points: Iterable[tuple[float, float]], size: float, *, square: bool = False, filled: bool = True
    ) -> None:
        """Draw equal marks `size` across; open ones hide what is behind them."""
        theme, half = self.theme, (size - OUTLINE) / 2
        fill, edge = (theme.mark, theme.paper) if filled else (theme.paper, theme.ink)
        width = OUTLINE if filled else 1.0
        for x, y in points:
            form = rectangles([(x - half, y - half, 2 * half, 2 * half)]) if square else circle(x, y, half)
            self._lines.path(form, alone=True, fill=fill, stroke=edge, stroke_width=width)

    def svg(self, *, as_paths: bool) -> str:
        """Return the sheet in the colours of its theme, its texts as outlines or as texts."""
        layers = (self._behind, self._areas, self._lines)
        return document(WIDTH, self.height, layers, self._texts, as_paths=as_paths)


def make_chart(name: str, height: float, draw: Callable[[Canvas], None], *, alt: str, caption: Caption) -> Chart:
    """Make a chart of what `draw` paints on a sheet of `height` points, in the colours of the canvas's theme."""
    canvas = Canvas(height, CODED)
    draw(canvas)
    screen = canvas.svg(as_paths=True)
    return Chart(
        name=name,
        light_svg=coloured(screen, page=0),
        dark_svg=coloured(screen, page=1),
        print_svg=coloured(canvas.svg(as_paths=False), page=0),
        alt=alt,
        caption=caption,
        width_mm=WIDTH_MM,
        height_mm=round(height / PT_PER_INCH * MM_PER_INCH, 2),
    )
