"""Facts about the run: what several cases share is stated once."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from reportgen import formatting as fmt
from reportgen.report.view import cases
from reportgen.report.view.finding_texts import evidence_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.findings.model import Finding, Statement
    from reportgen.report.model import Report

# Cases whose evidence is told one by one.
_MOST_TOLD = 6
_EVIDENCE_LINES = 2


@dataclasses.dataclass(frozen=True, kw_only=True)
class Fact:
    """One or several findings that state the same of their cases; `cases` names those."""

    ids: tuple[str, ...]
    cases: str
    title: str
    evidence: str


def state_facts(report: Report, findings: Sequence[Finding]) -> tuple[Fact, ...]:
    """Return the facts among `findings`, one for each statement, in the order of the first finding of each."""
    groups: dict[tuple[str, ...], list[Finding]] = {}
    for finding in findings:
        if finding.severity == "info":
            said = finding.statement
            # Without a statement a finding stands alone.
            key = (finding.rule, said.lead, said.tail) if said is not None else (finding.id,)
            groups.setdefault(key, []).append(finding)
    return tuple(_fact(report, members) for members in groups.values())


def num_facts(report: Report, findings: Sequence[Finding]) -> int:
    """Return how many facts `findings` state."""
    return len(state_facts(report, findings))


def _fact(report: Report, members: list[Finding]) -> Fact:
    if len(members) == 1:
        (finding,) = members
        return Fact(
            ids=(finding.id,),
            cases=cases.label(finding.case),
            title=fmt.legible(finding.title, 80),
            evidence=evidence_text(report, finding.evidence[:_EVIDENCE_LINES]),
        )
    ids = tuple(one.id for one in members)
    order = [case.name for case in report.cases]
    members = sorted(members, key=lambda one: order.index(one.case) if one.case in order else len(order))
    return Fact(
        ids=ids,
        cases=_names(report, members),
        title=fmt.legible(_title([one.statement for one in members if one.statement]), 80),
        evidence=_evidence(report, members),
    )


def _names(report: Report, members: list[Finding]) -> str:
    if len(members) <= 2:
        return fmt.listing([cases.label(one.case) for one in members])
    return "all cases" if len(members) == len(report.cases) else fmt.plural(len(members), "case")


def _title(said: list[Statement]) -> str:
    """Join statements that differ in their figure alone: "The first step takes 479 to 1 230 ms"."""
    ordered = sorted(said, key=lambda one: one.value or 0.0)
    low, high = ordered[0].figure, ordered[-1].figure
    number, _, unit = low.rpartition(fmt.NBSP)
    if number and unit == high.rpartition(fmt.NBSP)[2]:
        low = number
    figures = high if ordered[0].figure == high else f"{low} to {high}"
    return " ".join(part for part in (said[0].lead, figures, said[0].tail) if part)


def _evidence(report: Report, members: list[Finding]) -> str:
    texts = [evidence_text(report, one.evidence[:_EVIDENCE_LINES]) for one in members]
    if len(set(texts)) == 1:
        return texts[0]
    told = [f"{cases.label(one.case)}: {text}" for one, text in zip(members[:_MOST_TOLD], texts, strict=False)]
    left = len(members) - len(told)
    return " ".join([*told, *([f"And {fmt.plural(left, 'more case')} in report.json."] if left else [])])
