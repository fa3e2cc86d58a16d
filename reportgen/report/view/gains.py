"""A gain as documents tell it: from which step to which, how it is known, how wide, and what has to be fixed first."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from reportgen import formatting as fmt
from reportgen.findings.sequence import LEAST_SHARE
from reportgen.report import wording
from reportgen.report.view import cases

if TYPE_CHECKING:
    from reportgen.findings.model import Finding
    from reportgen.report.model import Report

# Bounds of a replayed gain are told where they lie further apart than this share of the step.
WIDE_SHARE = 0.05
_MEMORY_STEP = 3  # of the checklist


@dataclasses.dataclass(frozen=True, kw_only=True)
class ToldGain:
    """A step before and after a fix, µs.

    `given` says of which step they are where it is not the case's: "after F2", the step once that is fixed, or "mean".
    `low_us` and `high_us` bound the step after a replayed fix where the profiler's share leaves that open.
    """

    before_us: float
    after_us: float
    method: str
    given: str = ""
    low_us: float | None = None
    high_us: float | None = None

    @property
    def text(self) -> str:
        """Return "6.60 → 1.54 ms", "after F2: 1.51 → 1.16 ms", "mean 8.75 → 8.55 ms"."""
        lead = f"{self.given}: " if self.given.startswith("after") else f"{self.given} " if self.given else ""
        return f"{lead}{self.change}"

    @property
    def change(self) -> str:
        """Return the two steps alone, "1.51 → 1.16 ms", where what they are of stands beside them."""
        return fmt.change(self.before_us, self.after_us)

    @property
    def how_in_short(self) -> str:
        """Return how the gain is known and of which step it is, without its bounds."""
        if self.given:
            return f"{self.method}, {self.given if self.given.startswith('after') else f'of the {self.given}'}"
        return self.method

    def how(self, unit: str) -> str:
        """Return how the gain is known, for a column beside the two steps, whose heads name their `unit`."""
        if self.given:
            return self.how_in_short
        # A range wraps beside its "to": kept whole it would be wider than a column, and break inside a figure.
        bounds = self.bounds.removesuffix(f"{fmt.NBSP}{unit}")
        return f"{self.method}, {bounds}" if bounds else self.method

    @property
    def bounds(self) -> str:
        """Return the bounds of the step after, "5.08 to 6.11 ms", nothing where they are close."""
        return fmt.spread(self.low_us, self.high_us) if self.low_us is not None and self.high_us is not None else ""


def told_gain(report: Report, finding: Finding) -> ToldGain | None:
    """Return the gain in time of a finding; None where it promises none."""
    gain = finding.gain
    before_us = step_before(report, finding)
    if gain is None or gain.step_after_us is None or before_us is None:
        return None
    method = wording.METHOD_WORDS[gain.method]
    if gain.base == "mean-step":
        return ToldGain(before_us=before_us, after_us=gain.step_after_us, method=method, given="mean")
    later = _after_others(report, finding)
    if later is not None and (gain.share_of_step or 0.0) < LEAST_SHARE:
        return later
    least_us, most_us = gain.at_least_us_per_step or 0.0, gain.at_most_us_per_step or 0.0
    wide = gain.method == "replay" and most_us - least_us > WIDE_SHARE * before_us
    return ToldGain(
        before_us=before_us,
        after_us=gain.step_after_us,
        method=method,
        low_us=before_us - most_us if wide else None,
        high_us=before_us - least_us if wide else None,
    )


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


def method_words(report: Report, finding: Finding, unit: str) -> str:
    """Return how a gain is known, beside steps in `unit`, in the words of documents; one in memory says how much."""
    told = told_gain(report, finding)
    if told is not None:
        return told.how(unit)
    gain = finding.gain
    if gain is not None and gain.bytes:
        return f"{fmt.MINUS}{fmt.size(gain.bytes)}{' at most' if gain.method == 'bound' else ''}"
    if gain is None:
        return "in memory" if finding.checklist_step == _MEMORY_STEP else fmt.NOT_EVALUATED
    return wording.METHOD_WORDS[gain.method]


def gain_text(report: Report, finding: Finding) -> str:
    """Return a card's gain: "6.60 → 1.54 ms", or what it takes off the memory's peak; nothing without one."""
    told = told_gain(report, finding)
    if told is not None:
        return told.text
    gain = finding.gain
    return f"{fmt.MINUS}{fmt.size(gain.bytes)} of memory" if gain is not None and gain.bytes else ""


def _after_others(report: Report, finding: Finding) -> ToldGain | None:
    """Return what a fix gives once those before it in the sequence of its case are made; None where it is the first."""
    for sequence in report.fixes:
        if sequence.case != finding.case:
            continue
        ids = [fix.finding for fix in sequence.fixes]
        if finding.id not in ids[1:]:
            return None
        place = ids.index(finding.id)
        fix = sequence.fixes[place]
        return ToldGain(
            before_us=sequence.fixes[place - 1].step_after_us,
            after_us=fix.step_after_us,
            method=wording.METHOD_WORDS[fix.method],
            given=f"after {fmt.listing(ids[:place])}",
        )
    return None
