"""One fix after another: the step after each, given those before it, and what limits it then."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from reportgen import formatting as fmt
from reportgen.report import wording
from reportgen.report.view import cases, tables
from reportgen.report.view.gains import step_before
from reportgen.report.view.tables import Cell, Row, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.analysis.model import CaseAnalysis
    from reportgen.findings.model import Fix, FixSequence
    from reportgen.report.charts.model import Chart
    from reportgen.report.model import Report
    from reportgen.report.view.medium import Medium

TITLE = "One fix after another"
_LIMITS = {"host": "the host", "device": "the device", "waits": "each waits for the other", None: fmt.NOT_EVALUATED}
# Two times of one step this share apart are told as two.
SAME_STEP = 0.02
# Cases with a chart and a table of their own on paper.
_MOST_ON_PAPER = 2


@dataclasses.dataclass(frozen=True, kw_only=True)
class CaseFixes:
    """The fixes of one case; `then` is what is worth a look after them, empty where nothing is."""

    chart: Chart | None
    table: Table
    then: str = ""
    # From which step the measured fixes were taken, where it is not the one that the chart begins with.
    paired: str = ""


def view_fixes(report: Report, charts: dict[str, Chart], medium: Medium) -> tuple[CaseFixes, ...]:
    """Return the fixes of each case that has any; on paper of the two cases with the longest steps."""
    told = [sequence for sequence in report.fixes if sequence.fixes]
    if medium.is_print:
        longest = sorted(told, key=lambda sequence: -sequence.step_us)[:_MOST_ON_PAPER]
        told = [sequence for sequence in told if sequence in longest]
    return tuple(
        dataclasses.replace(
            _of_case(sequence, case_of(report, sequence), charts.get(sequence.case), len(told)),
            paired=_paired(report, sequence),
        )
        for sequence in told
    )


def _of_case(sequence: FixSequence, case: CaseAnalysis, chart: Chart | None, num_cases: int) -> CaseFixes:
    then = cases.lead(case, num_cases, told_then(sequence)) if sequence.then_worth else ""
    return CaseFixes(chart=chart, table=fixes_table(sequence, case, num_cases), then=then)


def told_then(sequence: FixSequence) -> str:
    """Say what rules passed as too small a share of the step, and is none of the step that the fixes leave."""
    given = [
        f"`{one.rule}`, at most {fmt.duration(one.cost_us_per_step)} or {fmt.share(one.share_after)} of that step "
        f"({fmt.share(one.share_of_step)} now)"
        for one in sequence.then_worth
    ]
    return f"once these are made, with the device’s work as it is, worth a look too: {fmt.listing(given)}."


def case_of(report: Report, sequence: FixSequence) -> CaseAnalysis:
    """Return the case that a sequence is about."""
    return next(case for case in report.cases if case.name == sequence.case)


def fixes_table(sequence: FixSequence, case: CaseAnalysis, num_cases: int) -> Table:
    """Return the step before and after each fix, a row each, and the roof where it is known."""
    unit, _ = fmt.step_unit(sequence.step_us)
    before = [sequence.step_us, *(fix.step_after_us for fix in sequence.fixes)]
    after = tables.times([*before, *([sequence.roof_us] if sequence.roof_us is not None else [])], unit=unit)
    gains = tables.times([us - fix.step_after_us for us, fix in zip(before, sequence.fixes, strict=False)], unit=unit)
    rows = [_row("", "now", Cell(text=""), after[0], "", _LIMITS[sequence.limits_now])]
    rows += [
        _row(fix.finding, fix_name(fix), gains[i], after[i + 1], wording.METHOD_WORDS[fix.method],
             _LIMITS[fix.limits_next])
        for i, fix in enumerate(sequence.fixes)
    ]  # fmt: skip
    if sequence.roof_us is not None:
        rows.append(_row("", "the work at the device’s limits", Cell(text=""), after[-1], "roofline", ""))
    heads = (
        ("", 6.0, False), ("Fix", 36.0, False), (f"Gives, {unit}", 12.0, True), (f"Step after, {unit}", 13.0, True),
        ("Known by", 11.0, False), ("What limits then", 22.0, False),
    )  # fmt: skip
    return Table(
        caption=cases.lead(case, num_cases, "the step after each fix, those above it made."),
        columns=tables.columns(*heads),
        rows=tuple(rows),
        note=_note(sequence, case),
    )


def fix_name(fix: Fix) -> str:
    """Write what is done: the edit, or the alternative that was measured."""
    return fmt.sentence_start(fix.edit) if fix.method != "measured" else fmt.legible(fix.edit, 60)


def _paired(report: Report, sequence: FixSequence) -> str:
    """Say what the unchanged step took beside a fix that was measured, where that is not the step of the timing pass.

    Both are medians of one run on one machine, at other times: they differ as far as the machine wanders.
    """
    told = []
    for fix in sequence.fixes:
        finding = next((one for one in report.findings if one.id == fix.finding), None)
        before_us = step_before(report, finding) if finding is not None and fix.method == "measured" else None
        if before_us is not None and abs(before_us - sequence.step_us) > SAME_STEP * sequence.step_us:
            told.append(
                f"{fix.finding} was timed on its own, in turn with the unchanged step, which took "
                f"{fmt.step_time(before_us)} then: the {fmt.step_time(sequence.step_us)} above are of the timing pass."
            )
    return " ".join(told)


def _row(id_: str, name: str, gives: Cell, after: Cell, method: str, limit: str) -> Row:
    first = Cell(text=id_, href=f"#{id_}" if id_ else None)
    return Row(cells=(first, Cell(text=name), gives, after, Cell(text=method), tables.text(limit)))


def _note(sequence: FixSequence, case: CaseAnalysis) -> str:
    told = []
    if case.replay is not None and not case.replay.usable:
        error = fmt.share(case.replay.base_error)
        told.append(f"The replayed step misses the measured one by {error}, so nothing is said of a second fix.")
    elif case.replay is not None:
        error = fmt.share(case.replay.base_error)
        if cases.is_profiled(case):
            told.append(f"Replayed as it is, the step meets the measured one to {error}.")
        else:
            told.append(f"The replay is set to take what the unprofiled step takes, and is off by {error}.")
    if cases.is_profiled(case):
        told.append(
            "The step is the profiled one: the profiler’s share is in every line of this table. What limits then is "
            "told of the step without that share."
        )
    if close := _host_is_close(sequence, case):
        told.append(close)
    if sequence.left_out:
        told.append(f"Nothing more, or nothing that a replay can tell: {fmt.listing(_short(sequence.left_out))}.")
    return " ".join(told)


def _host_is_close(sequence: FixSequence, case: CaseAnalysis) -> str:
    """Warn where a step that the device limits all along would be shorter than the host may take to issue it."""
    launching = case.launching
    limits = {sequence.limits_now, *(fix.limits_next for fix in sequence.fixes)}
    if launching is None or launching.host_high_us is None or limits != {"device"}:
        return ""
    if not sequence.fixes or launching.host_high_us <= sequence.fixes[-1].step_after_us:
        return ""
    host = fmt.spread(launching.host_low_us, launching.host_high_us)
    return f"The host issues work for {host} a step: it may limit the last of these steps, which is longer then."


def _short(ids: Sequence[str]) -> list[str]:
    return [*ids[:6], *([f"{len(ids) - 6} more"] if len(ids) > 6 else [])]
