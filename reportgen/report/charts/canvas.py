"""A sheet of paper to draw on, in points from its upper left corner, and how it becomes SVG and PNG."""

from __future__ import annotations

import io
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
from reportgen.report.charts.palette import DARK, LIGHT
from reportgen.report.charts.text import font

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from reportgen.report.charts.palette import Paint, Theme

MM_PER_INCH, PT_PER_INCH = 25.4, 72.0
WIDTH_MM = 170.0  # the text of an A4 page
WIDTH = WIDTH_MM / MM_PER_INCH * PT_PER_INCH
TEXT = 8.0
NAME = 9.0
OUTLINE = 0.6
# More marks than this and a PDF is better served with pixels.
MOST_MARKS = 300
_PNG_DPI = 300
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
        self.num_marks = 0
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
    ) -> None:
        """Write one line whose capitals are centred on `y`."""
        properties = font(size, bold=bold)
        colour = colour or self.theme.ink
        self._add(
            Text(x, y + _MIDDLE * size, text, color=colour, fontproperties=properties, ha=align, parse_math=False)
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
                hatch=paint.hatch,
                linewidth=2 * inset,
                linestyle=(0, (2.4, 1.6)) if paint.dashed else "solid",
                joinstyle="miter",
            )
        )
        self.num_marks += 1

    def boxes(self, boxes: Iterable[Box], fill: str, *, alpha: float | None = None) -> None:
        """Fill many rectangles as one mark, without outlines."""
        corners, codes = [], []
        for left, top, wide, high in boxes:
            right, bottom = left + wide, top + high
            corners += [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
            codes += [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]
        if corners:
            self._add(PathPatch(Path(corners, codes), facecolor=fill, linewidth=0, alpha=alpha))
            self.num_marks += 1

    def line(
        self, points: Iterable[tuple[float, float]], colour: str, *, width: float = OUTLINE, dashed: bool = False
    ) -> None:
        """Draw a line through `points`."""
        xs, ys = zip(*points, strict=True)
        style: Any = (0, (3.0, 2.0)) if dashed else "solid"
        self._add(
            Line2D(xs, ys, color=colour, linewidth=width, linestyle=style, solid_capstyle="butt", dash_capstyle="butt")
        )
        self.num_marks += 1

    def _add(self, artist: Artist) -> None:
        artist.set_transform(self._place)
        self.figure.add_artist(artist)

    def axes(self, box: Box) -> Axes:
        """Add axes whose frame is `box`; what is drawn in them does not count as marks."""
        left, top, wide, high = box
        bottom = self.height - top - high
        return self.figure.add_axes((left / WIDTH, bottom / self.height, wide / WIDTH, high / self.height))


def make_chart(name: str, height: float, draw: Callable[[Canvas], None], *, alt: str, caption: Caption) -> Chart:
    """Draw once for each theme; `draw` paints a sheet of `height` points in the theme's colours."""
    light, dark = Canvas(height, LIGHT), Canvas(height, DARK)
    for canvas in (light, dark):
        draw(canvas)
    return Chart(
        name=name,
        light_svg=_svg(light.figure, name),
        dark_svg=_svg(dark.figure, name),
        png=_png(light.figure) if light.num_marks > MOST_MARKS else None,
        alt=alt,
        caption=caption,
        width_mm=WIDTH_MM,
        height_mm=round(height / PT_PER_INCH * MM_PER_INCH, 2),
    )


def _svg(figure: Figure, salt: str) -> str:
    stream = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "path", "svg.hashsalt": salt, "hatch.linewidth": OUTLINE}):
        figure.savefig(stream, format="svg", dpi=PT_PER_INCH, metadata=_NO_METADATA)
    text = stream.getvalue()
    # A document of its own in an <img> needs neither declarations nor comments; a comment may hold any name.
    text = re.sub(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'(?<= d=")[^"]*', _cut_path, text)
    return re.sub(r"\n\s*", "\n", text).strip() + "\n"


def _cut_path(match: re.Match[str]) -> str:
    """Cut a path's data to two decimals. Transforms stay whole: they scale glyphs that are thousands of units wide."""
    return re.sub(r"\s+", " ", re.sub(r"-?\d+\.\d+", _cut_number, match[0])).strip()


def _cut_number(match: re.Match[str]) -> str:
    text = f"{float(match[0]):.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _png(figure: Figure) -> bytes:
    stream = io.BytesIO()
    with mpl.rc_context({"hatch.linewidth": OUTLINE}):
        figure.savefig(stream, format="png", dpi=_PNG_DPI, metadata={"Software": None})
    return stream.getvalue()
