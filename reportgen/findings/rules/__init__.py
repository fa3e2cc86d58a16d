"""The rules, one a file, in checklist order."""

from __future__ import annotations

from reportgen.findings.rule import Rule
from reportgen.findings.rules import dominant_operator, host_bound, profiler_distortion

RULES: tuple[Rule, ...] = (
    dominant_operator.RULE,
    host_bound.RULE,
    profiler_distortion.RULE,
)
