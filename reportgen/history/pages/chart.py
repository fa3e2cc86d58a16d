"""A small chart of one figure over the nights: plain SVG that takes the page's colours, light or dark.

A year of twenty cases is eighty charts on a page that must open at once: each is written as text in under a
millisecond, where a drawing library takes a hundred.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup, escape

from reportgen.report.terminal import plain

_WIDTH, _HEIGHT = 460.0, 132.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 62.0, 8.0, 24.0, 20.0
# A chart reaches at least this far to either side of its middle: a change of 5 % is seen, noise of 1 % is no mountain.
_LEAST_REACH = 0.15


class Series(NamedTuple):
    """A figure by the time of its night; `changes` are the nights on which a change of it was told."""

    label: str
    points: Mapping[str, float]
    text: Callable[[float], str]
    changes: Sequence[str]
    counts: bool = False


class Mark(NamedTuple):
    """A night from which on something else is another: a version (strong) or a commit."""

    at: str
    text: str
    strong: bool


def draw(series: Series, nights: Sequence[str], marks: Sequence[Mark]) -> Markup:
    """Return `series` as an SVG element over all `nights`, between two round values that its axis names."""
    x_of = {at: _LEFT + (_WIDTH - _LEFT - _RIGHT) * (i + 0.5) / len(nights) for i, at in enumerate(nights)}
    low, high = limits(list(series.points.values()), counts=series.counts)
    height = _HEIGHT - _TOP - _BOTTOM
    y_of = {at: _HEIGHT - _BOTTOM - height * (value - low) / (high - low) for at, value in series.points.items()}
    last = list(series.points.values())[-1:]
    parts = [
        f'<svg viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" role="img" class="trend">',
        f"<title>{escape(_alt(series))}</title>",
        _text(0, 12, series.label, "start", bold=True),
        *(_text(_WIDTH - _RIGHT, 12, series.text(value), "end", bold=True) for value in last),
        _text(_LEFT - 6, _TOP + 4, series.text(high), "end"),
        _text(_LEFT - 6, _HEIGHT - _BOTTOM + 4, series.text(low) if low else "0", "end"),
        *(f'<path class="axis" d="M{_LEFT:g} {y:g}H{_WIDTH - _RIGHT:g}"/>' for y in (_TOP, _HEIGHT - _BOTTOM)),
        _text(_LEFT, _HEIGHT - 4, nights[0][:10], "start"),
        *([_text(_WIDTH - _RIGHT, _HEIGHT - 4, nights[-1][:10], "end")] if len(nights) > 1 else []),
        *(_mark(mark, x_of[mark.at]) for mark in marks if mark.at in x_of),
        _line([(x_of[at], y_of[at]) for at in series.points]),
        *(_change(x_of[at], y_of[at]) for at in series.changes if at in y_of),
        "</svg>",
    ]
    return Markup("".join(parts))  # every text in it went through `escape`


def limits(values: Sequence[float], *, counts: bool = False) -> tuple[float, float]:
    """Return two round values around all `values`: from 0 where they are counts or reach down to half the largest."""
    largest, smallest = max(values, default=0.0), min(values, default=0.0)
    middle = statistics.median(values) if values else 0.0
    low, high = min(smallest, (1.0 - _LEAST_REACH) * middle), max(largest, (1.0 + _LEAST_REACH) * middle)
    if counts or low < high / 2.0:
        low = 0.0
    step = max(_round_up((high - low) / 4.0), 1.0 if counts else 0.0)
    return math.floor(low / step + 1e-6) * step, (math.ceil(high / step - 1e-6) or 1) * step


def _round_up(value: float) -> float:
    """Return 1, 2, 2.5 or 5 times a power of ten, at or above `value`; 1 for 0."""
    if value <= 0:
        return 1.0
    unit = 10.0 ** math.floor(math.log10(value))
    return next(step * unit for step in (1.0, 2.0, 2.5, 5.0, 10.0) if step * unit >= value * 0.999)


def _alt(series: Series) -> str:
    values = list(series.points.values())
    if not values:
        return f"{series.label}: not recorded"
    told = f"; {len(series.changes)} changes told" if series.changes else ""
    return plain(
        f"{series.label} over {len(values)} nights: last {series.text(values[-1])}, "
        f"between {series.text(min(values))} and {series.text(max(values))}{told}"
    )


def _line(points: Sequence[tuple[float, float]]) -> str:
    if len(points) == 1:
        x, y = points[0]
        return f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="2"/>'
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    return f'<path class="line" d="M{path}"/>' if points else ""


def _change(x: float, y: float) -> str:
    return f'<circle class="change" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'


def _mark(mark: Mark, x: float) -> str:
    name = f"<title>{escape(f'{mark.at[:10]}: {mark.text}')}</title>"
    if not mark.strong:
        return f'<path class="commit" d="M{x:.1f} {_HEIGHT - _BOTTOM:g}v3">{name}</path>'
    left = x < _WIDTH * 0.7
    label = _text(x + 4 if left else x - 4, _HEIGHT - _BOTTOM - 5, mark.text, "start" if left else "end")
    return f'<path class="version" d="M{x:.1f} {_TOP:g}V{_HEIGHT - _BOTTOM:g}">{name}</path>{label}'


def _text(x: float, y: float, text: str, anchor: str, *, bold: bool = False) -> str:
    weight = ' font-weight="700"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{weight}>{escape(text)}</text>'
