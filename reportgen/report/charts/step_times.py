"""How long steps take: every sample of the timing pass, and beside them the same step under the profiler."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from reportgen.analysis.model.timing import FEWEST_FOR_PERCENTILES
from reportgen.formatting import NBSP, count, factor, number, plural, spread, step_unit
from reportgen.report.charts.canvas import NAME, TEXT, WIDTH, make_chart
from reportgen.report.charts.model import Caption
from reportgen.report.charts.scale import Scale, draw_bottom_axis
from reportgen.report.charts.text import drawable, fit, width_pt

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.analysis.model import CaseAnalysis, StepTimes
    from reportgen.report.charts.canvas import Canvas
    from reportgen.report.charts.model import Chart

_ROW, _STRIP = 16.0, 12.0
_AXIS, _BETWEEN = 25.0, 7.0
_RIGHT = WIDTH - 6.0
_NAME_GAP, _MOST_NAME = 7.0, 90.0
_DOT = 1.7
# Samples beyond this many times the median are counted at the edge, so that one of them does not hide the rest.
_MOST_SPREAD = 3.0
_PASS_MARK = 5.0
_TRACED = "profiled"


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Row:
    """One kind of step time: all its samples, or a single figure of a profiled pass."""

    name: str
    median_us: float
    samples_us: tuple[float, ...] = ()
    # The ends of the spread: 5th and 95th percentile, of few samples the shortest and longest.
    low_us: float | None = None
    high_us: float | None = None
    is_step: bool = False  # the one that the report calls the step
    settled: bool = True

    @property
    def note(self) -> str:
        if not self.samples_us:
            return "median, profiled"
        text = f"{spread(self.low_us, self.high_us)}, n = {count(len(self.samples_us))}"
        return text if self.settled else f"{text}, not settled"


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Block:
    """The rows of one case over an axis of their own."""

    case: str
    rows: tuple[_Row, ...]
    edge_us: float  # the right end of the axis

    @property
    def height(self) -> float:
        return 12.0 + _ROW * len(self.rows) + _AXIS

    def beyond(self, row: _Row) -> int:
        """Return how many samples lie right of the axis."""
        return sum(sample > self.edge_us for sample in row.samples_us)


def step_times_chart(cases: Sequence[CaseAnalysis]) -> Chart | None:
    """Draw the samples of each case on an axis of its own; None where no case has more than one step time.

    Nor where no step took any time, as in a trace whose clock stood still: there is no axis for that.
    """
    blocks = [_block(case.name, rows) for case in cases if (rows := tuple(_rows(case)))]
    blocks = [block for block in blocks if block.edge_us > 0]
    if not blocks:
        return None
    height = sum(block.height for block in blocks) + _BETWEEN * (len(blocks) - 1)

    def draw(canvas: Canvas) -> None:
        left = max(width_pt(row.name, TEXT) for block in blocks for row in block.rows) + _NAME_GAP
        top = 0.0
        for block in blocks:
            _draw_block(canvas, block, left, top)
            top += block.height + _BETWEEN

    return make_chart("step-times", height, draw, alt=_alt(blocks), caption=_caption(blocks))


def _rows(case: CaseAnalysis) -> Iterator[_Row]:
    timing = case.timing
    if timing is None:
        return
    traced = timing.basis == "trace"
    suffix = f", {_TRACED}" if traced else ""
    sampled = 0
    for name, times, mode in (
        ("pipelined", timing.pipelined, "pipelined"),
        ("first lap" if timing.revisit else "drained", timing.drained, "drained"),
        ("later laps", timing.revisit, None),
    ):
        if times is not None and times.samples_us:
            sampled += 1
            yield _sampled(name + suffix, times, is_step=not traced and mode == timing.mode)
    if traced:
        intervals = tuple(step.interval_us for step in case.steps if step.interval_us is not None and not step.settling)
        if not sampled and len(intervals) > 1 and timing.step_us is not None:
            low, high = min(intervals), max(intervals)
            yield _Row(name=_TRACED, median_us=timing.step_us, samples_us=intervals, low_us=low, high_us=high)
        return
    profiled = timing.profiled_step_us
    for name, median_us in (("timeline pass", profiled.timeline), ("detail pass", profiled.detail)):
        if median_us is not None:
            yield _Row(name=name, median_us=median_us)


def _sampled(name: str, times: StepTimes, *, is_step: bool) -> _Row:
    return _Row(
        name=name,
        median_us=times.median_us,
        samples_us=times.samples_us,
        low_us=times.spread_us[0],
        high_us=times.spread_us[1],
        is_step=is_step,
        settled=times.settled,
    )


def _block(case: str, rows: tuple[_Row, ...]) -> _Block:
    slowest = max(row.median_us for row in rows)
    limit = _MOST_SPREAD * slowest
    shown = [sample for row in rows for sample in row.samples_us if sample <= limit]
    return _Block(case=case, rows=rows, edge_us=max([slowest, *shown]) * 1.02)


def _draw_block(canvas: Canvas, block: _Block, left: float, top: float) -> None:
    unit, unit_us = step_unit(max(row.median_us for row in block.rows))
    figures = [_drawn_figures(block, row, unit, unit_us) for row in block.rows]
    notes = max(width_pt(figure, TEXT, bold=True) + 4.5 + width_pt(note, TEXT) for figure, note in figures)
    scale = Scale(low=0.0, high=block.edge_us / unit_us, start=left, end=_RIGHT - notes - 10.0)
    canvas.text(0, top + 5.0, fit(drawable(block.case, bold=True), WIDTH / 2, NAME, bold=True), size=NAME, bold=True)
    bottom = top + 12.0 + _ROW * len(block.rows)
    draw_bottom_axis(canvas, scale, bottom, f"step time, {unit}", grid_top=top + 12.0)
    canvas.line([(left, top + 12.0), (left, bottom)], canvas.theme.muted)
    for index, (row, (figure, note)) in enumerate(zip(block.rows, figures, strict=True)):
        y = top + 12.0 + _ROW * (index + 0.5)
        canvas.text(left - _NAME_GAP, y, row.name, bold=row.is_step, align="right")
        _draw_row(canvas, row, scale, unit_us, y)
        x = scale.end + 10.0
        canvas.text(x, y, figure, bold=True)
        canvas.text(x + width_pt(figure, TEXT, bold=True) + 4.5, y, note, colour=canvas.theme.muted)


def _figures(row: _Row, unit: str, unit_us: float) -> tuple[str, str]:
    return f"{number(row.median_us / unit_us)}{NBSP}{unit}", row.note


def _drawn_figures(block: _Block, row: _Row, unit: str, unit_us: float) -> tuple[str, str]:
    """Return what stands beside a row: its median, and a note with the number of samples that the axis leaves out."""
    figure, note = _figures(row, unit, unit_us)
    beyond = block.beyond(row)
    return figure, f"{note}, {count(beyond)} beyond" if beyond else note


def _draw_row(canvas: Canvas, row: _Row, scale: Scale, unit_us: float, y: float) -> None:
    """Draw samples from top to bottom in the order they were taken, and the median across them."""
    median = scale(row.median_us / unit_us)
    if not row.samples_us:
        canvas.marks([(median, y)], _PASS_MARK, square=True, filled=False)
        return
    rise = (_STRIP - _DOT) / max(len(row.samples_us) - 1, 1)
    canvas.boxes(
        [
            (scale(sample / unit_us) - _DOT / 2, y - _STRIP / 2 + index * rise, _DOT, _DOT)
            for index, sample in enumerate(row.samples_us)
            if sample / unit_us <= scale.high
        ],
        canvas.theme.accent if row.is_step else canvas.theme.mark,
    )
    canvas.line([(median, y - _STRIP / 2 - 1.5), (median, y + _STRIP / 2 + 1.5)], canvas.theme.ink, width=1.2)


def _alt(blocks: Sequence[_Block]) -> str:
    return " ".join(_alt_of(block) for block in blocks)


def _alt_of(block: _Block) -> str:
    unit, unit_us = step_unit(max(row.median_us for row in block.rows))
    rows = []
    for row in block.rows:
        figure, note = _figures(row, unit, unit_us)
        beyond = block.beyond(row)
        rows.append(f"{row.name} {figure} ({note}{f', {count(beyond)} beyond the axis' if beyond else ''})")
    return f"Step times of {block.case}: {'; '.join(rows)}."


def _caption(blocks: Sequence[_Block]) -> Caption:
    conclusion = "; ".join(_conclusion(block) for block in blocks)
    passes = any(not row.samples_us for block in blocks for row in block.rows)
    return Caption(
        conclusion=f"{conclusion}.",
        reading="Each dot is a step, in the order taken from top to bottom; the line is the median, the range "
        + f"{_spread_ends(blocks)}."
        + (" Open squares: the same step under the profiler." if passes else ""),
    )


def _spread_ends(blocks: Sequence[_Block]) -> str:
    """Say from what to what the ranges are: of few samples there is no 5th percentile."""
    few = {len(row.samples_us) < FEWEST_FOR_PERCENTILES for block in blocks for row in block.rows if row.samples_us}
    whole, most = "from the shortest to the longest", "from the 5th to the 95th percentile"
    if few == {True, False}:
        return f"{most}, of fewer than {FEWEST_FOR_PERCENTILES} steps {whole}"
    return whole if few == {True} else most


def _conclusion(block: _Block) -> str:
    """Say how a case's steps spread, and what the profiler makes of them."""
    step = next((row for row in block.rows if row.is_step), block.rows[0])
    if not step.samples_us:
        return f"{block.case}’s step was timed only under the profiler"
    text = f"{block.case}’s steps take {spread(step.low_us, step.high_us)}"
    slowest = max((row.median_us for row in block.rows if not row.samples_us), default=None)
    if slowest is not None and step.median_us:
        return f"{text}, under the profiler up to {factor(slowest, step.median_us)} as long"
    return f"{text} ({plural(len(step.samples_us), 'step')})"
