"""What is said of one finding wherever it stands: its action in a line, its evidence."""

from __future__ import annotations

import re

from reportgen import formatting as fmt
from reportgen.findings.model import Evidence, Finding
from reportgen.report.model import Report
from reportgen.report.view import cases

_CLAUSE_END = re.compile(r"[.:;] ")


def action_in_short(finding: Finding) -> str:
    """Return the action as its rule says it in a line; of an older report, which has none, its first clause."""
    return fmt.legible(finding.short_action or _CLAUSE_END.split(finding.action, maxsplit=1)[0].removesuffix("."))


def evidence_text(report: Report, evidence: tuple[Evidence, ...]) -> str:
    """Join the figures of a finding to sentences."""
    names = {fmt.operator_name(item.name) for case in report.cases for item in case.operators.items}
    return " ".join(cases.sentence(fmt.legible(item.text, 600), names) for item in evidence)
