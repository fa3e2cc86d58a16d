"""Text in charts: the bundled fonts, how wide a text is, and what to do with one that does not fit."""

from __future__ import annotations

import functools

from matplotlib.font_manager import FontProperties, get_font

from reportgen.formatting import legible, shorten
from reportgen.report.charts.model import FAMILY
from reportgen.resources import font_path

# Measured at a size where the rounding of hinted widths to pixels does not show.
_MEASURED = 1000.0
_MISSING_GLYPH = "\u25a1"  # a box, which the fonts have


@functools.cache
def font(size_pt: float, *, bold: bool = False) -> FontProperties:
    """Return the chart font; it is named by its file, so no font of the machine can take its place.

    Family and weight are what a text that stays text is marked with (`Chart.print_svg`).
    """
    weight = "bold" if bold else "normal"
    return FontProperties(fname=_file(bold=bold), family=[FAMILY], weight=weight, size=size_pt)


@functools.cache
def _file(*, bold: bool) -> str:
    return str(font_path(f"LiberationSans-{'Bold' if bold else 'Regular'}"))


@functools.cache
def _known(*, bold: bool) -> frozenset[int]:
    return frozenset(get_font(_file(bold=bold)).get_charmap())


def drawable(text: str, *, bold: bool = False) -> str:
    """Make a name from outside safe to draw: one line, and a box for each character that the font lacks."""
    known = _known(bold=bold)
    return "".join(char if ord(char) in known else _MISSING_GLYPH for char in legible(text))


@functools.lru_cache(maxsize=4096)
def width_pt(text: str, size_pt: float, *, bold: bool = False) -> float:
    """Return how wide the widest line of `text` is, in points."""
    face = get_font(_file(bold=bold))
    face.set_size(100, 72)  # unhinted at a size where rounding to pixels does not show
    face.set_size(_MEASURED, 72)
    widths = []
    for line in text.split("\n"):
        face.set_text(line, 0.0)
        widths.append(face.get_width_height()[0] / 64)
    return max(widths) * size_pt / _MEASURED


def fit(text: str, limit_pt: float, size_pt: float, *, bold: bool = False) -> str:
    """Cut `text` in its middle until it is no wider than `limit_pt`."""
    shown, length = text, len(text)
    while width_pt(shown, size_pt, bold=bold) > limit_pt and length > 2:
        length = min(length - 1, int(length * limit_pt / width_pt(shown, size_pt, bold=bold)) + 1)
        shown = shorten(text, max(length, 2))
    return shown
