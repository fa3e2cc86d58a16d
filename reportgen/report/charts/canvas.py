"""A sheet of paper to draw on, in points from its upper left corner, and how it becomes SVG."""

from __future__ import annotations

import functools
import io
import math
import re
from typing import TYPE_CHECKING, Any, Literal

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import Affine2D

from reportgen.report.charts.model import Caption, Chart
from reportgen.report.charts.palette import CODED, MEANINGS
from reportgen.report.charts.text import font

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from matplotlib.artist import Artist

    from reportgen.report.charts.palette import Paint, Theme

MM_PER_INCH, PT_PER_INCH = 25.4, 72.0
WIDTH_MM = 170.0  # the text of an A4 page
WIDTH = WIDTH_MM / MM_PER_INCH * PT_PER_INCH
TEXT = 8.0
NAME = 9.0
OUTLINE = 0.6
_TOUCHING = 0.005  # less than what is written of a length
_HATCH = "/////"
_NO_METADATA = dict.fromkeys(("Date", "Creator", "Format", "Type"))

Align = Literal["left", "center", "right"]
Box = tuple[float, float, float, float]  # left, top, width, height
# Baseline of a line of capitals and figures that is centred on y, in sizes: half the cap height of Liberation.
_MIDDLE = 0.344


class Canvas:
    """A sheet `WIDTH` wide; y grows downward, and all lengths are points."""

    def __init__(self, height: float, theme: Theme) -> None:
        self.height = height
        self.theme = theme
        self.figure = Figure(figsize=(WIDTH / PT_PER_INCH, height / PT_PER_INCH), dpi=PT_PER_INCH, facecolor="none")
        # Straight on the figure: axes cost more than all that a chart draws.
        to_inches = Affine2D().translate(0, -height).scale(1 / PT_PER_INCH, -1 / PT_PER_INCH)
        self._place = to_inches + self.figure.dpi_scale_trans

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
        turn, drop = math.radians(angle), _MIDDLE * size
        self._add(
            Text(
                x + drop * math.sin(turn),
                y + drop * math.cos(turn),
                text,
                color=colour or self.theme.ink,
                fontproperties=font(size, bold=bold),
                horizontalalignment=align,
                rotation=angle,
                rotation_mode="anchor",
                parse_math=False,
            )
        )

    def box(self, box: Box, paint: Paint, *, width: float = OUTLINE) -> None:
        """Draw a rectangle; the outline lies within it."""
        left, top, wide, high = box
        inset = min(width, wide, high) / 2
        self._add(
            Rectangle(
                (left + inset, top + inset),
                wide - 2 * inset,
                high - 2 * inset,
                facecolor=paint.fill,
                edgecolor=paint.outline,
                hatch=_HATCH if paint.hatch else None,
                linewidth=2 * inset,
                linestyle=(0, (2.4, 1.6)) if paint.dashed else "solid",
                joinstyle="miter",
            )
        )

    def boxes(self, boxes: Iterable[Box], fill: str) -> None:
        """Fill many rectangles as one mark, without outlines."""
        self.areas([_corners(box) for box in boxes], fill)

    def hatch(self, boxes: Iterable[Box], colour: str) -> None:
        """Hatch rectangles; the lines go on from one to the next."""
        if outlines := [_corners(box) for box in boxes]:
            self._add(PathPatch(_closed(outlines), facecolor="none", linewidth=0, hatch=_HATCH, edgecolor=colour))

    def columns(self, boxes: Iterable[Box], fill: str) -> None:
        """Fill rectangles that stand on one line, from left to right; those that touch are one outline."""
        self.areas(_skyline(boxes), fill)

    def areas(self, outlines: Sequence[Sequence[tuple[float, float]]], fill: str) -> None:
        """Fill areas of any form as one mark, without outlines."""
        if outlines:
            self._add(PathPatch(_closed(outlines), facecolor=fill, linewidth=0, edgecolor="none"))

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
        xs, ys = zip(*points, strict=True)
        style: Any = (0, (3.0, 2.0)) if dashed else "solid"
        self._add(
            Line2D(
                xs,
                ys,
                color=colour,
                linewidth=width,
                linestyle=style,
                solid_capstyle="butt",
                dash_capstyle="butt",
                zorder=0 if behind else 2,
            )
        )

    def marks(
        self, points: Iterable[tuple[float, float]], size: float, *, square: bool = False, filled: bool = True
    ) -> None:
        """Draw equal marks `size` across; open ones hide what is behind them."""
        theme, xs_ys = self.theme, list(points)
        xs, ys = zip(*xs_ys, strict=True)
        self._add(
            Line2D(
                xs,
                ys,
                linestyle="none",
                marker="s" if square else "o",
                markersize=size - OUTLINE,
                markerfacecolor=theme.mark if filled else theme.paper,
                markeredgecolor=theme.paper if filled else theme.ink,
                markeredgewidth=OUTLINE if filled else 1.0,
            )
        )

    def svg(self, *, as_paths: bool) -> str:
        """Return the sheet in the colours of its theme, its texts as outlines or as texts."""
        stream = io.StringIO()
        fonttype = "path" if as_paths else "none"
        with mpl.rc_context({"svg.fonttype": fonttype, "svg.hashsalt": "chart", "hatch.linewidth": OUTLINE}):
            self.figure.savefig(stream, format="svg", dpi=PT_PER_INCH, metadata=_NO_METADATA)
        svg = stream.getvalue()
        # A document of its own in an <img> needs neither declarations nor comments; a comment may hold any name.
        svg = re.sub(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
        svg = re.sub(r'(?<= d=")[^"]*', _cut_path, svg)
        return re.sub(r"\n\s*", "\n", svg).strip() + "\n"

    def _add(self, artist: Artist) -> None:
        artist.set_transform(self._place)
        self.figure.add_artist(artist)


def _corners(box: Box) -> list[tuple[float, float]]:
    left, top, wide, high = box
    return [(left, top), (left + wide, top), (left + wide, top + high), (left, top + high)]


def _closed(outlines: Iterable[Sequence[tuple[float, float]]]) -> Path:
    return Path.make_compound_path(*(Path([*outline, outline[0]], closed=True) for outline in outlines))


def _skyline(boxes: Iterable[Box]) -> list[list[tuple[float, float]]]:
    """Return the outline of each run of boxes that touch, along their tops and back along the line they stand on."""
    runs: list[list[tuple[float, float]]] = []
    for left, top, wide, high in boxes:
        if runs and abs(runs[-1][-1][0] - left) < _TOUCHING:
            runs[-1].pop()
        else:
            runs.append([(left, top + high)])
        runs[-1] += [(left, top), (left + wide, top), (left + wide, top + high)]
    return runs


def make_chart(name: str, height: float, draw: Callable[[Canvas], None], *, alt: str, caption: Caption) -> Chart:
    """Make a chart of what `draw` paints on a sheet of `height` points, in the colours of the canvas's theme."""
    canvas = Canvas(height, CODED)
    draw(canvas)
    screen = canvas.svg(as_paths=True)
    return Chart(
        name=name,
        light_svg=_coloured(screen, page=0),
        dark_svg=_coloured(screen, page=1),
        print_svg=_coloured(canvas.svg(as_paths=False), page=0),
        alt=alt,
        caption=caption,
        width_mm=WIDTH_MM,
        height_mm=round(height / PT_PER_INCH * MM_PER_INCH, 2),
    )


def _coloured(svg: str, *, page: int) -> str:
    """Put the colours of the light page (0) or the dark page (1) in the place of their codes."""
    return re.sub("|".join(MEANINGS), lambda match: MEANINGS[match[0]][page], svg)


def _cut_path(match: re.Match[str]) -> str:
    """Cut a path's data to two decimals. Transforms stay whole: they scale glyphs that are thousands of units wide."""
    return re.sub(r"\s+", " ", re.sub(r"-?\d+\.\d+", _cut_number, match[0])).strip()


def _cut_number(match: re.Match[str]) -> str:
    return _cut(match[0])


@functools.lru_cache(maxsize=8192)
def _cut(number: str) -> str:
    text = f"{float(number):.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
