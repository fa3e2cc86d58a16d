"""The budget's table: every part of the step, case beside case, with what it is."""

from __future__ import annotations

from collections.abc import Sequence

from reportgen import formatting as fmt
from reportgen.analysis.model import BUDGET_PARTS, BudgetPart, BudgetRow, CaseAnalysis
from reportgen.report import wording
from reportgen.report.model import Report
from reportgen.report.view import cases, tables
from reportgen.report.view.tables import Cell, Row, Table

_MOST_WITH_SHARES = 3  # cases that have room for a column of shares each
# Share of the step from which it is said how far a part is open.
_OPEN = 0.005


def budget_table(report: Report) -> Table | None:
    """Return the budgets of all cases in one table; None where no case has one."""
    known = [case for case in report.cases if case.budget is not None and case.budget.parts]
    if not known:
        return None
    names = [part for part in BUDGET_PARTS if any(_part_us(case, part) > 0 for case in known)]
    unit, _ = cases.step_unit(known)
    shares = len(known) <= _MOST_WITH_SHARES
    interval = len(known) == 1 and _has_interval(known[0])
    columns: list[list[Cell]] = []
    for case in known:
        columns += _case_columns(case, names, unit, shares=shares, interval=interval)
    meanings = _meanings(report, known, names)
    rows = [
        Row(
            cells=(
                Cell(text=wording.part_label(name), part=name),
                *(column[i] for column in columns),
                Cell(text=meanings[i]),
            )
        )
        for i, name in enumerate(names)
    ]
    last = Cell(text=_absent(names, len(known)), muted=True)
    rows.append(Row(kind="total", cells=(Cell(text="step"), *(column[-1] for column in columns), last)))
    return Table(
        caption=_caption(known, unit, interval=interval),
        columns=_heads(known, unit, shares=shares, interval=interval),
        rows=tuple(rows),
        note=_note(report, known, unit, interval=interval),
    )


def _row(case: CaseAnalysis, part: BudgetPart) -> BudgetRow | None:
    return next((row for row in case.budget.parts if row.name == part), None) if case.budget else None


def _part_us(case: CaseAnalysis, part: BudgetPart) -> float:
    row = _row(case, part)
    return row.us_per_step if row else 0.0


def _has_interval(case: CaseAnalysis) -> bool:
    return case.budget is not None and any(
        row.high_us - row.low_us > _OPEN * case.budget.step_us for row in case.budget.parts
    )


def _case_columns(
    case: CaseAnalysis, names: Sequence[BudgetPart], unit: str, *, shares: bool, interval: bool
) -> list[list[Cell]]:
    rows = [_row(case, name) for name in names]
    values = [_part_us(case, name) for name in names]
    step_us = case.budget.step_us if case.budget else 0.0
    columns = [tables.times(values, step_us, unit=unit)]
    if shares:
        texts = [fmt.share(value / step_us if step_us else None) for value in values]
        columns.append([*tables.figures(texts, values), Cell(text=f"100{fmt.NBSP}%")])
    if interval:
        size = dict(fmt.TIME_UNITS)[unit]
        bounds = [_between(row, size) for row in rows]
        columns.append([*[Cell(text=text, muted=text == "exact") for text in bounds], Cell(text="")])
    return columns


def _between(row: BudgetRow | None, size: float) -> str:
    """Write the bounds of a part; "exact" where they read the same."""
    low, high = (fmt.fixed(us / size, 2) for us in (row.low_us, row.high_us)) if row else ("", "")
    return f"{low} to {high}" if low != high else "exact"


def _heads(known: Sequence[CaseAnalysis], unit: str, *, shares: bool, interval: bool) -> tuple[tables.Column, ...]:
    heads: list[tuple[str, float, bool]] = [("Part", 17.0, False)]
    for case in known:
        name = cases.label(case, 14) if len(known) > 1 else unit
        heads.append((name, 10.0, True))
        if shares:
            heads.append(("share", 9.0, True))
        if interval:
            heads.append(("between", 15.0, True))
    heads.append(("What it is", max(30.0, 85.0 - sum(width for _, width, _ in heads)), False))
    return tables.columns(*heads)


def _caption(known: Sequence[CaseAnalysis], unit: str, *, interval: bool) -> str:
    profiled = all(cases.is_profiled(case) for case in known)
    what = "Budget of one profiled step" if profiled else "Budget of one step"
    bounds = ""
    if interval:
        middle = "; the figures are its middle" if profiled else ""
        bounds = f" “Between” is what the profiler’s own share leaves open{middle}."
    return f"{what}, {unit}. Every instant is in one line, and the lines sum to the step.{bounds}"


def _meanings(report: Report, known: Sequence[CaseAnalysis], names: Sequence[BudgetPart]) -> list[str]:
    on_host = all(case.device_kind == "host" for case in known)
    words = wording.HOST_PART_MEANINGS if on_host else wording.PART_MEANINGS
    return [words[name] for name in names]


def _absent(names: Sequence[BudgetPart], num_cases: int) -> str:
    if len(names) == len(BUDGET_PARTS):
        return ""
    return "all other parts: 0" + ("" if num_cases == 1 else " in all cases" if num_cases > 2 else " in both")


def _note(report: Report, known: Sequence[CaseAnalysis], unit: str, *, interval: bool) -> str | None:
    texts = []
    if not interval and (text := _open_split(known, unit)):
        texts.append(text)
    if absent := [cases.label(case) for case in report.cases if case not in known]:
        texts.append(f"No budget for {fmt.listing(absent)}: no step with its activities was recorded.")
    return " ".join(texts) or None


def _open_split(known: Sequence[CaseAnalysis], unit: str) -> str | None:
    """Say how far it is open what of the waits for launches is the calls' own, where there is no column for it."""
    size = dict(fmt.TIME_UNITS)[unit]
    given = []
    for case in known:
        row = _row(case, "launch-call")
        if row is not None and case.budget is not None and row.high_us - row.low_us > _OPEN * case.budget.step_us:
            given.append(f"{_between(row, size)}{fmt.NBSP}{unit} in {cases.label(case)}")
    if not given:
        return None
    return f"Launch and launch call are told apart by an estimate: launch call takes {fmt.listing(given)}."
