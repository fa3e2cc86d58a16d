"""Text in charts: the bundled fonts, how wide a text is, its outlines, and what to do with one that does not fit."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from fontTools.pens.svgPathPen import SVGPathPen
from fontTools.ttLib import TTFont

from reportgen.formatting import legible, shorten
from reportgen.resources import font_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_MISSING_GLYPH = "\u25a1"  # a box, which the fonts have


class Face:
    """One of the bundled fonts, in its own units: `units` of them are the size of the text."""

    def __init__(self, file: str) -> None:
        font = TTFont(font_path(file), lazy=True)
        self.units: int = font["head"].unitsPerEm
        self._names: Mapping[int, str] = font.getBestCmap()
        self._advances: Mapping[str, tuple[int, int]] = font["hmtx"].metrics
        self._glyphs = font.getGlyphSet()
        self._outlines: dict[str, str] = {}

    def __contains__(self, char: str) -> bool:
        return ord(char) in self._names

    def glyphs(self, text: str) -> Iterator[tuple[str, int]]:
        """Yield the glyphs of `text` and where each starts. Pairs are not set closer: the PDF does not do so either."""
        at = 0
        for char in text:
            name = self._name(char)
            yield name, at
            at += self._advances[name][0]

    def width(self, text: str) -> int:
        """Return how wide `text` is."""
        return sum(self._advances[self._name(char)][0] for char in text)

    def _name(self, char: str) -> str:
        return self._names.get(ord(char), ".notdef")

    def outline(self, glyph: str) -> str:
        """Return the path data of `glyph`, y upward; empty for a space."""
        if glyph not in self._outlines:
            pen = SVGPathPen(self._glyphs)
            self._glyphs[glyph].draw(pen)
            self._outlines[glyph] = pen.getCommands()
        return self._outlines[glyph]


@functools.cache
def face(*, bold: bool = False) -> Face:
    """Return the chart font; it is a file of the package, so no font of the machine can take its place."""
    return Face(f"LiberationSans-{'Bold' if bold else 'Regular'}")


def drawable(text: str, *, bold: bool = False) -> str:
    """Make a name from outside safe to draw: one line, and a box for each character that the font lacks."""
    known = face(bold=bold)
    return "".join(char if char in known else _MISSING_GLYPH for char in legible(text))


@functools.lru_cache(maxsize=4096)
def width_pt(text: str, size_pt: float, *, bold: bool = False) -> float:
    """Return how wide one line of `text` is, in points."""
    font = face(bold=bold)
    return font.width(text) * size_pt / font.units


def fit(text: str, limit_pt: float, size_pt: float, *, bold: bool = False) -> str:
    """Cut `text` in its middle until it is no wider than `limit_pt`."""
    shown, length = text, len(text)
    while width_pt(shown, size_pt, bold=bold) > limit_pt and length > 2:
        length = min(length - 1, int(length * limit_pt / width_pt(shown, size_pt, bold=bold)) + 1)
        shown = shorten(text, max(length, 2))
    return shown
