"""The report in a terminal: the verdict, figures and findings of page one in plain text.

It reads the same in a log file: no colour, no cursor movement, nothing wider than asked for. At 80 columns, where a log
is read, no sentence and no action is cut.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from typing import TYPE_CHECKING

from reportgen import formatting as fmt
from reportgen.analysis.model import WORK_PARTS
from reportgen.report import wording
from reportgen.report.verdict import verdict
from reportgen.report.view import cases
from reportgen.report.view.checklist import rules_sentence
from reportgen.report.view.figures import case_figures, chosen_times
from reportgen.report.view.finding_texts import action_in_short
from reportgen.report.view.head import view_head, view_notices, view_sureness
from reportgen.report.view.medium import page
from reportgen.report.view.top import view_top

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reportgen.analysis.model import BudgetRow, CaseAnalysis
    from reportgen.report.model import Report
    from reportgen.report.view.figures import Figure
    from reportgen.report.view.top import TopRow

_MOST_CASES = 4
_BAR = 50
_SMALLEST_PART = 0.005  # of the step: what is less is in no line of the bar
_NAME = 20  # of a case: what is longer is cut in its middle
_NO_BREAK = "\x00"  # stands for a space at which a line is not broken


def render_terminal(report: Report, width: int = 100) -> str:
    """Return the summary of `report`, at most `width` columns wide and under 35 lines for up to four cases."""
    blocks = [
        _head(report, width),
        _figures(report, width),
        _bars(report, width),
        _findings(report, width),
        _end(report, width),
    ]
    lines = "\n\n".join("\n".join(block) for block in blocks if block).splitlines()
    return "\n".join(_cut(plain(line).rstrip(), width) for line in lines) + "\n"


def plain(text: str) -> str:
    """Replace the document's typography by what any terminal and any log can show."""
    for mark, replacement in ((fmt.NBSP, " "), (fmt.THIN, " "), ("→", "->"), (fmt.MINUS, "-"), ("’", "'"), ("`", "")):
        text = text.replace(mark, replacement)
    return re.sub(r"[“”]", '"', text)


def columns_of(text: str) -> int:
    """Return how many columns of a terminal `text` takes: wide characters take two, combining ones none."""
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def _cut(line: str, width: int) -> str:
    if columns_of(line) <= width:
        return line
    while line and columns_of(line) > width - 1:
        line = line[:-1]
    return f"{line}…"


def _wrap(text: str, width: int, indent: str = "", first: str | None = None, most: int = 4) -> list[str]:
    lines = textwrap.wrap(
        plain(text), width, initial_indent=indent if first is None else first, subsequent_indent=indent
    )
    lines = [line.replace(_NO_BREAK, " ") for line in lines]
    return lines if len(lines) <= most else [*lines[: most - 1], f"{lines[most - 1]} …"]


def _whole_sentences(lead: str, sentences: Sequence[str], width: int, most: int) -> list[str]:
    """Wrap as many of `sentences` as `most` lines hold whole; the first is told in any case."""
    for count in range(len(sentences), 1, -1):
        lines = _wrap(f"{lead}{' '.join(sentences[:count])}", width, "  ", first="  ", most=most + 1)
        if len(lines) <= most:
            return lines
    return _wrap(f"{lead}{''.join(sentences[:1])}", width, "  ", first="  ", most=most)


def _name_room(report: Report) -> int:
    """Return the columns that the names of the cases take."""
    return max((columns_of(fmt.shorten(cases.label(case), _NAME)) for case in report.cases), default=0)


def _head(report: Report, width: int) -> list[str]:
    head = view_head(report)
    words = verdict(report)
    return [
        *_wrap(f"{head.title} · {head.subtitle}", width, most=2),
        "",
        *_wrap(words.limits, width),
        *_wrap(words.changes, width, most=2),
    ]


def _figures(report: Report, width: int) -> list[str]:
    shown = report.cases[:_MOST_CASES]
    on_host = bool(shown) and all(case.device_kind == "host" for case in shown)
    profiled = all(cases.is_profiled(case) for case in shown)
    heads = ["", f"step{', profiled' if profiled else ''}", "spread", "works" if on_host else "busy", "throughput"]
    heads = [*heads, "best step"]
    table = [heads, *(_figure_row(report, case) for case in shown)]
    texts = [[plain(cell) for cell in line] for line in table]
    room = [max(columns_of(line[i]) for line in texts) for i in range(len(texts[0]))]
    is_table = 2 * len(room) + sum(room) <= width
    lines = ["  " + "  ".join(_pad(cell, room[i]) for i, cell in enumerate(texts[0]))] if is_table else []
    for case, line in zip(shown, texts[1:], strict=True):
        indent = " " * (room[0] + 4)
        if is_table:
            lines.append("  " + "  ".join(_pad(cell, room[i]) for i, cell in enumerate(line)))
        else:
            told = (f"{head} {cell}" for head, cell in zip(heads[1:], line[1:], strict=True))
            lines += _wrap(_unbroken(told), width, indent, first=f"  {_pad(line[0], room[0])}  ")
        lines += _wrap(f"peak memory {_memory(report, case)}", width, indent, most=2)
    left = len(report.cases) - len(shown)
    return [*lines, *([f"  and {plain(fmt.plural(left, 'more case'))}"] if left else [])]


def _figure_row(report: Report, case: CaseAnalysis) -> list[str]:
    step, throughput, busy, best, _ = case_figures(report, case)
    times = chosen_times(case)
    spread = fmt.spread(*times.spread_us) if times else fmt.NOT_RECORDED
    finding = cases.best_gain(report, case)
    by = f" {finding.id}" if finding else ""
    name = fmt.shorten(cases.label(case), _NAME)
    return [name, _figure(step), spread, _figure(busy), _figure(throughput), f"{_figure(best)}{by}"]


def _memory(report: Report, case: CaseAnalysis) -> str:
    """Return the peak with its note, as page one has it below the figure."""
    memory = case_figures(report, case)[-1]
    return ", ".join(part for part in (_figure(memory), memory.note) if part)


def _unbroken(texts: Iterable[str]) -> str:
    """Join `texts` by commas, between which alone the line may be broken."""
    return ", ".join(text.replace(" ", _NO_BREAK) for text in texts)


def _figure(figure: Figure) -> str:
    return f"{figure.value} {figure.unit}".strip()


def _pad(text: str, width: int) -> str:
    return text + " " * max(0, width - columns_of(text))


def _bars(report: Report, width: int) -> list[str]:
    lines = []
    for case in report.cases[: 2 if len(report.cases) > 2 else _MOST_CASES]:
        lines += _bar(case, width, _name_room(report))
    return lines


def _bar(case: CaseAnalysis, width: int, room: int) -> list[str]:
    step_us, work_us = cases.step_us(case), cases.work_us(case)
    name = fmt.shorten(cases.label(case), _NAME)
    if case.budget is None or not step_us or work_us is None:
        return []
    length = min(_BAR, width - room - 22)
    full = max(0, min(length, round(work_us / step_us * length)))
    full = 1 if work_us > 0 and full == 0 else full
    _, size = fmt.step_unit(step_us)
    waits = sorted((row for row in case.budget.parts if row.name not in WORK_PARTS), key=lambda row: -row.us_per_step)
    bar = f"  {_pad(name, room)}  [{'#' * full}{':' * (length - full)}]  step {fmt.step_time(step_us)}"
    text = f"# works {fmt.number(work_us / size)}"
    if told := _waits(case, waits, step_us):
        text += f"   : waits {fmt.number((step_us - work_us) / size)} = {told}"
    indent = " " * (room + 5)
    return [bar, *_wrap(text, width, indent, most=2)]


def _waits(case: CaseAnalysis, waits: Sequence[BudgetRow], step_us: float) -> str:
    """Name the waits with the figures of the budget's table, which are rounded so that they sum to the step."""
    unit, _ = fmt.step_unit(step_us)
    rows = [row for row in case.budget.parts if row.us_per_step > 0] if case.budget else []
    cells = fmt.time_column([row.us_per_step for row in rows], step_us, unit=unit).cells
    figures = dict(zip((row.name for row in rows), cells, strict=True))
    return _unbroken(
        f"{wording.part_label(row.name)} {figures[row.name]}"
        for row in waits
        if row.us_per_step >= _SMALLEST_PART * step_us
    )


def _findings(report: Report, width: int) -> list[str]:
    top = view_top(report)
    room = _name_room(report)
    lines = []
    for row, finding in zip(top.rows, cases.faults(report), strict=False):
        case = f"{_pad(fmt.shorten(cases.label(finding.case), _NAME), room)}  " if len(report.cases) > 1 else ""
        lead = f"  {row.id:<3} {row.severity_word.upper():<6}  {case}"
        indent = " " * columns_of(lead)
        lines += _wrap(row.title, width, indent, first=lead, most=2)
        lines += _action_lines(plain(action_in_short(finding)), plain(_gain(row, top.unit)), width, indent)
    if not lines:
        lines = _wrap(rules_sentence(report), width, "  ")
    if top.more:
        more = top.more[0].lower() + top.more[1:] if top.rows else top.more
        lines += _wrap(more, width, "  ", first="  ", most=2)
    return lines


def _gain(row: TopRow, unit: str) -> str:
    return "" if row.after == fmt.NOT_EVALUATED else f"{row.before} -> {row.after} {unit}  {row.method_in_short}"


def _action_lines(action: str, gain: str, width: int, indent: str) -> list[str]:
    """Put the gain at the end of the action's line; where both have no room there, below the action."""
    left = width - columns_of(indent) - columns_of(gain)
    if columns_of(action) + 2 <= left:
        return [f"{indent}{_pad(action, left)}{gain}"]
    return [*_wrap(action, width, indent, most=2), *_wrap(gain, width, indent, most=2)]


def _end(report: Report, width: int) -> list[str]:
    lines = []
    sure = [f"{line.lead} {line.text}".strip() for line in view_sureness(report)]
    if sure:
        sure[0] = sure[0][0].lower() + sure[0][1:]
        lines += _whole_sentences("Sure: ", sure, width, most=4 if len(report.cases) == 1 else 3)
    if cases.faults(report):
        told = re.sub(r"^(\d+) rules? fired", r"\1 fired", plain(rules_sentence(report)))
        lines += _wrap(f"Rules: {told}", width, "  ", first="  ", most=1)
    notices = view_notices(report, page(len(report.cases)))
    lines += _whole_sentences("Notices: ", notices[:2], width, most=3 if len(report.cases) == 1 else 2)
    return lines
