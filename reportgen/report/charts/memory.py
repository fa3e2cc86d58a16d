"""Memory over one step: what is allocated, what is reserved, where the peak and the spikes are."""

from __future__ import annotations

import dataclasses
import itertools
from typing import TYPE_CHECKING

import numpy as np

from reportgen.formatting import bytes_unit, operator_name, plural, size, step_unit
from reportgen.report.charts.canvas import TEXT, WIDTH, make_chart
from reportgen.report.charts.labels import Labels
from reportgen.report.charts.model import Caption
from reportgen.report.charts.scale import Scale, draw_bottom_axis, draw_left_axis, left_axis_width
from reportgen.report.charts.text import drawable, fit
from reportgen.report.memory_levels import Levels, levels_of
from reportgen.report.wording import pass_of_curve, step_of_curve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.analysis.model import CaseAnalysis, Memory, MemoryCurve, Spike
    from reportgen.report.charts.canvas import Align, Canvas
    from reportgen.report.charts.labels import Place
    from reportgen.report.charts.model import Chart

_PLOT_TOP, _PLOT_HEIGHT = 0.0, 98.0
_RIGHT = WIDTH - 1.0
_MOST_SPIKES = 3
# A spike belongs to a point of the curve that stands as high above the start, to this share of the peak.
_SAME_HEIGHT = 0.02
# Reserved memory further above the peak than this would press the curve to the ground: it is written, not drawn.
_MOST_RESERVED = 1.6


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Point:
    """A place on the curve and what is written beside it."""

    time_us: float
    bytes: int
    label: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Sheet:
    """What is drawn of one case's memory."""

    case: str
    curve: MemoryCurve
    levels: Levels
    peak: _Point
    spikes: tuple[_Point, ...]
    reserved_bytes: int | None
    reserved_drawn: bool


def memory_chart(case: CaseAnalysis) -> Chart | None:
    """Draw allocated and reserved memory over the step that holds the peak; None where no curve was recorded."""
    memory = case.memory
    if (
        memory is None
        or memory.curve is None
        or len(memory.curve.time_us) < 2
        or max(memory.curve.allocated_bytes) <= 0
    ):
        return None
    sheet = _read(case.name, memory, memory.curve)

    def draw(canvas: Canvas) -> None:
        _draw(canvas, sheet)

    height = _PLOT_TOP + _PLOT_HEIGHT + 25.0
    return make_chart("memory", height, draw, alt=_alt(sheet, memory), caption=_caption(case, sheet, memory))


def _read(case: str, memory: Memory, curve: MemoryCurve) -> _Sheet:
    levels = levels_of(memory, curve)
    highest = int(np.argmax(curve.allocated_bytes))
    peak_bytes = curve.allocated_bytes[highest]
    reserved = max(curve.reserved_bytes) if curve.reserved_bytes else memory.peak_reserved_bytes
    placed = [
        (spike, index) for spike in memory.spikes if (index := _place(spike, curve, levels.start_bytes)) is not None
    ]
    at_peak = next((spike for spike, index in placed if index == highest), None)
    return _Sheet(
        case=case,
        curve=curve,
        levels=levels,
        peak=_Point(
            time_us=curve.time_us[highest],
            bytes=peak_bytes,
            label=f"peak {size(peak_bytes)}" + (f": {_spike_name(at_peak)}" if at_peak else ""),
        ),
        spikes=tuple(
            _Point(time_us=curve.time_us[index], bytes=curve.allocated_bytes[index], label=_spike_name(spike))
            for spike, index in placed
            if spike is not at_peak
        )[:_MOST_SPIKES],
        reserved_bytes=reserved,
        reserved_drawn=curve.reserved_bytes is not None
        and reserved is not None
        and reserved <= _MOST_RESERVED * peak_bytes,
    )


def _place(spike: Spike, curve: MemoryCurve, start_bytes: int) -> int | None:
    """Return the point of the curve where a spike stands: the first that is as high as the spike is said to be."""
    heights = np.asarray(curve.allocated_bytes, dtype=np.int64)
    error = np.abs(heights - start_bytes - spike.above_baseline_bytes)
    index = int(np.argmin(error))
    return index if error[index] <= _SAME_HEIGHT * heights.max() else None


def _spike_name(spike: Spike) -> str:
    who = operator_name(spike.operator) if spike.operator else spike.source.function if spike.source else "a spike"
    return f"{who} adds {size(spike.bytes)}"


def _draw(canvas: Canvas, sheet: _Sheet) -> None:
    curve, theme = sheet.curve, canvas.theme
    top_bytes = max(sheet.peak.bytes, sheet.reserved_bytes or 0 if sheet.reserved_drawn else 0)
    unit, unit_bytes = bytes_unit(top_bytes)
    time_unit, unit_us = step_unit(curve.time_us[-1])
    bottom = _PLOT_TOP + _PLOT_HEIGHT
    y = Scale(low=0.0, high=top_bytes / unit_bytes * 1.02, start=bottom, end=_PLOT_TOP + 12.0)
    left = left_axis_width(y)
    x = Scale(low=0.0, high=curve.time_us[-1] / unit_us, start=left, end=_RIGHT)
    draw_left_axis(canvas, y, left, f"{unit} allocated")
    draw_bottom_axis(canvas, x, bottom, f"time in the step that holds the peak, {time_unit}")
    values = [sheet.levels.start_bytes, *curve.allocated_bytes]
    line = _steps([left, *(x(time / unit_us) for time in curve.time_us)], [y(value / unit_bytes) for value in values])
    lasting, start = y(sheet.levels.lasting_bytes / unit_bytes), y(sheet.levels.start_bytes / unit_bytes)
    for low, high, fill in (
        (bottom, lasting, theme.area_light),
        (lasting, start, theme.area_lightest),
        (start, _PLOT_TOP, theme.area),
    ):
        _draw_band(canvas, line, low, high, fill)
    canvas.line(line, theme.ink, width=0.9)
    canvas.line([(left, bottom), (_RIGHT, bottom)], theme.axis)
    _label_bands(canvas, sheet, left + 4, (bottom, lasting, start))
    labels = Labels(canvas, left=left + 2, bottom=bottom)
    _draw_reserved(canvas, labels, sheet, x, y, (unit_us, unit_bytes))
    labels.avoid_curve(line)
    _label_points(canvas, labels, sheet, x, y, (unit_us, unit_bytes))


def _steps(xs: Sequence[float], ys: Sequence[float]) -> list[tuple[float, float]]:
    """Return the corners of a curve that keeps each value until the next."""
    corners = [(xs[0], ys[0])]
    for index in range(1, len(xs)):
        corners += [(xs[index], ys[index - 1]), (xs[index], ys[index])]
    return corners


def _draw_band(canvas: Canvas, line: Sequence[tuple[float, float]], low: float, high: float, fill: str) -> None:
    """Fill what lies under the curve between two heights; y grows downward."""
    if low - high < 0.1:
        return
    upper = [(x, min(max(y, high), low)) for x, y in line]
    canvas.areas([[(line[0][0], low), *upper, (line[-1][0], low)]], fill)


def _label_bands(canvas: Canvas, sheet: _Sheet, x: float, levels: tuple[float, float, float]) -> None:
    """Name what is alive throughout and what was alive before the step, where the bands are high enough."""
    bottom, lasting, start = levels
    before = sheet.levels.start_bytes - sheet.levels.lasting_bytes
    what = "other, alive before the step" if sheet.levels.lasting_bytes else "alive before the step"
    for low, high, text in (
        (bottom, lasting, f"{sheet.levels.lasting}, {size(sheet.levels.lasting_bytes)}"),
        (lasting, start, f"{what}, {size(before)}"),
    ):
        if low - high > TEXT + 2.0:
            canvas.text(x, max((low + high) / 2, high + 9.0) if low - high < 40 else high + 10.0, text)


def _draw_reserved(
    canvas: Canvas, labels: Labels, sheet: _Sheet, x: Scale, y: Scale, units: tuple[float, float]
) -> None:
    """Draw what the allocator holds, and name it on the side away from the peak."""
    if not sheet.reserved_bytes:
        return
    unit_us, unit_bytes = units
    text = f"reserved by the allocator: {size(sheet.reserved_bytes)}"
    peak_right = sheet.peak.time_us / unit_us > (x.low + x.high) / 2
    at = x.start + 4 if peak_right else _RIGHT
    align: Align = "left" if peak_right else "right"
    if not sheet.reserved_drawn or sheet.curve.reserved_bytes is None:
        labels.place([(at, y.end - 6.5, align)], f"{text}, above this chart", colour=canvas.theme.muted, force=True)
        return
    xs = [x.start, *(x(time / unit_us) for time in sheet.curve.time_us)]
    ys = [y(value / unit_bytes) for value in (sheet.curve.reserved_bytes[0], *sheet.curve.reserved_bytes)]
    line = _steps(xs, ys)
    canvas.line(line, canvas.theme.mark, width=0.8, dashed=True)
    labels.place([(at, min(ys) - 6.5, align)], text, colour=canvas.theme.muted, force=True)
    for (left, top), (right, bottom) in itertools.pairwise(line):
        labels.avoid((left, min(top, bottom) - 0.5, right, max(top, bottom) + 0.5))


def _label_points(
    canvas: Canvas, labels: Labels, sheet: _Sheet, x: Scale, y: Scale, units: tuple[float, float]
) -> None:
    """Mark the peak and the spikes; name the peak always, a spike where its name has room."""
    unit_us, unit_bytes = units
    for point in (sheet.peak, *sheet.spikes):
        is_peak = point is sheet.peak
        at, high = x(point.time_us / unit_us), y(point.bytes / unit_bytes)
        canvas.marks([(at, high)], 4.6, filled=is_peak)
        text = fit(drawable(point.label, bold=is_peak), (_RIGHT - x.start) * 0.45, TEXT, bold=is_peak)
        places: list[Place] = [(at - 6, high, "right"), (at + 6, high, "left")]
        places += [(at, high - 9.0, "center"), (at - 4, high - 9.0, "left"), (at + 4, high - 9.0, "right")]
        places += [(at, high - rise, "center") for rise in (14.0, 19.0)]
        if is_peak:
            to_right = at > (x.start + _RIGHT) / 2
            places.append((_RIGHT, y.end - 6.5, "right") if to_right else (x.start + 4, y.end - 6.5, "left"))
        else:
            places += [(at - 4, high - 10.0, "right"), (at + 4, high - 10.0, "left")]
        labels.place(places, text, bold=is_peak, force=is_peak)


def _added(sheet: _Sheet) -> str:
    return size(max(sheet.peak.bytes - sheet.levels.start_bytes, 0))


def _alt(sheet: _Sheet, memory: Memory) -> str:
    parts = [
        f"Allocated memory over one step of {sheet.case}: {size(sheet.levels.start_bytes)} at its start",
        f"{sheet.peak.label}, {_added(sheet)} above the start",
    ]
    if sheet.levels.lasting_bytes:
        other = size(sheet.levels.start_bytes - sheet.levels.lasting_bytes)
        parts.insert(
            1, f"of it {size(sheet.levels.lasting_bytes)} of {sheet.levels.lasting} and {other} of other blocks"
        )
    parts += [f"{point.label}, to {size(point.bytes)}" for point in sheet.spikes]
    if sheet.reserved_bytes:
        parts.append(f"{size(sheet.reserved_bytes)} reserved by the allocator")
    if memory.basis == "unprofiled" and memory.peak_allocated_bytes is not None:
        parts.append(f"{size(memory.peak_allocated_bytes)} at the peak of unprofiled steps")
    return f"{'; '.join(parts)}."


def _caption(case: CaseAnalysis, sheet: _Sheet, memory: Memory) -> Caption:
    who = sheet.peak.label.partition(": ")[2]
    if memory.since_recording:
        return Caption(
            conclusion=f"{sheet.case} peaks at {size(sheet.peak.bytes)} above what was there before the recording.",
            reading="A host’s allocator is not counted before that. The width is that of the profiled step, whose host "
            "is slowed. Pale: alive before the step.",
        )
    where = f" in the {pass_of_curve(memory)}" if case.passes else ""
    conclusion = f"{sheet.case} peaks at {size(sheet.peak.bytes)}{where}"
    conclusion += f", {_added(sheet)} above the step’s start"
    if who:
        conclusion += f", where {who}"
    marks = f" Circles: {plural(len(sheet.spikes), 'spike')}." if sheet.spikes else ""
    dashed = " Dashed: reserved." if sheet.reserved_drawn else ""
    return Caption(
        conclusion=f"{conclusion}.",
        reading="Heights are exact; the width is that of the profiled step, whose host is slowed. "
        f"Pale: alive before the step.{_which(sheet.curve)}{dashed}{marks}{_other_pass(sheet, memory)}",
    )


def _which(curve: MemoryCurve) -> str:
    """Say which of the recorded steps is drawn, where there are several."""
    step = step_of_curve(curve)
    return f" It is {step}{', which settles' if curve.ordinal == 1 else ''}." if step else ""


def _other_pass(sheet: _Sheet, memory: Memory) -> str:
    """Say why the report's peak is another one, where it is: it was taken in steps without the profiler."""
    told = memory.peak_allocated_bytes
    if memory.basis != "unprofiled" or told is None or size(told) == size(sheet.peak.bytes):
        return ""
    why = ", whose steps are at other lengths of the cache" if memory.growth and memory.growth.kind == "cache" else ""
    return f" The {size(told)} on page one are the timing pass’s{why}."
