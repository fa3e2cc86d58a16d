"""Findings: the three on page one, the cards, the table of all, and the checklist with its verdicts."""

from __future__ import annotations

import dataclasses

from reportgen import formatting as fmt
from reportgen.findings.model import Evidence, Finding, Gain, RuleRecord, Severity
from reportgen.findings.rules import RULES
from reportgen.report import wording
from reportgen.report.model import Report
from reportgen.report.view import cases, tables
from reportgen.report.view.medium import Medium
from reportgen.report.view.tables import Cell, Row, Table

MOST_TOP = 3
MOST_CARDS_PRINTED = 6
MOST_ROWS_PRINTED = 12
# Where an action can end and still be one: a comma alone may stand in an enumeration.
_CLAUSE_ENDS = (": ", "; ", ", or ", ", and ")


@dataclasses.dataclass(frozen=True, kw_only=True)
class TopRow:
    """A finding on page one."""

    id: str
    severity: Severity
    severity_word: str
    title: str
    action: str
    before: str
    before_pad: str
    after: str
    after_pad: str
    method: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Top:
    """What to do first; without rows `sentence` says what the rules did. `more` counts what is not shown."""

    unit: str
    rows: tuple[TopRow, ...]
    sentence: str
    more: str | None


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


@dataclasses.dataclass(frozen=True, kw_only=True)
class ChecklistStep:
    """A step of the checklist: its verdict, what was looked at, what was found."""

    number: int
    name: str
    verdict: str
    looked_at: str
    found: str


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


def view_top(report: Report, medium: Medium) -> Top:
    """Return the three findings that come first."""
    faults = cases.faults(report)
    shown = faults[:MOST_TOP]
    unit, size = cases.step_unit([case for case in report.cases if case.name in {f.case for f in shown}])
    before = [step_before(report, finding) for finding in shown]
    after = [finding.gain.step_after_us if finding.gain else None for finding in shown]
    before_texts = [_cell(value, size) for value in before]
    after_texts = [_cell(value, size) for value in after]
    pads = (fmt.hidden_digits(before_texts), fmt.hidden_digits(after_texts))
    rows = tuple(
        TopRow(
            id=finding.id,
            severity=finding.severity,
            severity_word=wording.SEVERITY_WORDS[finding.severity],
            title=fmt.legible(finding.title, 90),
            action=clip(finding.action, 64 if medium.is_print else 112),
            before=before_texts[index],
            before_pad=pads[0][index],
            after=after_texts[index],
            after_pad=pads[1][index],
            method=method_words(finding.gain),
        )
        for index, finding in enumerate(shown)
    )
    return Top(unit=unit, rows=rows, sentence=rules_sentence(report), more=_more(report, len(shown)))


def _more(report: Report, num_shown: int) -> str | None:
    rest = report.findings[num_shown:] if num_shown else report.findings
    if not rest:
        return None
    counts = [
        (sum(1 for finding in rest if finding.severity == severity), word)
        for severity, word in (("high", "of high"), ("medium", "of medium"), ("low", "of low"))
    ]
    words = [f"{fmt.spelled(number)} {word} severity" for number, word in counts if number]
    facts = sum(1 for finding in rest if finding.severity == "info")
    words += [f"{fmt.spelled(facts)} {fmt.noun(facts, 'fact')} about the run"] if facts else []
    ids = fmt.listing([finding.id for finding in rest]) if len(rest) <= 6 else f"{rest[0].id} to {rest[-1].id}"
    text = f"{fmt.listing(words)}: {ids}."
    return f"And {text}" if num_shown else text[0].upper() + text[1:]


def clip(text: str, limit: int) -> str:
    """Keep the first sentence, then its first clauses, so that an action stays a line or two."""
    first = fmt.legible(text).split(". ")[0].removesuffix(".")
    if len(first) <= limit:
        return first
    for marks in (_CLAUSE_ENDS, (", ",)):
        clause = max(_outside_code(first, mark, limit // 3, limit) for mark in marks)
        if clause > 0:
            return first[:clause]
    cut = first[:limit].rpartition(" ")[0].rstrip(",;:")
    if not cut:
        return fmt.shorten(first, limit)
    return f"{cut}{'`' if cut.count('`') % 2 else ''} …"


def _outside_code(text: str, mark: str, start: int, end: int) -> int:
    """Return where `mark` stands last between `start` and `end` and outside backticks, -1 where it does not."""
    at = text.rfind(mark, start, end)
    while at > 0 and text[:at].count("`") % 2:
        at = text.rfind(mark, start, at)
    return at


def _cell(value_us: float | None, size: float) -> str:
    return fmt.number(value_us / size) if value_us is not None else fmt.NOT_EVALUATED


def step_before(report: Report, finding: Finding) -> float | None:
    """Return the step that the gain is taken from: ``after / (1 - share)``.

    Not after + `at_most_us_per_step`: of a gain that is an interval, that is the step of its upper end.
    """
    gain = finding.gain
    share = gain.share_of_step if gain else None
    if gain is not None and gain.step_after_us is not None and share is not None and share < 1.0:
        return gain.step_after_us / (1.0 - share)
    case = next((case for case in report.cases if case.name == finding.case), None)
    return cases.step_us(case) if case else None


def method_words(gain: Gain | None) -> str:
    """Return how a gain is known, in the words of the documents; a gain in memory says how much."""
    if gain is not None and gain.step_after_us is None and gain.bytes:
        return f"{fmt.MINUS}{fmt.size(gain.bytes)}"
    return wording.METHOD_WORDS[gain.method] if gain else fmt.NOT_EVALUATED


def _time_method(gain: Gain | None) -> str | None:
    """Return how a gain in time is known; a gain in memory has said all with its size."""
    return wording.METHOD_WORDS[gain.method] if gain and gain.step_after_us is not None else None


def gain_text(report: Report, finding: Finding) -> str:
    """Return a card's gain: "6.60 → 1.54 ms", or what it takes off the memory's peak."""
    gain = finding.gain
    if gain is None:
        return ""
    if gain.step_after_us is not None:
        return fmt.change(step_before(report, finding), gain.step_after_us)
    return f"{fmt.MINUS}{fmt.size(gain.bytes)} of memory" if gain.bytes else ""


def evidence_text(report: Report, evidence: tuple[Evidence, ...]) -> str:
    """Join the figures of a finding to sentences."""
    names = {fmt.operator_name(item.name) for case in report.cases for item in case.operators.items}
    return " ".join(cases.sentence(fmt.legible(item.text, 600), names) for item in evidence)


def view_findings(report: Report, medium: Medium) -> Findings:
    """Return cards for faults, a table for facts, and the checklist."""
    faults = cases.faults(report)
    grave = tuple(finding for finding in faults if finding.severity != "low") or faults[:1]
    shown = grave[:MOST_CARDS_PRINTED] if medium.is_print else faults
    rest = [finding for finding in faults if finding not in shown]
    left = max(0, len(rest) - MOST_ROWS_PRINTED)
    facts = [finding for finding in report.findings if finding.severity == "info"]
    elsewhere = _facts_elsewhere(len(facts))
    return Findings(
        cards=tuple(_card(report, finding) for finding in shown),
        smaller=_smaller_table(report, rest[:MOST_ROWS_PRINTED], elsewhere if medium.is_print else "")
        if rest
        else None,
        facts=_facts_table(report, facts) if facts else None,
        facts_elsewhere="" if rest else elsewhere,
        sentence=rules_sentence(report),
        more=f"{fmt.plural(left, 'more finding')} in the HTML and in report.json." if left else None,
        checklist=tuple(_checklist_step(report, number) for number in wording.CHECKLIST),
    )


def _card(report: Report, finding: Finding) -> Card:
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
    method = wording.METHOD_WORDS[finding.gain.method] if finding.gain else ""
    note = f"{method}, sure: {finding.confidence}" if gain else f"sure: {finding.confidence}"
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
    )


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
    return next((piece for piece in pieces[1::2] if " " in piece), None)


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
                Cell(text=cases.cut(finding.action, 130)),
                Cell(text=gain_text(report, finding) or fmt.NOT_EVALUATED, note=_time_method(finding.gain)),
            )
        )
        for finding in smaller
    )
    heads = (
        ("", 5.0, False),
        ("Case", 11.0, False),
        ("Finding", 31.0, False),
        ("Do", 36.0, False),
        ("Step", 17.0, True),
    )
    # In the caption, not below the table: a line of its own can be all that falls on the next page.
    caption = f"Smaller findings, each in full in the HTML. {elsewhere}".rstrip()
    return Table(caption=caption, columns=tables.columns(*heads), rows=rows)


def _facts_table(report: Report, facts: list[Finding]) -> Table:
    rows = tuple(
        Row(
            cells=(
                Cell(text=finding.id, strong=True),
                Cell(text=cases.label(finding.case)),
                Cell(text=fmt.legible(finding.title, 80)),
                Cell(text=evidence_text(report, finding.evidence[:2]), muted=True),
            )
        )
        for finding in facts
    )
    heads = (("", 5.0, False), ("Case", 12.0, False), ("Fact", 33.0, False), ("Evidence", 50.0, False))
    return Table(
        caption="Facts about the run: nothing to mend, but to know.", columns=tables.columns(*heads), rows=rows
    )


def rules_sentence(report: Report) -> str:
    """Count the outcomes of the rules: "3 rules fired; 25 passed, 3 not applicable, 2 not evaluated (…)"."""
    counts = {outcome: sum(1 for r in report.rules if r.outcome == outcome) for outcome in wording.OUTCOME_ORDER}
    fired = counts.pop("fired")
    facts = fired and not cases.faults(report)
    rest = [f"{fmt.count(n)} {wording.OUTCOME_WORDS[o]}" for o, n in counts.items() if n]
    lead = "No rule fired" if not fired else f"{fmt.plural(fired, 'rule')} fired"
    if facts:
        lead = f"No fault found; {fmt.plural(fired, 'rule states', 'rules state')} a fact"
    open_ = list(dict.fromkeys(r.id for r in report.rules if r.outcome in ("not-evaluated", "failed")))
    named = f" ({', '.join(open_)})" if open_ and not fired and len(open_) <= 6 else ""
    return f"{lead}{'; ' if rest else ''}{', '.join(rest)}{named}."


def _checklist_step(report: Report, number: int) -> ChecklistStep:
    name, looked_at = wording.CHECKLIST[number]
    ids = {rule.id for rule in RULES if rule.checklist_step == number}
    records = [record for record in report.rules if record.id in ids]
    found = [finding for finding in report.findings if finding.checklist_step == number]
    faults = [finding for finding in found if finding.severity != "info"]
    return ChecklistStep(
        number=number,
        name=name,
        verdict=_step_verdict(faults, found, records),
        looked_at=cases.sentence(looked_at),
        found=_step_found(found, records),
    )


def _step_verdict(faults: list[Finding], found: list[Finding], records: list[RuleRecord]) -> str:
    if faults:
        return fmt.plural(len(faults), "finding")
    if found:
        return fmt.plural(len(found), "fact")
    if any(record.outcome == "passed" for record in records):
        return "nothing found"
    return fmt.NOT_EVALUATED


def _step_found(found: list[Finding], records: list[RuleRecord]) -> str:
    texts = [f"{finding.id}: {fmt.legible(finding.title, 80)}." for finding in found[:3]]
    if len(found) > 3:
        texts.append(f"And {fmt.count(len(found) - 3)} more.")
    open_ = {record.id: record.reason for record in records if record.outcome in ("not-evaluated", "failed")}
    if open_:
        shown = [
            f"`{name}` ({fmt.legible(reason or 'no reason given', 70)})" for name, reason in list(open_.items())[:2]
        ]
        more = f" and {fmt.count(len(open_) - 2)} more" if len(open_) > 2 else ""
        texts.append(f"Not evaluated: {', '.join(shown)}{more}.")
    passed = sum(1 for record in records if record.outcome == "passed")
    if passed:
        texts.append(f"{fmt.plural(passed, 'check')} passed.")
    return " ".join(texts) or "No rule of this step was evaluated."
