"""What is said of one finding wherever it stands: its action in a line, its evidence."""

from __future__ import annotations

from reportgen import formatting as fmt
from reportgen.findings.model import Evidence
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


def evidence_text(report: Report, evidence: tuple[Evidence, ...]) -> str:
    """Join the figures of a finding to sentences."""
    names = {fmt.operator_name(item.name) for case in report.cases for item in case.operators.items}
    return " ".join(cases.sentence(fmt.legible(item.text, 600), names) for item in evidence)
