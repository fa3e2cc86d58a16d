"""Findings: the cards, the table of those without one, the facts, and the checklist."""

from __future__ import annotations

import dataclasses

from reportgen import formatting as fmt
from reportgen.findings.model import Finding, Severity
from reportgen.report import wording
from reportgen.report.model import Report
from reportgen.report.view import cases, tables
from reportgen.report.view.checklist import ChecklistStep, rules_sentence, view_checklist
from reportgen.report.view.facts import Fact, state_facts
from reportgen.report.view.finding_texts import evidence_text
from reportgen.report.view.gains import gain_text, told_gain
from reportgen.report.view.leftovers import view_leftovers
from reportgen.report.view.links import Links
from reportgen.report.view.medium import Medium
from reportgen.report.view.tables import Cell, Link, Row, Table

MOST_CARDS_PRINTED = 6
MOST_ROWS_PRINTED = 12


@dataclasses.dataclass(frozen=True, kw_only=True)
class Card:
    """A finding in full: labels and texts in their fixed order."""

    id: str
    severity: Severity
    severity_word: str
    tag: str
    title: str
    gain: str
    gain_note: str
    items: tuple[tuple[str, str], ...]
    # The command of "Check", to be copied; None where the text holds none.
    command: str | None
    # Into the timeline, to the places that the evidence is about.
    places: tuple[Link, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Findings:
    """The section."""

    cards: tuple[Card, ...]
    # On the page, findings that have no card.
    smaller: Table | None
    facts: Table | None
    facts_elsewhere: str
    sentence: str
    more: str | None
    checklist: tuple[ChecklistStep, ...]
    leftovers: tuple[str, ...]  # what is not worth optimising, a sentence a case


def view_findings(report: Report, medium: Medium, links: Links) -> Findings:
    """Return cards for faults, a table for facts, and the checklist."""
    faults = cases.faults(report)
    grave = tuple(finding for finding in faults if finding.severity != "low") or faults[:1]
    shown = grave[:MOST_CARDS_PRINTED] if medium.is_print else faults
    rest = [finding for finding in faults if finding not in shown]
    left = max(0, len(rest) - MOST_ROWS_PRINTED)
    facts = state_facts(report, report.findings)
    elsewhere = _facts_elsewhere(len(facts))
    return Findings(
        cards=tuple(_card(report, finding, links) for finding in shown),
        smaller=_smaller_table(report, rest[:MOST_ROWS_PRINTED], elsewhere if medium.is_print else "")
        if rest
        else None,
        facts=_facts_table(facts) if facts else None,
        facts_elsewhere="" if rest else elsewhere,
        sentence=rules_sentence(report),
        more=f"{fmt.plural(left, 'more finding')} in the HTML and in report.json." if left else None,
        checklist=view_checklist(report),
        leftovers=view_leftovers(report),
    )


def _card(report: Report, finding: Finding, links: Links) -> Card:
    rules = ", ".join(fmt.legible(name, 40) for name in (finding.rule, *finding.merged))
    texts = (
        ("Evidence", _with_source(report, finding)),
        ("Why", finding.mechanism),
        ("Do", finding.action),
        ("Check", finding.verify),
        ("Beware", finding.beware or ""),
    )
    parts = [finding.id, cases.label(finding.case), rules, *([finding.kind] if finding.kind else [])]
    gain = gain_text(report, finding)
    note = ", ".join(part for part in (_how(report, finding), f"sure: {finding.confidence}") if part)
    return Card(
        id=finding.id,
        severity=finding.severity,
        severity_word=wording.SEVERITY_WORDS[finding.severity],
        tag=" · ".join(fmt.legible(part, 60) for part in parts),
        title=fmt.legible(finding.title, 120),
        gain=gain,
        gain_note=note,
        items=tuple(
            (label, fmt.legible(text, 1200) if label == "Evidence" else cases.sentence(fmt.legible(text, 1200)))
            for label, text in texts
            if text
        ),
        command=_command(finding.verify),
        places=links.finding(finding),
    )


def _how(report: Report, finding: Finding) -> str:
    """Return how the gain beside it is known, and its bounds where they are wide."""
    told = told_gain(report, finding)
    if told is not None:
        return ", ".join(part for part in (told.method, told.bounds) if part)
    return wording.METHOD_WORDS[finding.gain.method] if finding.gain is not None and finding.gain.bytes else ""


def _with_source(report: Report, finding: Finding) -> str:
    text = evidence_text(report, finding.evidence)
    source = finding.source
    if source is None or source.function in text:
        return text
    return f"{text} In {source_words(source.function, source.file, source.line, source.line_kind)}."


def source_words(function: str, file: str, line: int, line_kind: str) -> str:
    """Name a place: a call's line as it is, a function's first line as "from line n"."""
    place = f"{fmt.legible(file, 60)}:{line}" if line_kind == "call" else f"{fmt.legible(file, 60)}, from line {line}"
    return f"`{fmt.legible(function, 60)}` ({place})"


def _command(verify: str) -> str | None:
    """Return the command that a check names first."""
    pieces = verify.split("`")
    return next((fmt.command_line(piece) for piece in pieces[1::2] if " " in piece), None)


def _facts_elsewhere(num_facts: int) -> str:
    if not num_facts:
        return ""
    verb = "stands" if num_facts == 1 else "stand"
    return (
        f"{fmt.spelled(num_facts).capitalize()} {fmt.noun(num_facts, 'fact')} about the run {verb} in the appendices."
    )


def _smaller_table(report: Report, smaller: list[Finding], elsewhere: str) -> Table:
    rows = tuple(
        Row(
            cells=(
                Cell(text=finding.id, strong=True),
                Cell(text=cases.label(finding.case)),
                Cell(text=fmt.legible(finding.title, 80)),
                Cell(text=fmt.legible(finding.action)),
                _gain_cell(report, finding),
            )
        )
        for finding in smaller
    )
    heads = (
        ("", 5.0, False),
        ("Case", 12.0, False),
        ("Finding", 26.0, False),
        ("Do", 41.0, False),
        ("Step", 16.0, True),
    )
    # In the caption, not below the table: a line of its own can be all that falls on the next page.
    caption = f"Smaller findings, each in full in the HTML. {elsewhere}".rstrip()
    return Table(caption=caption, columns=tables.columns(*heads), rows=rows)


def _gain_cell(report: Report, finding: Finding) -> Cell:
    """Return the gain in a column: the steps above, and below them how they are known and of which step they are."""
    told = told_gain(report, finding)
    if told is not None:
        return Cell(text=told.change, note=told.how(""))
    return Cell(text=gain_text(report, finding) or fmt.NOT_EVALUATED, note=_how(report, finding) or None)


def _facts_table(facts: tuple[Fact, ...]) -> Table:
    rows = tuple(
        Row(
            cells=(
                Cell(text=", ".join(fact.ids), strong=True),
                Cell(text=fact.cases),
                Cell(text=fact.title),
                Cell(text=fact.evidence, muted=True),
            )
        )
        for fact in facts
    )
    heads = (("", 5.0, False), ("Case", 12.0, False), ("Fact", 33.0, False), ("Evidence", 50.0, False))
    return Table(
        caption="Facts about the run: nothing to mend, but to know.", columns=tables.columns(*heads), rows=rows
    )
