"""Labels beside marks: each takes the first of its places where it meets nothing."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from reportgen.report.charts.canvas import TEXT, WIDTH
from reportgen.report.charts.text import width_pt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.report.charts.canvas import Align, Canvas

Rectangle = tuple[float, float, float, float]  # left, top, right, bottom
Place = tuple[float, float, "Align"]  # where the label is anchored, its middle, and which side of it that is
_HALF_LINE = 4.6
_ROOM = 2.0  # to what stands beside a label


class Labels:
    """The labels of one chart and all that they must not cover; all within `left` and `bottom`."""

    def __init__(self, canvas: Canvas, *, left: float, bottom: float) -> None:
        self._canvas = canvas
        self._left = left
        self._bottom = bottom
        self._taken: list[Rectangle] = []

    def avoid(self, rectangle: Rectangle) -> None:
        """Keep labels off `rectangle`."""
        self._taken.append(rectangle)

    def avoid_curve(self, line: Sequence[tuple[float, float]]) -> None:
        """Keep labels off a curve and all that lies under it."""
        for (left, first), (right, second) in itertools.pairwise(line):
            self.avoid((left, min(first, second) - 1.0, max(right, left + 0.5), self._bottom))

    def place(
        self,
        places: Sequence[Place],
        text: str,
        *,
        colour: str | None = None,
        bold: bool = False,
        force: bool = False,
    ) -> bool:
        """Write `text` at the first of `places` that is free; at the last with `force`. Tell whether it was written."""
        for index, (x, y, align) in enumerate(places):
            rectangle = _extent(x, y, align, width_pt(text, TEXT, bold=bold))
            if self._is_free(rectangle) or (force and index == len(places) - 1):
                self._canvas.text(rectangle[0], y, text, colour=colour, bold=bold)
                self._taken.append(rectangle)
                return True
        return False

    def _is_free(self, wanted: Rectangle) -> bool:
        left, top, right, bottom = wanted
        if left < self._left or right > WIDTH or top < 0 or bottom > self._bottom:
            return False
        return not any(
            left - _ROOM < other_right and other_left < right + _ROOM and top < other_bottom and other_top < bottom
            for other_left, other_top, other_right, other_bottom in self._taken
        )


def _extent(x: float, y: float, align: Align, width: float) -> Rectangle:
    left = {"left": x, "center": x - width / 2, "right": x - width}[align]
    return left, y - _HALF_LINE, left + width, y + _HALF_LINE
