"""A sheet of paper to draw on, in points from its upper left corner, and how it becomes SVG."""

from __future__ import annotations

import io
import math
import operator
import re
from typing import TYPE_CHECKING, Any, Literal

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_svg import RendererSVG
from matplotlib.colors import to_rgba
from matplotlib.path import Path
from matplotlib.transforms import Affine2D

from reportgen.report.charts.model import Caption, Chart
from reportgen.report.charts.palette import CODED
from reportgen.report.charts.text import font, width_pt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from reportgen.report.charts.palette import Paint, Theme

MM_PER_INCH, PT_PER_INCH = 25.4, 72.0
WIDTH_MM = 170.0  # the text of an A4 page
WIDTH = WIDTH_MM / MM_PER_INCH * PT_PER_INCH
TEXT = 8.0
NAME = 9.0
OUTLINE = 0.6
_RENDERER: Any = RendererSVG  # which has no types
_DECIMALS = 2  # of a length in points, as it is written
_TOUCHING = 0.005  # less than what is written of a length
_HATCH = "/////"
_NO_METADATA = dict.fromkeys(("Date", "Creator", "Format", "Type"))

# A document of its own in an <img> needs neither declarations nor comments, of which one may hold any name; nor the
# style that rounds joints.
_NEEDLESS = re.compile(
    r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>|<defs>\s*<style.*?</style>\s*</defs>", re.DOTALL
)
_STYLE = re.compile(r'style="([^"]*)"')

Align = Literal["left", "center", "right"]
Point = tuple[float, float]
Box = tuple[float, float, float, float]  # left, top, width, height
# Baseline of a line of capitals and figures that is centred on y, in sizes: half the cap height of Liberation.
_MIDDLE = 0.344
# How much of a text lies left of the point that it is written at.
_BEFORE: dict[Align, float] = {"left": 0.0, "center": 0.5, "right": 1.0}
# What is drawn last hides what lies under it.
_BEHIND, _AREAS, _LINES, _TEXTS = range(4)


class Canvas:
    """A sheet `WIDTH` wide; y grows downward, and all lengths are points.

    It keeps what is drawn on it and hands it to matplotlib's renderer when its SVG is asked for: a document that needs
    one form of a chart does not pay for the others.
    """

    def __init__(self, height: float, theme: Theme) -> None:
        self.height = height
        self.theme = theme
        self._marks: list[tuple[int, Callable[[Any], None]]] = []
        # The renderer's y grows upward.
        self._place = Affine2D().scale(1, -1).translate(0, height)

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
        along, turn = _BEFORE[align] * width_pt(text, size, bold=bold), math.radians(angle)
        drop = _MIDDLE * size
        left = round(x - along * math.cos(turn) + drop * math.sin(turn), _DECIMALS)
        base = round(y + along * math.sin(turn) + drop * math.cos(turn), _DECIMALS)

        def write(renderer: Any) -> None:
            pen = _pen(renderer, colour or self.theme.ink, 1.0)
            renderer.draw_text(pen, left, base, text, font(size, bold=bold), angle)

        self._marks.append((_TEXTS, write))

    def box(self, box: Box, paint: Paint, *, width: float = OUTLINE) -> None:
        """Draw a rectangle; the outline lies within it."""
        left, top, wide, high = box
        inset = min(width, wide, high) / 2
        corners = _corners((left + inset, top + inset, wide - 2 * inset, high - 2 * inset))
        self._draw(
            _closed([corners]),
            _AREAS,
            fill=paint.fill,
            line=paint.outline,
            width=2 * inset,
            dashes=(2.4, 1.6) if paint.dashed else None,
            hatch=paint.outline if paint.hatch else None,
        )

    def boxes(self, boxes: Iterable[Box], fill: str) -> None:
        """Fill many rectangles as one mark, without outlines."""
        self.areas([_corners(box) for box in boxes], fill)

    def hatch(self, boxes: Iterable[Box], colour: str) -> None:
        """Hatch rectangles; the lines go on from one to the next."""
        if outlines := [_corners(box) for box in boxes]:
            self._draw(_closed(outlines), _AREAS, hatch=colour)

    def columns(self, boxes: Iterable[Box], fill: str) -> None:
        """Fill rectangles that stand on one line, from left to right; those that touch are one outline."""
        self.areas(_skyline(boxes), fill)

    def areas(self, outlines: Sequence[Sequence[Point]], fill: str) -> None:
        """Fill areas of any form as one mark, without outlines."""
        if outlines:
            self._draw(_closed(outlines), _AREAS, fill=fill)

    def line(
        self,
        points: Iterable[Point],
        colour: str,
        *,
        width: float = OUTLINE,
        dashed: bool = False,
        behind: bool = False,
    ) -> None:
        """Draw a line through `points`; `behind` areas, as a grid is, and else before them."""
        self._draw(
            Path(_written(points)),
            _BEHIND if behind else _LINES,
            line=colour,
            width=width,
            dashes=(3.0, 2.0) if dashed else None,
        )

    def marks(self, points: Iterable[Point], size: float, *, square: bool = False, filled: bool = True) -> None:
        """Draw equal marks `size` across; open ones hide what is behind them."""
        theme, places = self.theme, Path(_written(points))
        width = OUTLINE if filled else 1.0
        fill, outline = (theme.mark, theme.paper) if filled else (theme.paper, theme.ink)
        shape = _mark(size - OUTLINE, square=square)

        def draw(renderer: Any) -> None:
            pen = _pen(renderer, outline, width)
            renderer.draw_markers(pen, shape, Affine2D(), places, self._place, to_rgba(fill))

        self._marks.append((_LINES, draw))

    def svg(self, *, as_paths: bool) -> str:
        """Return the sheet in the colours of its theme, its texts as outlines or as texts."""
        stream = io.StringIO()
        fonttype = "path" if as_paths else "none"
        with mpl.rc_context({"svg.fonttype": fonttype, "svg.hashsalt": "chart", "hatch.linewidth": OUTLINE}):
            renderer = _RENDERER(WIDTH, self.height, stream, metadata=_NO_METADATA)
            for _, draw in sorted(self._marks, key=operator.itemgetter(0)):
                draw(renderer)
            renderer.finalize()
        svg = _STYLE.sub(_as_attributes, _NEEDLESS.sub("", stream.getvalue()))
        return re.sub(r"\s*\n\s*", "\n", svg).strip() + "\n"

    def _draw(
        self,
        path: Path,
        layer: int,
        *,
        fill: str | None = None,
        line: str | None = None,
        width: float = 0.0,
        dashes: tuple[float, float] | None = None,
        hatch: str | None = None,
    ) -> None:
        def draw(renderer: Any) -> None:
            pen = _pen(renderer, line, width, dashes)
            if hatch:
                pen.set_hatch(_HATCH)
                pen.set_hatch_color(to_rgba(hatch))
            renderer.draw_path(pen, path, self._place, to_rgba(fill) if fill else None)

        self._marks.append((layer, draw))


def _as_attributes(match: re.Match[str]) -> str:
    """Turn an element's style into attributes, which mean the same and need no reader of style sheets."""
    return re.sub(r"([\w-]+): ([^;]*)(?:; )?", r'\1="\2" ', match[1]).strip()


def _pen(renderer: Any, colour: str | None, width: float, dashes: tuple[float, float] | None = None) -> Any:
    """Return how outlines are drawn; dashes are in widths of the line. Without a colour there are none."""
    pen = renderer.new_gc()
    pen.set_linewidth(width if colour else 0.0)
    if colour:
        pen.set_foreground(colour)
    if dashes:
        pen.set_dashes(0.0, [length * width for length in dashes])
    return pen


def _written(points: Iterable[Point]) -> Any:
    """Return `points` as they are written, an array of (points, 2)."""
    return np.round(np.array(list(points), dtype=np.float64), _DECIMALS) + 0.0  # no minus before a zero


def _corners(box: Box) -> list[Point]:
    left, top, wide, high = box
    return [(left, top), (left + wide, top), (left + wide, top + high), (left, top + high)]


def _closed(outlines: Iterable[Sequence[Point]]) -> Path:
    points: list[Point] = []
    codes: list[int] = []
    for outline in map(_corners_of, outlines):
        points += [*outline, outline[0]]
        codes += [int(Path.MOVETO), *[int(Path.LINETO)] * (len(outline) - 1), int(Path.CLOSEPOLY)]
    return Path(_written(points), codes)


def _corners_of(outline: Iterable[Point]) -> list[Point]:
    """Return `outline` without points that it does not turn at: of a curve in small steps they are most."""
    kept: list[Point] = []
    for x, y in outline:
        point = (round(x, _DECIMALS), round(y, _DECIMALS))
        if kept and point == kept[-1]:
            continue
        if len(kept) > 1 and any(kept[-2][axis] == kept[-1][axis] == point[axis] for axis in (0, 1)):
            kept.pop()
        kept.append(point)
    return kept


def _mark(across: float, *, square: bool) -> Path:
    if square:
        return _closed([_corners((-across / 2, -across / 2, across, across))])
    circle = Path.unit_circle()
    around = np.asarray(circle.vertices, dtype=np.float64) * across / 2
    return Path(_written(around.tolist()), circle.codes)


def _skyline(boxes: Iterable[Box]) -> list[list[Point]]:
    """Return the outline of each run of boxes that touch, along their tops and back along the line they stand on."""
    runs: list[list[Point]] = []
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
    return Chart(
        name=name,
        draw=lambda as_paths: canvas.svg(as_paths=as_paths),
        alt=alt,
        caption=caption,
        width_mm=WIDTH_MM,
        height_mm=round(height / PT_PER_INCH * MM_PER_INCH, 2),
    )
