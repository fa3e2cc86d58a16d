"""What every section asks of a case: its name, what limits it, its best promise."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from reportgen import formatting as fmt
from reportgen.analysis.model import WORK_PARTS, CaseAnalysis
from reportgen.findings.model import Finding
from reportgen.report.model import Report

# How gains are known, the surest first; the others are bounds.
_SURENESS = ("measured", "replay")
CASE_LIMIT = 20  # characters of a case's name in tables and sentences of the page


def label(case: CaseAnalysis | str | None, limit: int = CASE_LIMIT) -> str:
    """Return a case's name, safe to print."""
    if case is None:
        return "all cases"
    return fmt.legible(case if isinstance(case, str) else case.name, limit)


def lead(case: CaseAnalysis, num_cases: int, text: str) -> str:
    """Begin a caption with the case it is about, in its own spelling, where there are several: "prefill: the steps"."""
    return f"{label(case)}: {text}" if num_cases > 1 else text[0].upper() + text[1:]


def step_us(case: CaseAnalysis) -> float | None:
    """Return the step's time, None where none is known."""
    if case.timing is not None and case.timing.step_us is not None:
        return case.timing.step_us
    return case.budget.step_us if case.budget else None


def work_us(case: CaseAnalysis) -> float | None:
    """Return how long the device, or the host in its place, works in a step."""
    if case.budget is not None:
        return sum(row.us_per_step for row in case.budget.parts if row.name in WORK_PARTS)
    return case.busy_us


def is_profiled(case: CaseAnalysis) -> bool:
    """Tell whether the step's time was taken under the profiler."""
    return case.timing is None or case.timing.basis == "trace"


def worker(case: CaseAnalysis) -> str:
    """Return who does the work of a case."""
    return "host" if case.device_kind == "host" else "device"


def faults(report: Report, case: str | None = None) -> tuple[Finding, ...]:
    """Return the findings that are no mere facts, most important first; of one case where `case` is given."""
    return tuple(finding for finding in report.findings if finding.severity != "info" and case in (None, finding.case))


def best_gain(report: Report, case: CaseAnalysis) -> Finding | None:
    """Return the finding of `case` that promises the shortest step: one that is measured, else replayed, else any."""
    promising = [
        finding
        for finding in faults(report, case.name)
        if finding.gain
        and finding.gain.step_after_us is not None
        and finding.gain.base == "step"
        and (finding.gain.share_of_step or 0) > 0
    ]

    def key(finding: Finding) -> tuple[int, float]:
        gain = finding.gain
        after = gain.step_after_us if gain and gain.step_after_us is not None else 0.0
        return (_SURENESS.index(gain.method) if gain and gain.method in _SURENESS else len(_SURENESS), after)

    return min(promising, key=key, default=None)


def step_unit(cases: Sequence[CaseAnalysis]) -> tuple[str, float]:
    """Return the one unit for the steps of several cases: that of the longest."""
    return fmt.step_unit(max((step_us(case) or 0.0 for case in cases), default=0.0))


def cut(text: str, limit: int) -> str:
    """Cut a text at a word, at its end, to `limit` characters."""
    whole = fmt.legible(text) if text else ""
    if len(whole) <= limit:
        return whole
    return f"{whole[:limit].rpartition(' ')[0] or whole[:limit]} …"


def sentence(text: str, names: Collection[str] = ()) -> str:
    """Write `text` as a sentence: a capital where it begins with a word that is none of `names`, a full stop."""
    text = text.strip()
    if not text:
        return ""
    first = text.split(maxsplit=1)[0]
    if first.isalpha() and first.islower() and first not in names:
        text = text[0].upper() + text[1:]
    return text if text[-1] in ".!?…" else text + "."
