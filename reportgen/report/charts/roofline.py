"""Roofline: how near each operator comes to what the device was measured to reach."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

from reportgen.formatting import (
    NBSP,
    byte_rate,
    duration,
    flop_rate,
    listing,
    number,
    operator_name,
    shapes,
    share,
)
from reportgen.report.charts.canvas import TEXT, WIDTH, make_chart
from reportgen.report.charts.labels import Labels
from reportgen.report.charts.model import Caption
from reportgen.report.charts.scale import Scale, draw_bottom_axis, draw_left_axis, left_axis_width
from reportgen.report.charts.text import drawable, fit, width_pt

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.analysis.model import CaseAnalysis, Operator
    from reportgen.recording import Device
    from reportgen.report.charts.canvas import Canvas
    from reportgen.report.charts.labels import Place
    from reportgen.report.charts.model import Chart

_TOP, _HEIGHT = 3.0, 146.0
_RIGHT = WIDTH - 3.0
_BOTTOM = _TOP + _HEIGHT
# Operators with less device time a step are no marks; marks are never smaller than can be seen.
_LEAST_US = 1.0
_LARGEST_MARK, _LEAST_MARK = 19.0, 4.0
_MOST_LABELS, _MOST_LABEL, _BOLD_SHARE = 9, 190.0, 0.2
_MOST_TOLD = 20  # in the alternative text; the others are there as a sum
_MARK_ROOM = 4.0  # around a mark, so that no label stands nearer to another's
_EDGE = 100.0  # a mark this near to the right edge may have its label end there
# Marks further under the roof would press the others together: they are counted.
_FLOOR = 1e-7
_DECADE_ROOM = 1.6  # beyond the outermost mark


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Mark:
    """An operator at one signature: where it lies and how it is named."""

    case: int
    case_name: str
    operator: str
    shapes: str
    intensity: float  # FLOP per byte
    flops_per_s: float
    device_us: float
    share_of_device: float
    roof_share: float | None

    @property
    def figures(self) -> str:
        """Say what it takes of a step and how much of its roof it reaches: "426 µs a step · 12 %"."""
        reached = f" · {share(self.roof_share, 0)}" if self.roof_share is not None else ""
        return f"{duration(self.device_us)} a step{reached}"

    @property
    def name(self) -> str:
        return f"{self.operator} {self.shapes}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Roofs:
    """The device's ceilings; `rates` holds the one that stands over the marks."""

    bytes_per_s: float
    rates: tuple[tuple[str, float], ...]
    method: str

    @property
    def ridge(self) -> float:
        """Return the intensity from which that rate limits, FLOP per byte."""
        return self.rates[0][1] / self.bytes_per_s


def roofline_chart(cases: Sequence[CaseAnalysis], devices: Sequence[Device]) -> Chart | None:
    """Draw the operators of all cases under the ceilings of their device; None while work or ceilings are unknown."""
    roofs = _roofs(devices, cases)
    if roofs is None:
        return None
    floor = roofs.rates[0][1] * _FLOOR
    marks = [mark for index, case in enumerate(cases) for mark in _marks(index, case) if mark.flops_per_s >= floor]
    if not marks:
        return None
    names = [case.name for case in cases]

    def draw(canvas: Canvas) -> None:
        _draw(canvas, roofs, marks, names)

    return make_chart(
        "roofline",
        _BOTTOM + 26.0,
        draw,
        alt=_alt(roofs, marks),
        caption=_caption(roofs, marks, sum(_is_told(row) for case in cases for row in case.operators.items)),
    )


def _roofs(devices: Sequence[Device], cases: Sequence[CaseAnalysis]) -> _Roofs | None:
    """Return the ceilings of the first device that has any; of its rates that of the arithmetic used most."""
    # By arithmetic, not by time: what adds two tensors in float32 needs none of the rate of a product in float32.
    used: dict[str, float] = {}
    for operator in (row for case in cases for row in case.operators.items):
        if operator.ceiling and operator.flops:
            used[operator.ceiling] = used.get(operator.ceiling, 0.0) + operator.flops * operator.working_calls_per_step
    for device in devices:
        ceilings = device.ceilings
        if ceilings.copy_bytes_per_s and ceilings.matmul_flops_per_s:
            rates = sorted(ceilings.matmul_flops_per_s.items(), key=lambda item: (-used.get(item[0], 0.0), -item[1]))
            return _Roofs(
                bytes_per_s=ceilings.copy_bytes_per_s,
                rates=tuple((name, rate) for name, rate in rates if rate > 0)[:1],
                method=ceilings.method or "given",
            )
    return None


def _is_told(operator: Operator) -> bool:
    return (operator.device_us_per_step or 0.0) >= _LEAST_US


def _marks(index: int, case: CaseAnalysis) -> Iterator[_Mark]:
    for operator in case.operators.items:
        device_us, per_call_us = operator.device_us_per_step, operator.device_us_per_call
        if not (_is_told(operator) and operator.flops and operator.bytes and device_us and per_call_us):
            continue
        yield _Mark(
            case=index,
            case_name=case.name,
            operator=operator_name(operator.name),
            shapes=shapes(operator.input_shapes, operator.input_types, operator.name),
            intensity=operator.flops / operator.bytes,
            flops_per_s=operator.flops / per_call_us * 1e6,
            device_us=device_us,
            share_of_device=operator.share_of_device or 0.0,
            roof_share=operator.roof_share,
        )


def _draw(canvas: Canvas, roofs: _Roofs, marks: Sequence[_Mark], names: Sequence[str]) -> None:
    x, y = _scales(roofs, marks)
    left = x.start
    theme = canvas.theme
    draw_left_axis(canvas, y, left, "achieved, TFLOP/s", grid_right=_RIGHT)
    draw_bottom_axis(canvas, x, _BOTTOM, "arithmetic intensity, FLOP per byte", grid_top=_TOP)
    canvas.line([(left, _TOP), (left, _BOTTOM)], theme.axis)
    canvas.line([(left, _BOTTOM), (_RIGHT, _BOTTOM)], theme.axis)
    labels = Labels(canvas, left=left + 2, bottom=_BOTTOM - 1)
    _draw_roofs(canvas, labels, roofs, x, y)
    largest = max(mark.device_us for mark in marks)
    ranked = sorted(marks, key=lambda mark: -mark.device_us)
    sizes = [max(_LARGEST_MARK * math.sqrt(mark.device_us / largest), _LEAST_MARK) for mark in ranked]
    places = [(x(mark.intensity), y(mark.flops_per_s / 1e12)) for mark in ranked]
    for mark, size, (at, high) in zip(ranked, sizes, places, strict=True):
        canvas.marks([(at, high)], size, square=mark.case % 4 in (1, 2), filled=mark.case % 2 == 0)
        room = size / 2 + _MARK_ROOM
        labels.avoid((at - room, high - room, at + room, high + room))
    _draw_key(canvas, labels, names, sorted({mark.case for mark in marks}))
    num_cases = len({mark.case for mark in marks})
    for mark, size, place in list(zip(ranked, sizes, places, strict=True))[:_MOST_LABELS]:
        _label(labels, mark, size, place, mark.case_name if num_cases > 1 else "")


def _scales(roofs: _Roofs, marks: Sequence[_Mark]) -> tuple[Scale, Scale]:
    """Return scales that hold every mark, the ridge, and the roof with room for its name."""
    intensities = [*(mark.intensity for mark in marks), roofs.ridge]
    rates = [*(mark.flops_per_s / 1e12 for mark in marks), roofs.rates[0][1] / 1e12]
    lowest, highest = min(rates) / _DECADE_ROOM / 2, max(rates) * _DECADE_ROOM * 1.7
    y = Scale(low=lowest, high=highest, start=_BOTTOM, end=_TOP, log=True)
    low, high = min(intensities) / _DECADE_ROOM, max(intensities) * 2 * _DECADE_ROOM
    return Scale(low=low, high=high, start=left_axis_width(y), end=_RIGHT, log=True), y


def _draw_roofs(canvas: Canvas, labels: Labels, roofs: _Roofs, x: Scale, y: Scale) -> None:
    """Draw the slope of memory and the level of arithmetic, each with its name along it."""
    theme = canvas.theme
    kind, rate = roofs.rates[0]
    ridge, level = x(roofs.ridge), y(rate / 1e12)
    start = max(x.low, y.low * 1e12 / roofs.bytes_per_s)
    foot = (x(start), y(start * roofs.bytes_per_s / 1e12))
    canvas.line([foot, (ridge, level), (x.end, level)], theme.ink, width=1.4)
    canvas.line([(ridge, level), (ridge, _BOTTOM)], theme.muted, dashed=True, behind=True)
    text = f"{flop_rate(rate)}, {kind} product, {roofs.method}"
    labels.place([(x.end, level - 7.0, "right")], text, force=True)
    slope = math.atan2(foot[1] - level, ridge - foot[0])
    text = f"{byte_rate(roofs.bytes_per_s)}, copy, {roofs.method}"
    along = 0.5 * math.hypot(ridge - foot[0], foot[1] - level)
    canvas.text(
        foot[0] + along * math.cos(slope) - 6.5 * math.sin(slope),
        foot[1] - along * math.sin(slope) - 6.5 * math.cos(slope),
        text,
        align="center",
        angle=math.degrees(slope),
    )
    # Both the line and its name: labels stay off a band above and below the slope.
    for step in range(60):
        at = foot[0] + (ridge - foot[0]) * step / 60
        high = foot[1] + (level - foot[1]) * step / 60
        named = abs(step / 60 - 0.5) * math.hypot(ridge - foot[0], foot[1] - level) < width_pt(text, TEXT) / 2 + 4
        labels.avoid((at, high - (16.0 if named else 2.0), at + (ridge - foot[0]) / 60, high + 2.0))
    labels.avoid((ridge, level - 2.0, x.end, level + 2.0))
    ridge_text = f"ridge: {number(roofs.ridge)} FLOP per byte"
    labels.place(
        [(ridge + 4, _BOTTOM - 7.0, "left"), (ridge - 4, _BOTTOM - 7.0, "right")], ridge_text, colour=theme.muted
    )


def _draw_key(canvas: Canvas, labels: Labels, names: Sequence[str], used: Sequence[int]) -> None:
    """Tell the cases apart by their marks, in the corner where operators seldom lie."""
    if len(used) < 2:
        return
    shown = [fit(drawable(names[case]), 100.0, TEXT) for case in used]
    left = _RIGHT - max(width_pt(name, TEXT) for name in shown) - 14.0
    top = _BOTTOM - 22.0 - 12.0 * len(used)
    for row, (case, name) in enumerate(zip(used, shown, strict=True)):
        y = top + 12.0 * row
        canvas.marks([(left + 4, y)], 6.0, square=case % 4 in (1, 2), filled=case % 2 == 0)
        canvas.text(left + 12, y, name)
    labels.avoid((left, top - 6.0, _RIGHT, top + 12.0 * len(used)))


def _label(labels: Labels, mark: _Mark, size: float, place: tuple[float, float], case: str) -> None:
    """Name a mark beside it: with its shapes where there is room, else without."""
    at, high = place
    aside = size / 2 + _MARK_ROOM + 2.1
    places: list[Place] = [(at + aside, high, "left"), (at - aside, high, "right")]
    places += [(at, high + rise, "center") for rise in (aside + 2.6, -aside - 2.6)]
    places += [(at + aside, high + rise, "left") for rise in (9.0, -9.0, 18.0, -18.0)]
    places += [(at - aside, high + rise, "right") for rise in (9.0, -9.0, 18.0, -18.0)]
    if at > _RIGHT - _EDGE:
        places += [(_RIGHT, high + rise, "right") for rise in (aside + 3, -aside - 3, aside + 13, -aside - 13)]
    bold = mark.share_of_device >= _BOLD_SHARE
    who = f"{case}, " if case else ""
    for name in (mark.name, mark.operator):
        text = drawable(f"{who}{name}: {mark.figures}", bold=bold)
        if width_pt(text, TEXT, bold=bold) <= _MOST_LABEL and labels.place(places, text, bold=bold):
            return
    text = fit(drawable(f"{who}{mark.operator}", bold=bold), 90.0, TEXT, bold=bold)
    labels.place(places, f"{text}: {mark.figures}", bold=bold)


def _alt(roofs: _Roofs, marks: Sequence[_Mark]) -> str:
    kind, rate = roofs.rates[0]
    ranked = sorted(marks, key=lambda mark: -mark.device_us)
    each = [
        f"{mark.case_name} {mark.name}: {mark.figures}, {flop_rate(mark.flops_per_s)} at {number(mark.intensity)} "
        "FLOP per byte"
        for mark in ranked[:_MOST_TOLD]
    ]
    if len(ranked) > _MOST_TOLD:
        rest_us = sum(mark.device_us for mark in ranked[_MOST_TOLD:])
        each.append(f"{len(ranked) - _MOST_TOLD} more with {duration(rest_us)} together")
    return (
        f"Roofline with ceilings of {byte_rate(roofs.bytes_per_s)} (copy) and {flop_rate(rate)} ({kind} product), "
        f"{roofs.method}; they meet at {number(roofs.ridge)} FLOP per byte. {'; '.join(each)}."
    )


def _caption(roofs: _Roofs, marks: Sequence[_Mark], num_shapes: int) -> Caption:
    by_case: dict[str, _Mark] = {}
    for mark in sorted(marks, key=lambda mark: -mark.device_us):
        by_case.setdefault(mark.case_name, mark)
    clauses = [
        f"{case}’s largest, {mark.name}, reaches {share(mark.roof_share, 0)} of its roof"
        if mark.roof_share is not None
        else f"{case}’s largest, {mark.name}, reaches {flop_rate(mark.flops_per_s)}"
        for case, mark in by_case.items()
    ]
    text = listing(clauses)
    roof = "this device was measured to go" if roofs.method == "measured" else "the data sheet says"
    of, others = "", ""
    if num_shapes > len(marks):
        of, others = f" of {num_shapes}", " The others do next to no arithmetic, or none is known."
    marked = f"{len(marks)}{of} operator {'shape' if num_shapes == 1 else 'shapes'} of {_LEAST_US:.0f}{NBSP}µs a step"
    return Caption(
        conclusion=f"{text}.",
        reading=f"{marked} and more: the area of a mark is its device time a step, the percentage its share of the "
        f"roof. On the line is as fast as {roof}.{others}",
    )
