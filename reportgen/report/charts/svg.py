"""SVG, written by hand: a chart is rectangles, lines, marks and short texts, and nothing turns but a text."""

from __future__ import annotations

import dataclasses
import functools
import math
import re
from html import escape
from typing import TYPE_CHECKING

from reportgen.report.charts.model import FAMILY
from reportgen.report.charts.palette import MEANINGS
from reportgen.report.charts.text import face

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Box = tuple[float, float, float, float]  # left, top, width, height
_HATCH = 3.6  # between two lines, along the x axis
_CODES = re.compile("|".join(MEANINGS))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Text:
    """One line of text that begins at (`left`, `baseline`); turned by `angle` degrees to the left around `centre`."""

    text: str
    left: float
    baseline: float
    colour: str
    size: float
    bold: bool
    angle: float
    centre: tuple[float, float]

    @property
    def turn(self) -> str | None:
        """Return the transformation that turns it."""
        x, y = self.centre
        return f"rotate({cut(-self.angle)} {cut(x)} {cut(y)})" if self.angle else None


class Layer:
    """What lies at one height. What follows its like is drawn as one with it: a document has fewer parts to read."""

    def __init__(self) -> None:
        self._shapes: list[tuple[str, str]] = []

    def path(self, data: str, *, alone: bool = False, **style: str | float | None) -> None:
        """Add path data, to be painted in `style`; `alone` where it may lie over its like."""
        written = attributes(**style)
        if self._shapes and self._shapes[-1][0] == written and not alone:
            data = self._shapes.pop()[1] + data
        self._shapes.append((written, data))

    def written(self) -> list[str]:
        """Return the paths as elements, from back to front."""
        return [f'<path d="{data}"{style}/>' for style, data in self._shapes]


def cut(number: float) -> str:
    """Write a length with two decimals at most: a hundredth of a point is nothing that can be seen."""
    text = f"{number:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def attributes(**values: str | float | None) -> str:
    """Write attributes, `stroke_width` as ``stroke-width``, without those that are None."""
    return "".join(
        f' {name.replace("_", "-")}="{value if isinstance(value, str) else cut(value)}"'
        for name, value in values.items()
        if value is not None
    )


def rectangles(boxes: Iterable[Box]) -> str:
    """Return the path data of `boxes`."""
    return "".join(f"M{cut(left)} {cut(top)}h{cut(wide)}v{cut(high)}h{cut(-wide)}z" for left, top, wide, high in boxes)


def skyline(boxes: Iterable[Box]) -> str:
    """Return the path data of boxes that stand on one line, from left to right; those that touch are one outline."""
    data: list[str] = []
    end = base = ""
    for left, top, wide, high in boxes:
        start = cut(left)
        if start != end:
            data.append(f"{f'V{base}z' if data else ''}M{start} {cut(top + high)}")
        end, base = cut(left + wide), cut(top + high)
        data.append(f"V{cut(top)}H{end}")
    return f"{''.join(data)}V{base}z" if data else ""


def circle(x: float, y: float, radius: float) -> str:
    """Return the path data of a circle."""
    half = f"a{cut(radius)} {cut(radius)} 0 0 1 "
    return f"M{cut(x - radius)} {cut(y)}{half}{cut(2 * radius)} 0{half}{cut(-2 * radius)} 0z"


def outline(points: Iterable[tuple[float, float]]) -> str:
    """Return the path data of a line through `points`, level and upright stretches with one number each."""
    data: list[str] = []
    at = ("", "")
    for x, y in points:
        to = (cut(x), cut(y))
        if not data:
            data.append(f"M{to[0]} {to[1]}")
        elif to[1] == at[1]:
            data.append(f"H{to[0]}")
        elif to[0] == at[0]:
            data.append(f"V{to[1]}")
        else:
            data.append(f"L{to[0]} {to[1]}")
        at = to
    return "".join(data)


def hatching(boxes: Iterable[Box]) -> str:
    """Return the path data of a hatch that rises to the right, within `boxes` and going on from one to the next."""
    return "".join(f"M{cut(x1)} {cut(y1)}L{cut(x2)} {cut(y2)}" for box in boxes for x1, y1, x2, y2 in _hatch_lines(box))


def _hatch_lines(box: Box) -> Iterator[Box]:
    """Yield the ends of the lines x + y = n · _HATCH within `box`."""
    left, top, wide, high = box
    right, bottom = left + wide, top + high
    for number in range(math.ceil((left + top) / _HATCH), math.floor((right + bottom) / _HATCH) + 1):
        total = number * _HATCH
        foot = min(bottom, total - left)
        head = max(top, total - right)
        if foot > head:
            yield total - foot, foot, total - head, head


def document(width: float, height: float, layers: Sequence[Layer], texts: Sequence[Text], *, as_paths: bool) -> str:
    """Return a document of its own for an `<img>`, with its texts as outlines or as texts in the family `FAMILY`."""
    shapes = [shape for layer in layers for shape in layer.written()]
    written = _outlined(texts) if as_paths else [_written(text) for text in texts]
    size = f'width="{width:.6f}pt" height="{height:.6f}pt" viewBox="0 0 {width:.6f} {height:.6f}"'
    return "\n".join((f'<svg xmlns="http://www.w3.org/2000/svg" {size}>', *shapes, *written, "</svg>\n"))


def coloured(svg: str, *, page: int) -> str:
    """Put the colours of the light page (0) or the dark page (1) in the place of their codes."""
    return _CODES.sub(lambda match: MEANINGS[match[0]][page], svg)


def _written(text: Text) -> str:
    style = attributes(
        fill=text.colour,
        font_family=FAMILY,
        font_size=text.size,
        font_weight="bold" if text.bold else None,
        transform=text.turn,
    )
    return f'<text x="{cut(text.left)}" y="{cut(text.baseline)}"{style}>{escape(text.text, quote=False)}</text>'


def _outlined(texts: Sequence[Text]) -> list[str]:
    """Write each glyph once, in its font's own units, and the texts as uses of them."""
    used: dict[str, str] = {}
    drawn = [_glyphs(text, used) for text in texts]
    return ["<defs>", *used.values(), "</defs>", *drawn] if used else drawn


def _glyphs(text: Text, used: dict[str, str]) -> str:
    font = face(bold=text.bold)
    uses = []
    for glyph, at in font.glyphs(text.text):
        if data := font.outline(glyph):
            key = f"{'b' if text.bold else 'r'}-{glyph}"
            used.setdefault(key, f'<path id="{key}" d="{data}"/>')
            uses.append(f'<use href="#{key}"{attributes(x=at or None)}/>')
    # The scale stays whole: it brings thousands of units to a few points.
    place = f"translate({cut(text.left)} {cut(text.baseline)}) scale({_scale(text.size, font.units)})"
    return f'<g fill="{text.colour}" transform="{text.turn or ""}{place}">{"".join(uses)}</g>'


@functools.cache
def _scale(size: float, units: int) -> str:
    scale = f"{size / units:.10f}".rstrip("0")
    return f"{scale} -{scale}"
