"""Severity, order and names of findings."""

from __future__ import annotations

import hashlib

import msgspec

from reportgen.findings.model import Confidence, Finding, Gain, Severity
from reportgen.findings.rule import Draft, Rule

# Shares of the step from which a gain is high or medium. Under 3 % a change drowns in the spread of
# unprofiled steps (6.0 to 7.3 ms for one model within minutes); 10 % is what anybody notices.
HIGH_SHARE_OF_STEP = 0.10
MEDIUM_SHARE_OF_STEP = 0.03

# What a promise is worth when two are compared: measured or proven, replayed, bounded.
CONFIDENCE_WEIGHTS: dict[Confidence, float] = {"high": 1.0, "medium": 0.7, "low": 0.4}
# What a fault without a gain in time weighs in the order. One of high severity ends the run (a leak that fills the
# device): a faster step is of no use before it is mended. Others weigh the least share that earns their severity.
_SEVERITY_SHARES: dict[Severity, float] = {
    "high": 1.0, "medium": MEDIUM_SHARE_OF_STEP, "low": 0.0, "info": 0.0,
}  # fmt: skip
_SEVERITY_ORDER: dict[Severity, int] = {"high": 0, "medium": 1, "low": 2, "info": 3}


def severity_of(draft: Draft) -> Severity:
    """Return the draft's own severity, else what its gain's share of the step makes it ("info" without a gain).

    A gain that was measured overrules the rule's own word.
    """
    measured = draft.gain is not None and draft.gain.method == "measured"
    if draft.severity is not None and not measured:
        return draft.severity
    share = promised_share(draft.gain)
    if share is None:
        return "info"
    if share >= HIGH_SHARE_OF_STEP:
        return "high"
    return "medium" if share >= MEDIUM_SHARE_OF_STEP else "low"


def promised_share(gain: Gain | None) -> float | None:
    """Return the share of the step (0..1) that a gain promises, or None where it promises no time."""
    return None if gain is None else gain.share_of_step


def _expected_share(gain: Gain | None) -> float | None:
    """Return what to expect of a gain: its promised share, of a bound half (from nothing up to it)."""
    share = promised_share(gain)
    return share / 2 if gain is not None and gain.method == "bound" and share is not None else share


def fingerprint_of(rule: Rule, case: str | None, draft: Draft) -> str:
    """Return what recognises a finding after an edit: rule, case and the draft's identity, no line numbers.

    The readable parts come first, so that a list of fingerprints can be read; the hash keeps it unique.
    """
    parts = (rule.id, case or "", draft.kind or "", *draft.identity)
    digest = hashlib.blake2b("\x1f".join(parts).encode("utf-8", "replace"), digest_size=6).hexdigest()
    return f"{rule.id}/{case or 'all'}/{digest}"


def rank(findings: list[Finding]) -> tuple[Finding, ...]:
    """Order findings: faults before facts, then by expected share times confidence; name them F1, F2, …."""

    def key(finding: Finding) -> tuple[bool, float, int, int, str, str]:
        share = _expected_share(finding.gain) or _SEVERITY_SHARES[finding.severity]
        weight = share * CONFIDENCE_WEIGHTS[finding.confidence]
        severity = _SEVERITY_ORDER[finding.severity]
        return (finding.severity == "info", -weight, severity, finding.checklist_step, finding.rule, finding.case or "")

    ordered = sorted(findings, key=key)
    return tuple(msgspec.structs.replace(finding, id=f"F{number}") for number, finding in enumerate(ordered, 1))
