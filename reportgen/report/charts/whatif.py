"""One fix after another: the step from what it is to what is left, each gain where it sets in."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Literal

from reportgen.analysis.model import WORK_PARTS
from reportgen.formatting import MINUS, NBSP, number, sentence_start, spelled, step_time, step_unit
from reportgen.report.charts.canvas import TEXT, WIDTH, make_chart
from reportgen.report.charts.model import Caption
from reportgen.report.charts.palette import Paint
from reportgen.report.charts.scale import Scale, draw_bottom_axis
from reportgen.report.charts.text import drawable, fit, width_pt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.analysis.model import CaseAnalysis
    from reportgen.report.charts.canvas import Canvas
    from reportgen.report.charts.model import Chart

_ROW, _BAR = 17.0, 11.6
_TOP = 2.0
_GAP, _ID_GAP = 4.5, 3.5
_LEAST_LEFT, _MOST_LEFT = 110.0, 200.0

Method = Literal["measured", "replay", "roofline", "bound"]
_WORDS: dict[Method, str] = {"measured": "measured", "replay": "replayed", "roofline": "roofline", "bound": "at most"}
_LOOKS: dict[Method, str] = {
    "measured": "Solid grey: measured",
    "replay": "hatched: replayed",
    "roofline": "dashed: by the roofline",
    "bound": "dashed: at most",
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Fix:
    """A fix and the step after it, given the fixes before it."""

    name: str  # what is done: "Capture the step as one CUDA graph"
    step_after_us: float
    method: Method
    id: str = ""  # the finding that asks for it: "F2"


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Row:
    """A fix between two step times."""

    fix: Fix
    before_us: float
    unit: str
    unit_us: float

    @property
    def gain_us(self) -> float:
        return self.before_us - self.fix.step_after_us

    @property
    def after(self) -> str:
        return f"{number(self.fix.step_after_us / self.unit_us)}{NBSP}{self.unit}"

    @property
    def change(self) -> str:
        """Say what the fix changes and how that is known: "−5.06 ms, replayed".

        A measured step is no difference to the one above it, which was timed apart from it.
        """
        if self.fix.method == "measured":
            return _WORDS[self.fix.method]
        sign = MINUS if self.gain_us > 0 else "+" if self.gain_us < 0 else ""
        size = f"{sign}{number(abs(self.gain_us) / self.unit_us)}{NBSP}{self.unit}"
        return f"{size}, {_WORDS[self.fix.method]}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Sheet:
    """What is drawn: the step now, the fixes and what is left, all in one unit."""

    case: str
    worker: str
    step_us: float
    works_us: float | None
    works_after_us: float | None
    rows: tuple[_Row, ...]
    unit: str
    unit_us: float
    left: float  # where the bars begin, in points

    @property
    def left_us(self) -> float:
        return self.rows[-1].fix.step_after_us

    def figure(self, us: float) -> str:
        return number(us / self.unit_us)


def whatif_chart(case: CaseAnalysis, fixes: Sequence[Fix], *, works_after_us: float | None = None) -> Chart | None:
    """Draw how `fixes`, in the order they are to be made, shorten the step of `case`; None without a step or a fix.

    `works_after_us` is how long the device works in the step that is left, where it is known.
    """
    step_us = case.budget.step_us if case.budget else case.step_us
    if not step_us or not fixes:
        return None
    sheet = _read(case, step_us, fixes, works_after_us)
    bottom = _TOP + _ROW * (len(fixes) + 2)

    def draw(canvas: Canvas) -> None:
        _draw(canvas, sheet, bottom)

    return make_chart("whatif", bottom + 24.0, draw, alt=_alt(sheet), caption=_caption(sheet))


def _read(case: CaseAnalysis, step_us: float, fixes: Sequence[Fix], works_after_us: float | None) -> _Sheet:
    unit, unit_us = step_unit(step_us)
    before = [step_us, *(fix.step_after_us for fix in fixes)]
    parts = case.budget.parts if case.budget else None
    return _Sheet(
        case=case.name,
        worker="host" if case.device_kind == "host" else "device",
        step_us=step_us,
        works_us=sum(part.us_per_step for part in parts if part.name in WORK_PARTS) if parts else None,
        works_after_us=works_after_us,
        rows=tuple(
            _Row(fix=fix, before_us=us, unit=unit, unit_us=unit_us) for fix, us in zip(fixes, before, strict=False)
        ),
        unit=unit,
        unit_us=unit_us,
        left=min(
            max(_LEAST_LEFT, *(_name_x(fix) + width_pt(drawable(fix.name), TEXT) + 8 for fix in fixes)), _MOST_LEFT
        ),
    )


def _name_x(fix: Fix) -> float:
    return width_pt(fix.id, TEXT, bold=True) + _ID_GAP if fix.id else 0.0


def _draw(canvas: Canvas, sheet: _Sheet, bottom: float) -> None:
    longest_us = max(sheet.step_us, *(row.fix.step_after_us for row in sheet.rows))
    step = f"{sheet.figure(sheet.step_us)}{NBSP}{sheet.unit}"
    end = WIDTH - width_pt(step, TEXT, bold=True) - _GAP - 2
    scale = Scale(low=0.0, high=longest_us / sheet.unit_us, start=sheet.left, end=end)
    at = {us: scale(us / sheet.unit_us) for us in (0.0, sheet.step_us, *(r.fix.step_after_us for r in sheet.rows))}
    draw_bottom_axis(canvas, scale, bottom, f"step time, {sheet.unit}", grid_top=_TOP)
    canvas.line([(sheet.left, _TOP), (sheet.left, bottom)], canvas.theme.muted)
    y = _TOP + _ROW / 2
    canvas.text(0, y, "Now", bold=True)
    _draw_step(canvas, sheet, scale, y, sheet.step_us, sheet.works_us)
    canvas.text(at[sheet.step_us] + _GAP, y, step, bold=True)
    for row in sheet.rows:
        x = at[row.before_us]
        canvas.line([(x, y + _BAR / 2), (x, y + _ROW - _BAR / 2)], canvas.theme.muted)
        y += _ROW
        _draw_fix(canvas, row, y, at[row.fix.step_after_us], at[row.before_us], sheet.left)
    x = at[sheet.left_us]
    canvas.line([(x, y + _BAR / 2), (x, y + _ROW - _BAR / 2)], canvas.theme.muted)
    y += _ROW
    canvas.text(0, y, "What is left", bold=True)
    _draw_step(canvas, sheet, scale, y, sheet.left_us, sheet.works_after_us)
    after, note = sheet.rows[-1].after, _left_note(sheet)
    has_room = x + 2 * _GAP + width_pt(after, TEXT, bold=True) + width_pt(note, TEXT) < WIDTH
    _write_beside(canvas, x + _GAP, y, after, note if has_room else "")


def _left_note(sheet: _Sheet) -> str:
    works_us = sheet.works_after_us
    return f"the {sheet.worker} works {sheet.figure(works_us)} of it" if works_us is not None else ""


def _draw_step(canvas: Canvas, sheet: _Sheet, scale: Scale, y: float, step_us: float, works_us: float | None) -> None:
    """Draw a whole step as work and wait, or as one length where that is not known."""
    parts = canvas.theme.parts
    works_us = min(works_us, step_us) if works_us is not None else None
    pieces: list[tuple[float, float, Paint, str]] = [(0.0, step_us, parts["turnaround"], "")]
    if works_us is not None:
        pieces = [(0.0, works_us, parts["compute"], "works"), (works_us, step_us, parts["turnaround"], "waits")]
    for start_us, end_us, paint, word in pieces:
        left, right = scale(start_us / sheet.unit_us), scale(end_us / sheet.unit_us)
        if right - left < 0.3:
            continue
        canvas.box((left, y - _BAR / 2, right - left, _BAR), paint)
        figure = sheet.figure(end_us - start_us)
        for label in (f"{figure} {word}", figure):
            if word and width_pt(label, TEXT) + 5 < right - left:
                canvas.text((left + right) / 2, y, label, colour=paint.text, align="center")
                break


def _draw_fix(canvas: Canvas, row: _Row, y: float, after_x: float, before_x: float, bars_left: float) -> None:
    theme = canvas.theme
    if row.fix.id:
        canvas.text(0, y, row.fix.id, bold=True)
    name_x = _name_x(row.fix)
    canvas.text(name_x, y, fit(drawable(row.fix.name), bars_left - name_x - 7, TEXT))
    left, right = min(after_x, before_x), max(after_x, before_x)
    paint = _gain_paint(canvas, row.fix.method)
    if right - left < 1.0:
        canvas.line([(after_x, y - _BAR / 2), (after_x, y + _BAR / 2)], theme.mark, width=1.0)
    else:
        canvas.box((left, y - _BAR / 2, right - left, _BAR), paint)
    _label_fix(canvas, row, y, (bars_left, left, right), paint)


def _label_fix(canvas: Canvas, row: _Row, y: float, places: tuple[float, float, float], paint: Paint) -> None:
    """Write the step after and the gain: around the end of the bar, beside it, or within it, whichever has room.

    `places` are where all bars begin and where this one begins and ends.
    """
    bars_left, left, right = places
    after, change = width_pt(row.after, TEXT, bold=True), width_pt(row.change, TEXT)
    if change + 8 < right - left and not paint.hatch and left - bars_left > after + 2 * _GAP and row.gain_us > 0:
        canvas.text(left - _GAP, y, row.after, bold=True, align="right")
        canvas.text((left + right) / 2, y, row.change, colour=paint.text, align="center")
    elif right + _GAP + after + _GAP + change < WIDTH:
        _write_beside(canvas, right + _GAP, y, row.after, row.change)
    elif left - bars_left > after + change + 3 * _GAP:
        _write_beside(canvas, left - 2 * _GAP - after - change, y, row.after, row.change)
    else:
        x = min(left + _GAP, WIDTH - after - change - 3 * _GAP)
        canvas.boxes([(x - 2, y - 5, after + change + _GAP + 4, 10)], paint.fill)
        canvas.text(x, y, row.after, bold=True, colour=paint.text)
        canvas.text(x + after + _GAP, y, row.change, colour=paint.text)


def _gain_paint(canvas: Canvas, method: Method) -> Paint:
    theme = canvas.theme
    if method == "measured":
        return Paint(fill=theme.mark, outline=theme.mark, text=theme.on_mark)
    hatch = method == "replay"
    return Paint(fill=theme.paper, outline=theme.mark, text=theme.ink, hatch=hatch, dashed=not hatch)


def _write_beside(canvas: Canvas, x: float, y: float, after: str, note: str) -> None:
    """Write a step and a note from `x` on."""
    canvas.text(x, y, after, bold=True)
    if note:
        canvas.text(x + width_pt(after, TEXT, bold=True) + _GAP, y, note, colour=canvas.theme.muted)


def _alt(sheet: _Sheet) -> str:
    now = f"Waterfall of the step of {sheet.case}: {step_time(sheet.step_us)} now"
    if sheet.works_us is not None:
        works, waits = sheet.figure(sheet.works_us), sheet.figure(sheet.step_us - sheet.works_us)
        now += f", of which the {sheet.worker} works {works} and waits {waits}"
    steps = [f"{row.after} after {row.fix.id} {row.fix.name} ({row.change})".replace("  ", " ") for row in sheet.rows]
    left = f" What is left: {sheet.rows[-1].after}"
    note = _left_note(sheet)
    return f"{now}; {'; '.join(steps)}.{left}{f', {note}' if note else ''}."


def _caption(sheet: _Sheet) -> Caption:
    best = max(sheet.rows, key=lambda row: row.gain_us)
    gain = f"{sheet.figure(best.gain_us)} of {sheet.figure(sheet.step_us)}{NBSP}{sheet.unit}"
    who = sentence_start(best.fix.id or best.fix.name)
    takes = "takes at most" if best.fix.method == "bound" else "takes"
    leave = "leave at best" if any(row.fix.method == "bound" for row in sheet.rows) else "leave"
    together = "both" if len(sheet.rows) == 2 else f"all {spelled(len(sheet.rows))}"
    if best.fix.method == "measured":
        conclusion = f"{who} brings the step of {sheet.case} to {best.after}"
    else:
        conclusion = f"{who} {takes} {gain} off the step of {sheet.case}"
    if len(sheet.rows) > 1:
        conclusion += f"; {together} {leave} {sheet.rows[-1].after}"
    methods = dict.fromkeys(row.fix.method for row in sheet.rows)
    looks = "; ".join(_LOOKS[method] for method in methods)
    return Caption(
        conclusion=f"{conclusion}.",
        reading=f"Each gain is what a fix gives after the ones above it. Blue: the {sheet.worker} works. "
        f"{looks[0].upper()}{looks[1:]}.",
    )
