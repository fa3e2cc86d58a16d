"""One case's budget as a bar: its figures in words, where its parts lie and which of them have room for a label."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from reportgen.analysis.model import WORK_PARTS
from reportgen.formatting import NBSP, TIME_UNITS, fixed, number, share, step_unit, time_column
from reportgen.report.charts.canvas import TEXT
from reportgen.report.charts.text import width_pt

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.analysis.model import BudgetPart, BudgetRow, CaseAnalysis
    from reportgen.recording import StepMode

# Shares of the bar from which a part's label stands inside, in one line or in two.
ONE_LINE_SHARE, TWO_LINES_SHARE = 0.16, 0.11
# A part that has a figure is drawn at least this wide, so that it can be found.
LEAST_WIDTH = 1.6
LABEL_MARGIN = 3.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Part:
    """A part with its figure in the bar's unit; `figure` is an interval where the profiler's share is open."""

    name: BudgetPart
    us: float
    figure: str

    @property
    def word(self) -> str:
        """Return the part's name as a word."""
        return self.name.replace("-", " ")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Segment:
    """A part's place in the bar and the lines of its label; without lines it goes into the key."""

    part: Part
    left: float
    width: float
    lines: tuple[str, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Bar:
    """What is written and drawn of one case."""

    case: str
    worker: str  # "device", or "host" where the host is the device
    profiled: bool
    mode: StepMode | None  # how steps followed each other while they were timed without the profiler
    unit: str
    step_us: float
    works_us: float
    parts: tuple[Part, ...]  # those that do not round to nothing, work first

    @property
    def waits_us(self) -> float:
        """Return the time in which the device does not work."""
        return max(self.step_us - self.works_us, 0.0)

    def figure(self, us: float) -> str:
        """Write a time in the bar's unit: "5.30 ms"."""
        return f"{number(us / _scale(self.step_us))}{NBSP}{self.unit}"

    def share(self, us: float) -> str:
        """Write a time as a share of the step."""
        return share(us / self.step_us)

    def works(self) -> str:
        """Say how long the device works: "device works 1.30 ms · 19.7 %"."""
        return f"{self.worker} works {self.figure(self.works_us)} · {self.share(self.works_us)}"

    def waits(self) -> str:
        """Say how long it waits."""
        return f"{self.worker} waits {self.figure(self.waits_us)} · {self.share(self.waits_us)}"

    def whole(self) -> str:
        """Say how long the bar is: "step 6.60 ms"."""
        return f"{'step, profiled' if self.profiled else 'step'} {self.figure(self.step_us)}"

    def segments(self, left: float, width: float) -> Iterator[Segment]:
        """Place the parts side by side on `width` points, as wide as their shares but never under `LEAST_WIDTH`."""
        for part, start, wide in zip(self.parts, *_places([part.us for part in self.parts], width), strict=True):
            yield Segment(part=part, left=left + start, width=wide, lines=_label(part, self.unit, wide, width))


def read_bar(case: CaseAnalysis) -> Bar | None:
    """Return what is drawn of `case`; None where it has no budget."""
    budget = case.budget
    if budget is None or budget.step_us <= 0:
        return None
    unit, _ = step_unit(budget.step_us)
    rows = sorted(budget.parts, key=lambda row: row.name not in WORK_PARTS)
    column = time_column([row.us_per_step for row in rows], budget.step_us, unit=unit)
    return Bar(
        case=case.name,
        worker="host" if case.device_kind == "host" else "device",
        profiled=budget.basis == "trace",
        mode=case.timing.mode if case.timing is not None and budget.basis != "trace" else None,
        unit=unit,
        step_us=budget.step_us,
        works_us=sum(row.us_per_step for row in rows if row.name in WORK_PARTS),
        parts=tuple(
            Part(name=row.name, us=row.us_per_step, figure=_figure(row, cell, unit, column.decimals))
            for row, cell in zip(rows, column.cells, strict=True)
            if row.us_per_step > 0 and cell.strip("0.") and not cell.startswith("<")
        ),
    )


def _figure(row: BudgetRow, cell: str, unit: str, decimals: int) -> str:
    """Write the part's time; of the profiler, which a trace alone leaves open, the interval too."""
    if row.name != "profiler" or row.high_us <= row.low_us:
        return f"{cell}{NBSP}{unit}"
    low, high = (fixed(us / dict(TIME_UNITS)[unit], decimals) for us in (row.low_us, row.high_us))
    return f"{cell}{NBSP}{unit} ({low} to {high})"


def _scale(step_us: float) -> float:
    return step_unit(step_us)[1]


def _places(values: Sequence[float], width: float) -> tuple[list[float], list[float]]:
    """Return start and width of each value; what small ones are short of is taken from the others in proportion."""
    total = sum(values)
    natural = [value / total * width for value in values]
    small = [wide < LEAST_WIDTH for wide in natural]
    spare = width - LEAST_WIDTH * sum(small)
    large = sum(wide for wide, is_small in zip(natural, small, strict=True) if not is_small)
    widths = [LEAST_WIDTH if is_small else wide * spare / large for wide, is_small in zip(natural, small, strict=True)]
    starts = [sum(widths[:index]) for index in range(len(widths))]
    return starts, widths


def _label(part: Part, unit: str, width: float, whole: float) -> tuple[str, ...]:
    """Return the lines that fit into a part `width` wide of a bar `whole` wide."""
    one = (f"{part.word} {part.figure}",)
    two = (part.word, part.figure)
    for lines, least in ((one, ONE_LINE_SHARE), (two, TWO_LINES_SHARE)):
        room = width - 2 * LABEL_MARGIN
        if width > least * whole and all(width_pt(line, TEXT) <= room for line in lines):
            return lines
    return ()
