"""What is not worth anybody's afternoon: what no finding speaks of, with the most that it could give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen import formatting as fmt
from reportgen.findings.rules.low_roofline import headroom_us
from reportgen.findings.shape_faults import WORTHWHILE_SHARE
from reportgen.report.view import cases

if TYPE_CHECKING:
    from reportgen.analysis.model import BudgetPart, CaseAnalysis, Operator
    from reportgen.report.model import Report

_MOST_NAMED = 2
# Parts of the budget that a program can do without, what they are called, and the rules that speak of them.
_SPARED: dict[BudgetPart, tuple[str, frozenset[str]]] = {
    "copy": ("copies between host and device", frozenset({"blocking-copy"})),
    "sync": ("synchronizations", frozenset({"sync-point"})),
    "input": ("waits for data", frozenset({"input-stall"})),
    "allocator": ("the allocator's calls", frozenset({"allocator-churn"})),
    "build": ("plans and kernels made on the way", frozenset({"shape-specialisation", "recompilation"})),
    "stall": ("pauses of the host", frozenset({"host-stall"})),
}


def view_leftovers(report: Report) -> tuple[str, ...]:
    """Return a sentence a case, of those whose step time is known."""
    return tuple(text for case in report.cases if (text := _of_case(report, case)))


def _of_case(report: Report, case: CaseAnalysis) -> str | None:
    step_us = cases.step_us(case)
    if not step_us or case.budget is None:
        return None
    told = {name for one in cases.faults(report, case.name) for name in (one.rule, *one.merged)}
    most_us: dict[str, float] = {}
    for part in case.budget.parts:
        if part.name in _SPARED and not _SPARED[part.name][1] & told:
            most_us[_SPARED[part.name][0]] = max(part.us_per_step, part.high_us or 0.0)
    small = {name: us for name, us in most_us.items() if us < WORTHWHILE_SHARE * step_us}
    costing = sorted(((us, name) for name, us in small.items() if us > 0), reverse=True)
    given = [f"{fmt.duration(us)} in {name}" for us, name in costing]
    if operator := _next_operator(case, step_us):
        row, us = operator
        given.append(f"{fmt.duration(us)} in `{fmt.operator_name(row.name)}` at its roof")
    texts = [f"at most {fmt.listing(given)}"] if given else []
    if nothing := [name for name, us in small.items() if us <= 0]:
        few = len(nothing) <= _MOST_NAMED
        texts.append(f"nothing in {fmt.listing(nothing) if few else f'{fmt.count(len(nothing))} other waits'}")
    if not texts:
        return None
    return f"{cases.label(case)}, of {fmt.step_time(step_us)}: {', '.join(texts)}."


def _next_operator(case: CaseAnalysis, step_us: float) -> tuple[Operator, float] | None:
    """Return the operator with the most to gain at its roof among those under the threshold of a finding."""
    rows = [(headroom_us(row), row) for row in case.operators.items if row.device_us_per_step and row.roof_us]
    little = [pair for pair in rows if 0 < pair[0] < WORTHWHILE_SHARE * step_us]
    if not little:
        return None
    us, row = max(little, key=lambda pair: pair[0])
    return row, us
