"""A small chart of one figure over the nights: plain SVG that takes the page's colours, light or dark.

A year of twenty cases is eighty charts on a page that must open at once: each is written as text in under a
millisecond, where a drawing library takes a hundred.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup, escape

from reportgen.report.terminal import plain

_WIDTH, _HEIGHT = 460.0, 110.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 62.0, 6.0, 20.0, 16.0


class Series(NamedTuple):
    """A figure by the time of its night; `changes` are the nights on which a change of it was told."""

    label: str
    points: Mapping[str, float]
    text: Callable[[float], str]
    changes: Sequence[str]


class Mark(NamedTuple):
    """A night from which on something else is another: a version (strong) or a commit."""

    at: str
    text: str
    strong: bool


def draw(series: Series, nights: Sequence[str], marks: Sequence[Mark]) -> Markup:
    """Return `series` as an SVG element over all `nights`, from 0 to its largest value."""
    x_of = {at: _LEFT + (_WIDTH - _LEFT - _RIGHT) * (i + 0.5) / len(nights) for i, at in enumerate(nights)}
    top = _nice(max(series.points.values(), default=0.0))
    y_of = {at: _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * value / top for at, value in series.points.items()}
    parts = [
        f'<svg viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" role="img" class="trend">',
        f"<title>{escape(_alt(series))}</title>",
        _text(0, 10, series.label, "start", bold=True),
        _text(_LEFT - 4, _TOP + 3, series.text(top), "end"),
        _text(_LEFT - 4, _HEIGHT - _BOTTOM + 3, "0", "end"),
        *(f'<path class="axis" d="M{_LEFT:g} {y:g}H{_WIDTH - _RIGHT:g}"/>' for y in (_TOP, _HEIGHT - _BOTTOM)),
        _text(_LEFT, _HEIGHT - 3, nights[0][:10], "start"),
        _text(_WIDTH - _RIGHT, _HEIGHT - 3, nights[-1][:10], "end"),
        *(_mark(mark, x_of[mark.at]) for mark in marks if mark.at in x_of),
        _line([(x_of[at], y_of[at]) for at in series.points]),
        *(_change(x_of[at], y_of[at]) for at in series.changes if at in y_of),
        "</svg>",
    ]
    return Markup("".join(parts))  # every text in it went through `escape`


def _nice(largest: float) -> float:
    """Return a round number at or a little above `largest`, 1 for 0."""
    if largest <= 0:
        return 1.0
    unit = 10.0 ** math.floor(math.log10(largest))
    return next(
        step * unit
        for step in (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
        if step * unit >= largest * 0.999
    )


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
    label = _text(x + 2, _TOP + 8, mark.text, "start" if x < _WIDTH * 0.7 else "end")
    return f'<path class="version" d="M{x:.1f} {_TOP:g}V{_HEIGHT - _BOTTOM:g}">{name}</path>{label}'


def _text(x: float, y: float, text: str, anchor: str, *, bold: bool = False) -> str:
    weight = ' font-weight="700"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{weight}>{escape(text)}</text>'
