"""What is said of one finding wherever it stands: its action in a line, its gain, its evidence."""

from __future__ import annotations

from reportgen import formatting as fmt
from reportgen.findings.model import Evidence, Finding, Gain
from reportgen.report import wording
from reportgen.report.model import Report
from reportgen.report.view import cases

# Where an action can end and still be one: a comma alone may stand in an enumeration.
_CLAUSE_ENDS = (": ", "; ", ", or ", ", and ")


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


def time_method(gain: Gain | None) -> str | None:
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
