"""The step of each case as one bar: what the device does, and what it waits for."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from reportgen.analysis.model import WORK_PARTS as _WORK
from reportgen.formatting import listing
from reportgen.report.charts.budget_bar import Bar, Segment, read_bar
from reportgen.report.charts.canvas import NAME, TEXT, WIDTH, make_chart
from reportgen.report.charts.model import Caption
from reportgen.report.charts.text import drawable, fit, width_pt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.analysis.model import CaseAnalysis
    from reportgen.report.charts.canvas import Canvas
    from reportgen.report.charts.model import Chart

# Distances from the top of a case's block.
_HEAD, _BRACKET, _BAR = 6.0, 13.6, 17.6
_KEY_ROW = 11.5
_KEY_FIRST = 8.2  # from the bar's foot to the middle of the first row
_BETWEEN = 15.0
_RIGHT = WIDTH - 1.0
_NAME_GAP, _MOST_NAME = 7.0, 110.0
_SEGMENT_GAP = 0.8
_KEY_BOX, _KEY_BOX_GAP, _KEY_GAP = 6.6, 3.4, 11.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Block:
    """A case's bar, laid out."""

    bar: Bar
    name: str
    top: float
    left: float
    bar_height: float
    segments: tuple[Segment, ...]
    key_rows: tuple[tuple[Segment, ...], ...]

    @property
    def bottom(self) -> float:
        key = _KEY_FIRST + _KEY_ROW * (len(self.key_rows) - 1) + 5.0 if self.key_rows else 1.0
        return self.top + _BAR + self.bar_height + key


def budget_chart(cases: Sequence[CaseAnalysis]) -> Chart | None:
    """Draw the budget of each case that has one, every bar over the full width; None where none has."""
    bars = [bar for case in cases if (bar := read_bar(case)) is not None]
    if not bars:
        return None
    blocks = _lay_out(bars)

    def draw(canvas: Canvas) -> None:
        for block in blocks:
            _draw_block(canvas, block)

    return make_chart("budget", blocks[-1].bottom, draw, alt=_alt(bars), caption=_caption(bars))


def _lay_out(bars: Sequence[Bar]) -> list[_Block]:
    names = [fit(drawable(bar.case, bold=True), _MOST_NAME, NAME, bold=True) for bar in bars]
    left = max(width_pt(name, NAME, bold=True) for name in names) + _NAME_GAP
    height = 26.0 if len(bars) <= 3 else 20.0
    blocks: list[_Block] = []
    top = 0.0
    for bar, name in zip(bars, names, strict=True):
        segments = tuple(bar.segments(left, _RIGHT - left))
        rows = _key_rows([segment for segment in segments if not segment.lines], _RIGHT - left)
        block = _Block(bar=bar, name=name, top=top, left=left, bar_height=height, segments=segments, key_rows=rows)
        blocks.append(block)
        top = block.bottom + _BETWEEN - 3.0
    return blocks


def _key_rows(entries: Sequence[Segment], width: float) -> tuple[tuple[Segment, ...], ...]:
    """Break the key into rows no wider than `width`."""
    rows: list[list[Segment]] = []
    room = 0.0
    for entry in entries:
        wide = _key_width(entry) + _KEY_GAP
        if not rows or wide > room:
            rows.append([])
            room = width + _KEY_GAP
        rows[-1].append(entry)
        room -= wide
    return tuple(tuple(row) for row in rows)


def _key_text(segment: Segment) -> str:
    return f"{segment.part.word} {segment.part.figure}"


def _key_width(segment: Segment) -> float:
    return _KEY_BOX + _KEY_BOX_GAP + width_pt(_key_text(segment), TEXT)


def _draw_block(canvas: Canvas, block: _Block) -> None:
    middle = block.top + _BAR + block.bar_height / 2
    canvas.text(block.left - _NAME_GAP, middle, block.name, size=NAME, bold=True, align="right")
    _draw_head(canvas, block)
    for segment in block.segments:
        _draw_segment(canvas, segment, block.top + _BAR, block.bar_height)
    for row, entries in enumerate(block.key_rows):
        y = block.top + _BAR + block.bar_height + _KEY_FIRST + row * _KEY_ROW
        _draw_key(canvas, entries, y)


def _draw_head(canvas: Canvas, block: _Block) -> None:
    """Write work, waits and the whole over brackets of their lengths."""
    bar, y = block.bar, block.top + _HEAD
    theme = canvas.theme
    worked = [segment for segment in block.segments if segment.part.us and segment.part.name in _WORK]
    border = max((segment.left + segment.width for segment in worked), default=block.left)
    whole, works, waits = bar.whole(), bar.works(), bar.waits()
    canvas.text(_RIGHT, y, whole, align="right")
    canvas.text(block.left, y, works, colour=theme.accent, bold=True)
    after_works = block.left + width_pt(works, TEXT, bold=True) + 12
    room_ends = _RIGHT - width_pt(whole, TEXT) - 12 - width_pt(waits, TEXT)
    canvas.text(max(after_works, min(border, room_ends)), y, waits)
    y = block.top + _BRACKET
    if border > block.left:
        canvas.line([(block.left, y), (border - _SEGMENT_GAP / 2, y)], theme.accent, width=1.8)
    if border < _RIGHT - 0.1:
        canvas.line([(border + _SEGMENT_GAP / 2, y), (_RIGHT, y)], theme.bracket, width=1.8)


def _draw_segment(canvas: Canvas, segment: Segment, top: float, height: float) -> None:
    paint = canvas.theme.parts[segment.part.name]
    gap = min(_SEGMENT_GAP, segment.width / 3)
    canvas.box((segment.left + gap / 2, top, segment.width - gap, height), paint)
    x, middle = segment.left + segment.width / 2, top + height / 2
    spread = 0.0 if len(segment.lines) < 2 else 4.6
    for line, y in zip(segment.lines, (middle - spread, middle + spread), strict=False):
        if paint.hatch:
            wide = width_pt(line, TEXT) + 4
            canvas.boxes([(x - wide / 2, y - 5, wide, 10)], paint.fill)
        canvas.text(x, y, line, colour=paint.text, align="center")


def _draw_key(canvas: Canvas, entries: Sequence[Segment], y: float) -> None:
    x = _RIGHT - sum(_key_width(entry) for entry in entries) - _KEY_GAP * (len(entries) - 1)
    for entry in entries:
        canvas.box((x, y - _KEY_BOX / 2, _KEY_BOX, _KEY_BOX), canvas.theme.parts[entry.part.name])
        canvas.text(x + _KEY_BOX + _KEY_BOX_GAP, y, _key_text(entry))
        x += _key_width(entry) + _KEY_GAP


def _alt(bars: Sequence[Bar]) -> str:
    return " ".join(["One step of each case as a bar." if len(bars) > 1 else "One step as a bar.", *map(_alt_of, bars)])


def _alt_of(bar: Bar) -> str:
    def parts(of_work: bool) -> str:
        chosen = [f"{part.word} {part.figure}" for part in bar.parts if (part.name in _WORK) == of_work]
        return f" ({', '.join(chosen)})" if chosen else ""

    figure, share = bar.figure, bar.share
    return (
        f"{bar.case}, {bar.whole()}: the {bar.worker} works {figure(bar.works_us)}, "
        f"{share(bar.works_us)}{parts(True)}, and waits {figure(bar.waits_us)}, {share(bar.waits_us)}{parts(False)}."
    )


def _caption(bars: Sequence[Bar]) -> Caption:
    workers = {bar.worker for bar in bars}
    worker = workers.pop() if len(workers) == 1 else "device"
    waiting = [bar for bar in bars if bar.waits_us >= bar.works_us]
    working = [bar for bar in bars if bar.waits_us < bar.works_us]
    clauses = [
        f"{verb} through {listing([_extent(bar, us, verb) for bar, us in some])}"
        for verb, some in (
            ("waits", [(bar, bar.waits_us) for bar in waiting]),
            ("works", [(bar, bar.works_us) for bar in working]),
        )
        if some
    ]
    kinds = {bar.profiled for bar in bars}
    profiled = "profiled where it says so" if len(kinds) > 1 else "profiled" if kinds.pop() else "not profiled"
    if {bar.mode for bar in bars} >= {"pipelined", "drained"}:
        alone = listing([bar.case for bar in bars if bar.mode == "drained"])
        profiled += f", timed alone (drained) in {alone}, else back to back (pipelined)"
    each = "Each bar is" if len(bars) > 1 else "The bar is"
    return Caption(
        conclusion=f"The {worker} {' and '.join(clauses)}.",
        reading=f"Solid: it works. Tinted: it waits, by cause. {each} one step, {profiled}, and its parts sum to it.",
    )


def _extent(bar: Bar, us: float, verb: str) -> str:
    text = f"{bar.share(us)} of {bar.case}"
    causes = [part for part in bar.parts if part.name not in _WORK]
    if verb == "waits" and causes:
        largest = max(causes, key=lambda part: part.us)
        text += f" ({largest.word} {bar.share(largest.us)})"
    return text
