"""One step as a strip: the host, its launches, the device's streams and what the device waits for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.analysis.model import BUDGET_PARTS, WORK_PARTS
from reportgen.formatting import plural, share, step_time, step_unit
from reportgen.report.charts.canvas import TEXT, WIDTH, make_chart
from reportgen.report.charts.model import Caption
from reportgen.report.charts.scale import Scale, draw_bottom_axis
from reportgen.report.charts.text import drawable, fit, width_pt

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reportgen.analysis.model import BudgetPart, CaseAnalysis, Lane, Segment, Timeline
    from reportgen.report.charts.canvas import Box, Canvas
    from reportgen.report.charts.model import Chart

_LANE, _BETWEEN, _GROUPS = 15.0, 5.0, 6.0
_TOP = 2.0
_RIGHT = WIDTH - 6.0
_MOST_NAME, _NAME_GAP = 90.0, 7.0
# The least of a stretch's height that can be seen.
_LEAST_HEIGHT = 0.8
# A wait's fill is pale: a rim in its full colour shows where it is.
_RIM = 1.0
_KEY_BOX, _KEY_GAP = 6.6, 12.0
_LANE_WORDS = {"waits": "waits for"}


def timeline_chart(case: CaseAnalysis) -> Chart | None:
    """Draw the median step of `case`, a lane under the other; None where it has no timeline."""
    timeline = case.timeline
    if timeline is None or not timeline.lanes or timeline.duration_us <= 0:
        return None
    tops = _lane_tops(timeline.lanes)
    bottom = tops[-1] + _LANE
    parts = _parts_shown(timeline)

    def draw(canvas: Canvas) -> None:
        _draw(canvas, timeline, tops, bottom)
        _draw_key(canvas, parts, bottom + 31.0)

    height = bottom + (36.0 if parts else 26.0)
    return make_chart("timeline", height, draw, alt=_alt(case.name, timeline), caption=_caption(case, timeline))


def _lane_tops(lanes: Sequence[Lane]) -> list[float]:
    """Return where each lane begins; host, device and causes stand a little apart."""
    tops, y = [], _TOP
    groups = {"host": 0, "launch": 0, "device": 1, "cause": 2}
    for index, lane in enumerate(lanes):
        if index:
            y += _LANE + _BETWEEN
            y += _GROUPS if groups[lane.kind] != groups[lanes[index - 1].kind] else 0
        tops.append(y)
    return tops


def _is_neutral(lane: Lane, part: BudgetPart) -> bool:
    """Tell whether a stretch is host time as such: colour is for what the device's time goes to."""
    return lane.kind in ("host", "launch") and part not in WORK_PARTS


def _word(part: BudgetPart) -> str:
    return part.replace("-", " ")


def _parts_shown(timeline: Timeline) -> list[BudgetPart]:
    shown = {
        segment.part for lane in timeline.lanes for segment in lane.segments if not _is_neutral(lane, segment.part)
    }
    return [part for part in BUDGET_PARTS if part in shown]


def _draw(canvas: Canvas, timeline: Timeline, tops: Sequence[float], bottom: float) -> None:
    names = [fit(drawable(_LANE_WORDS.get(lane.name, lane.name)), _MOST_NAME, TEXT) for lane in timeline.lanes]
    left = max(width_pt(name, TEXT) for name in names) + _NAME_GAP
    unit, unit_us = step_unit(timeline.duration_us)
    scale = Scale(low=0.0, high=timeline.duration_us / unit_us, start=left, end=_RIGHT)
    draw_bottom_axis(canvas, scale, bottom + 2.0, f"time in the step, {unit}", grid_top=_TOP)
    for lane, name, top in zip(timeline.lanes, names, tops, strict=True):
        canvas.text(left - _NAME_GAP, top + _LANE / 2, name, align="right")
        canvas.line([(left, top + _LANE), (_RIGHT, top + _LANE)], canvas.theme.axis, behind=True)
        for part in BUDGET_PARTS:
            segments = [segment for segment in lane.segments if segment.part == part]
            if segments:
                _draw_segments(canvas, lane, part, list(_boxes(segments, scale, unit_us, top)))


def _boxes(segments: Iterable[Segment], scale: Scale, unit_us: float, top: float) -> Iterable[Box]:
    """Return each segment as a box that stands on the lane's line, as high as the share of it that is filled."""
    for segment in segments:
        left = scale(segment.start_us / unit_us)
        right = min(scale((segment.start_us + segment.duration_us) / unit_us), scale.end)
        high = max(segment.share * _LANE, _LEAST_HEIGHT)
        yield left, top + _LANE - high, right - left, high


def _draw_segments(canvas: Canvas, lane: Lane, part: BudgetPart, boxes: Sequence[Box]) -> None:
    if _is_neutral(lane, part):
        canvas.columns(boxes, canvas.theme.mark)
        return
    paint = canvas.theme.parts[part]
    canvas.columns(boxes, paint.outline)
    if paint.fill != paint.outline:
        rims = [min(_RIM, high) for _, _, _, high in boxes]
        under = [(left, top + rim, wide, high - rim) for (left, top, wide, high), rim in zip(boxes, rims, strict=True)]
        canvas.columns(under, paint.fill)
        if paint.hatch:
            canvas.hatch(under, paint.outline)


def _draw_key(canvas: Canvas, parts: Sequence[BudgetPart], y: float) -> None:
    words = [_word(part) for part in parts]
    widths = [_KEY_BOX + 3.4 + width_pt(word, TEXT) for word in words]
    x = max(_RIGHT - sum(widths) - _KEY_GAP * (len(parts) - 1), 0.0)
    for part, word, wide in zip(parts, words, widths, strict=True):
        canvas.box((x, y - _KEY_BOX / 2, _KEY_BOX, _KEY_BOX), canvas.theme.parts[part])
        canvas.text(x + _KEY_BOX + 3.4, y, word)
        x += wide + _KEY_GAP


def _filled_us(segments: Iterable[Segment]) -> float:
    return sum(segment.duration_us * segment.share for segment in segments)


def _by_part(lane: Lane, duration_us: float) -> list[tuple[BudgetPart, float]]:
    """Return each part of a lane with the share of the step it fills, largest first."""
    return sorted(((part, us / duration_us) for part, us in lane.us_by_part.items()), key=lambda item: -item[1])


def _lane_figures(lane: Lane, timeline: Timeline) -> str:
    """Say how much of the step a lane is filled, and by what: "12.9 % (compute 12.8 %, copy 0.1 %)"."""
    whole = share(_filled_us(lane.segments) / timeline.duration_us)
    parts = _by_part(lane, timeline.duration_us)
    if lane.kind in ("host", "launch") or (len(parts) < 2 and lane.kind != "cause"):
        return whole
    return f"{whole} ({', '.join(f'{_word(part)} {share(value)}' for part, value in parts)})"


def _alt(case: str, timeline: Timeline) -> str:
    lanes = [f"{drawable(lane.name)} {_lane_figures(lane, timeline)}" for lane in timeline.lanes]
    return (
        f"Step {timeline.told} of {case}, {step_time(timeline.duration_us)} as profiled, with how much of it "
        f"each lane is filled: {'; '.join(lanes)}."
    )


def _caption(case: CaseAnalysis, timeline: Timeline) -> Caption:
    pass_name = "timeline pass" if timeline.basis == "timeline" else "trace"
    return Caption(
        conclusion=f"{_conclusion(case, timeline)}.",
        reading=f"Step {timeline.told} of the {pass_name}"
        f"{': the profiler slows the host, not the device' if case.device_kind == 'device' else ''}. "
        "Height: the share of each stretch that is filled; colour: what fills most of it.",
    )


def _conclusion(case: CaseAnalysis, timeline: Timeline) -> str:
    """Say what the strip shows of the device, or of the host where no device was recorded."""
    duration_us = timeline.duration_us
    device = [lane for lane in timeline.lanes if lane.kind == "device"]
    causes = next((lane for lane in timeline.lanes if lane.kind == "cause"), None)
    clauses = []
    whose = f"{case.name}’s {step_time(duration_us)} as profiled"
    if device:
        name = drawable(device[0].name)
        who = name[0].upper() + name[1:] if len(device) == 1 else f"The busiest of {plural(len(device), 'stream')}"
        clauses.append(f"{who} works for {share(_filled_us(device[0].segments) / duration_us)} of {whose}")
    elif timeline.lanes[0].kind == "host":
        filled = share(_filled_us(timeline.lanes[0].segments) / duration_us)
        clauses.append(f"Operators are open for {filled} of {whose}")
    if causes is not None and (waits := [item for item in _by_part(causes, duration_us) if item[0] != "profiler"]):
        part, value = waits[0]
        added = causes.us_by_part.get("profiler", 0.0) / duration_us
        profiler = f"{share(added)} is the profiler’s own, and else " if added else ""
        clauses.append(
            f"{profiler}it waits {'longest' if len(waits) > 1 else 'only'} for {_word(part)}, {share(value)}"
        )
    return "; ".join(clauses) or f"One step of {case.name}"
