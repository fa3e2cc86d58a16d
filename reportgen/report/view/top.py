"""Page one's findings: the three that come first, and a count of the rest."""

from __future__ import annotations

import dataclasses

from reportgen import formatting as fmt
from reportgen.findings.model import Severity
from reportgen.report import wording
from reportgen.report.model import Report
from reportgen.report.view import cases
from reportgen.report.view.checklist import rules_sentence
from reportgen.report.view.facts import num_facts
from reportgen.report.view.finding_texts import action_in_short
from reportgen.report.view.gains import method_words, step_before, told_gain

MOST_TOP = 3


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
    # The same where there is no room for bounds.
    method_in_short: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Top:
    """What to do first; without rows `sentence` says what the rules did. `more` counts what is not shown."""

    unit: str
    rows: tuple[TopRow, ...]
    sentence: str
    more: str | None


def view_top(report: Report) -> Top:
    """Return the three findings that come first."""
    faults = cases.faults(report)
    shown = faults[:MOST_TOP]
    unit, size = cases.step_unit([case for case in report.cases if case.name in {f.case for f in shown}])
    told = [told_gain(report, finding) for finding in shown]
    before = [gain.before_us if gain else step_before(report, one) for gain, one in zip(told, shown, strict=True)]
    after = [gain.after_us if gain else None for gain in told]
    before_texts = [_cell(value, size) for value in before]
    after_texts = [_cell(value, size) for value in after]
    pads = (fmt.hidden_digits(before_texts), fmt.hidden_digits(after_texts))
    rows = tuple(
        TopRow(
            id=finding.id,
            severity=finding.severity,
            severity_word=wording.SEVERITY_WORDS[finding.severity],
            title=fmt.legible(finding.title, 90),
            action=action_in_short(finding),
            before=before_texts[index],
            before_pad=pads[0][index],
            after=after_texts[index],
            after_pad=pads[1][index],
            method=method_words(report, finding, unit),
            method_in_short=gain.how_in_short if (gain := told[index]) else method_words(report, finding, unit),
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
    facts, of_cases = num_facts(report, rest), sum(1 for finding in rest if finding.severity == "info")
    several = ", some of several cases" if of_cases > facts else ""
    words += [f"{fmt.spelled(facts)} {fmt.noun(facts, 'fact')} about the run{several}"] if facts else []
    ids = fmt.listing([finding.id for finding in rest]) if len(rest) <= 6 else f"{rest[0].id} to {rest[-1].id}"
    text = f"{fmt.listing(words)}: {ids}."
    return f"And {text}" if num_shown else text[0].upper() + text[1:]


def _cell(value_us: float | None, size: float) -> str:
    return fmt.number(value_us / size) if value_us is not None else fmt.NOT_EVALUATED
