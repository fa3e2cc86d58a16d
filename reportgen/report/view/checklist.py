"""The checklist with its verdicts, and the rules' outcomes in a sentence."""

from __future__ import annotations

import dataclasses

from reportgen import formatting as fmt
from reportgen.findings.model import Finding, RuleRecord
from reportgen.findings.rules import RULES
from reportgen.report import wording
from reportgen.report.model import Report
from reportgen.report.view import cases
from reportgen.report.view.facts import Fact, num_facts, state_facts

_MOST_TOLD = 3  # findings and facts of a step


@dataclasses.dataclass(frozen=True, kw_only=True)
class ChecklistStep:
    """A step of the checklist: its verdict, what was looked at, what was found."""

    number: int
    name: str
    verdict: str
    looked_at: str
    found: str


def rules_sentence(report: Report) -> str:
    """Count the outcomes of the rules: "3 rules fired; 25 passed, 3 not applicable, 2 not evaluated (…)"."""
    counts = {outcome: sum(1 for r in report.rules if r.outcome == outcome) for outcome in wording.OUTCOME_ORDER}
    fired = counts.pop("fired")
    facts = fired and not cases.faults(report)
    rest = [f"{fmt.count(n)} {wording.OUTCOME_WORDS[o]}" for o, n in counts.items() if n]
    lead = "No rule fired" if not fired else f"{fmt.plural(fired, 'rule')} fired"
    if facts:
        number = num_facts(report, report.findings)
        lead = f"No fault found; {fmt.plural(number, 'fact is', 'facts are')} stated"
    open_ = list(dict.fromkeys(r.id for r in report.rules if r.outcome in ("not-evaluated", "failed")))
    named = f" ({', '.join(open_)})" if open_ and not fired and len(open_) <= 6 else ""
    return f"{lead}{'; ' if rest else ''}{', '.join(rest)}{named}."


def view_checklist(report: Report) -> tuple[ChecklistStep, ...]:
    """Return the steps of the checklist in order."""
    return tuple(_checklist_step(report, number) for number in wording.CHECKLIST)


def _checklist_step(report: Report, number: int) -> ChecklistStep:
    name, looked_at = wording.CHECKLIST[number]
    ids = {rule.id for rule in RULES if rule.checklist_step == number}
    records = [record for record in report.rules if record.id in ids]
    found = [finding for finding in report.findings if finding.checklist_step == number]
    faults = [finding for finding in found if finding.severity != "info"]
    elsewhere = [one.id for one in report.findings if one.checklist_step != number and ids & set(one.merged)]
    facts = state_facts(report, found)
    verdict = _step_verdict(faults, facts, records)
    if elsewhere and not found:
        verdict = f"see {fmt.listing(elsewhere)}"
    return ChecklistStep(
        number=number,
        name=name,
        verdict=verdict,
        looked_at=cases.sentence(looked_at),
        found=_step_found(faults, facts, records),
    )


def _step_verdict(faults: list[Finding], facts: tuple[Fact, ...], records: list[RuleRecord]) -> str:
    if faults:
        return fmt.plural(len(faults), "finding")
    if facts:
        return fmt.plural(len(facts), "fact")
    passed = sum(1 for record in records if record.outcome == "passed")
    open_ = sum(1 for record in records if record.outcome in ("not-evaluated", "failed"))
    if passed and open_ > passed:
        return f"{fmt.count(open_)} of {fmt.count(passed + open_)} checks not evaluated"
    if passed:
        return "nothing found"
    return fmt.NOT_EVALUATED


def _step_found(faults: list[Finding], facts: tuple[Fact, ...], records: list[RuleRecord]) -> str:
    told = [(finding.id, fmt.legible(finding.title, 80)) for finding in faults]
    told += [(fmt.listing(fact.ids), fact.title) for fact in facts]
    shown = told if len(told) == _MOST_TOLD + 1 else told[:_MOST_TOLD]  # "and 1 more" is as long as the one
    texts = [f"{name}: {title}." for name, title in shown]
    if len(told) > len(shown):
        texts.append(f"And {fmt.count(len(told) - len(shown))} more.")
    open_ = {record.id: record.reason for record in records if record.outcome in ("not-evaluated", "failed")}
    if open_:
        named = [
            f"`{name}` ({fmt.legible(reason or 'no reason given', 70)})" for name, reason in list(open_.items())[:2]
        ]
        more = f" and {fmt.count(len(open_) - 2)} more" if len(open_) > 2 else ""
        texts.append(f"Not evaluated: {', '.join(named)}{more}.")
    passed = sum(1 for record in records if record.outcome == "passed")
    if passed:
        texts.append(f"{fmt.plural(passed, 'check')} passed.")
    return " ".join(texts) or "No rule of this step was evaluated."
