"""Axes: where a value lies on the page, which values get a tick, and how the axis is drawn."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

from reportgen.formatting import THIN
from reportgen.report.charts.canvas import TEXT, WIDTH
from reportgen.report.charts.text import width_pt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.report.charts.canvas import Canvas

TICK = 3.0
_LABEL_GAP = 2.5
_TITLE = 12.0  # the room of a title that stands on its side
_MOST_POWERS = 8


@dataclasses.dataclass(frozen=True, kw_only=True)
class Scale:
    """Maps values from `low` to `high` onto points from `start` to `end`; `log` for equal factors at equal lengths."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """Return where `value` lies, in points."""
        low, high = self.low, self.high
        if self.log:
            low, high, value = math.log10(low), math.log10(high), math.log10(value)
        return self.start + (value - low) / (high - low) * (self.end - self.start)

    def ticks(self, most: int = 7) -> list[float]:
        """Return round values on the axis: at most `most`, or every power of ten."""
        if self.log:
            powers = range(math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9) + 1)
            return [10.0**power for power in powers[:: math.ceil(len(powers) / _MOST_POWERS) or 1]]
        step = _round_step((self.high - self.low) / most)
        numbers = range(math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9) + 1)
        return [number * step for number in numbers]


def _round_step(least: float) -> float:
    """Return the smallest of 1, 2, 2.5 and 5 times a power of ten that is no less than `least`."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1.0, 2.0, 2.5, 5.0, 10.0) if factor * power >= least * (1 - 1e-9))


def tick_labels(values: Sequence[float], *, log: bool = False) -> list[str]:
    """Write ticks with as many decimals as tell them apart; powers of ten each in its own way (0.01, 1, 1 000)."""
    if log:
        return [f"{value:,.{max(0, -round(math.log10(value)))}f}".replace(",", THIN) for value in values]
    for decimals in range(6):
        if all(math.isclose(round(value, decimals), value, rel_tol=1e-9, abs_tol=1e-12) for value in values):
            break
    return [f"{value:,.{decimals}f}".replace(",", THIN) for value in values]


def draw_bottom_axis(
    canvas: Canvas, scale: Scale, y: float, title: str, *, grid_top: float | None = None, most: int = 7
) -> None:
    """Draw ticks and their figures under `y`, a title below, and hairlines up to `grid_top`."""
    values = scale.ticks(most)
    if grid_top is not None:
        for value in values:
            canvas.line([(scale(value), y), (scale(value), grid_top)], canvas.theme.grid, behind=True)
    for value, label in zip(values, tick_labels(values, log=scale.log), strict=True):
        canvas.line([(scale(value), y), (scale(value), y + TICK)], canvas.theme.axis)
        x = min(scale(value), WIDTH - width_pt(label, TEXT) / 2)
        canvas.text(x, y + TICK + 6.0, label, colour=canvas.theme.muted, align="center")
    canvas.text((scale.start + scale.end) / 2, y + TICK + 15.5, title, colour=canvas.theme.muted, align="center")


def left_axis_width(scale: Scale, most: int = 5) -> float:
    """Return the room that a left axis takes: its title, its figures and their ticks."""
    labels = tick_labels(scale.ticks(most), log=scale.log)
    return _TITLE + max((width_pt(label, TEXT) for label in labels), default=0.0) + _LABEL_GAP + TICK


def draw_left_axis(
    canvas: Canvas, scale: Scale, x: float, title: str, *, grid_right: float | None = None, most: int = 5
) -> None:
    """Draw figures left of `x`, a title beside them, and hairlines to `grid_right`."""
    values = scale.ticks(most)
    for value, label in zip(values, tick_labels(values, log=scale.log), strict=True):
        if grid_right is not None:
            canvas.line([(x, scale(value)), (grid_right, scale(value))], canvas.theme.grid, behind=True)
        canvas.line([(x - TICK, scale(value)), (x, scale(value))], canvas.theme.axis)
        canvas.text(x - TICK - _LABEL_GAP, scale(value), label, colour=canvas.theme.muted, align="right")
    canvas.text(5.0, (scale.start + scale.end) / 2, title, colour=canvas.theme.muted, align="center", angle=90)
