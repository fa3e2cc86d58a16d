"""Numbers to findings: the rules, their verdicts, and the order of what they find."""

from __future__ import annotations

from reportgen.findings.evaluate import evaluate

__all__ = ["evaluate"]
