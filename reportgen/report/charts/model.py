"""What a chart is to a document; needs no drawing library."""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING

from reportgen.report.charts.palette import coloured

if TYPE_CHECKING:
    from collections.abc import Callable

# The name under which a document brings the package's fonts, "Liberation Sans" as the machine may not have it.
FAMILY = "Report Sans"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Caption:
    """The text under a chart: what it shows, to be set in bold, then how it is read."""

    conclusion: str
    reading: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Chart:
    """A chart, for an `<img>` of exactly `width_mm` by `height_mm`: then its 8 pt are 8 pt on the page.

    `light_svg` and `dark_svg` are documents of their own without text elements, scripts or outside references, equal
    for equal input. `print_svg` is the light chart with its texts as texts in the family `FAMILY`, for a PDF that
    embeds that font: it takes half the time to lay out, and its labels can be searched. Each is made when it is first
    asked for. `alt` names every figure of the chart. None of the texts is escaped for HTML.
    """

    name: str  # unique within a report's charts of one case: "budget", "memory"
    # Returns the SVG in the codes of `palette`, its texts as outlines (True) or as texts.
    draw: Callable[[bool], str] = dataclasses.field(repr=False, compare=False)
    alt: str
    caption: Caption
    width_mm: float
    height_mm: float

    @functools.cached_property
    def light_svg(self) -> str:
        """The chart for a light page."""
        return coloured(self._screen_svg, page=0)

    @functools.cached_property
    def dark_svg(self) -> str:
        """The chart for a dark page."""
        return coloured(self._screen_svg, page=1)

    @functools.cached_property
    def print_svg(self) -> str:
        """The light chart with its texts as texts."""
        return coloured(self.draw(False), page=0)

    @functools.cached_property
    def _screen_svg(self) -> str:
        return self.draw(True)
