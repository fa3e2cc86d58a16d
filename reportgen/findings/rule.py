"""What a rule is: a pure function from one case to a verdict, with its thresholds named and reasoned."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Literal

from reportgen.analysis.model import CaseAnalysis, Source, Where
from reportgen.analysis.replay.changes import Change
from reportgen.findings.model import Confidence, Evidence, Gain, Severity, Statement
from reportgen.recording import Ceilings, Device, Environment

# Characters of an action in short, its backticks counted: what page one's column and a log's 80 columns have room for.
SHORT_ACTION_LIMIT = 52


@dataclasses.dataclass(frozen=True, kw_only=True)
class Threshold:
    """A number that decides a rule. `reason` says why it is this one."""

    name: str
    value: float
    unit: str
    reason: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Context:
    """What a rule may look at: one case, where it ran, and how it can be run again."""

    case: CaseAnalysis
    environment: Environment
    # The command that makes this report again, without `--case`; None for somebody else's trace.
    rerun: str | None
    thresholds: Mapping[str, float]
    # All cases of the report, this one included: for what only shows side by side.
    cases: tuple[CaseAnalysis, ...] = ()
    # What they ran on, with the ceilings that operators are held against.
    devices: tuple[Device, ...] = ()

    def ceilings(self) -> Ceilings:
        """Return what the case's device reaches; empty where that is not known."""
        named = [device for device in self.devices if self.case.device in (f"cuda:{device.index}", None)]
        return named[0].ceilings if len(named) == 1 else Ceilings()

    def check_command(self) -> str:
        """Return the command that shows whether a change to this case helped."""
        if self.rerun is None:
            return "record the trace again after the change, then `python -m reportgen analyze TRACE`"
        return f"`{self.rerun} --case {self.case.name}`"

    def measured(self, threshold: Threshold, value: float) -> Measured:
        """Return `value` beside what it is held against: the threshold as this report has it."""
        return Measured(value=value, threshold=self.thresholds[threshold.name], unit=threshold.unit)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Draft:
    """A finding before it is ranked: the rule, the case, the id and the fingerprint are added by `evaluate`.

    `severity` is given for facts and for what has no gain in time; else the gain's share of the step decides.
    `short_action` is the action as one sentence for a line of a table: one of the rule's constants ``IN_SHORT…``,
    whole, no longer than `SHORT_ACTION_LIMIT`. `identity` tells this finding from others of the same rule and case:
    operator, shape family, function.
    """

    title: str
    evidence: tuple[Evidence, ...]
    mechanism: str
    short_action: str
    action: str
    verify: str
    confidence: Confidence
    gain: Gain | None = None
    severity: Severity | None = None
    kind: str | None = None
    beware: str | None = None
    source: Source | None = None
    where: tuple[Where, ...] = ()
    identity: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    # Alternatives that make the change, the likeliest first; one that was tried and is faster gives the gain.
    tries: tuple[str, ...] = ()
    # The fix as a replay of the step makes it; None where no replay can.
    change: Change | None = None
    # A fact without its case, where it can be stated of several at once.
    statement: Statement | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Measured:
    """The number a rule looked at, and the one it was compared with, both in `unit`."""

    value: float
    threshold: float
    unit: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Verdict:
    """What a rule found in a case."""

    outcome: Literal["fired", "passed", "not-applicable", "not-evaluated"]
    drafts: tuple[Draft, ...] = ()
    reason: str | None = None
    measured: Measured | None = None


def fired(*drafts: Draft, measured: Measured | None = None) -> Verdict:
    """Return the verdict of a rule that found something."""
    return Verdict(outcome="fired", drafts=drafts, measured=measured)


def passed(reason: str, measured: Measured | None = None) -> Verdict:
    """Return the verdict of a rule that looked and found nothing."""
    return Verdict(outcome="passed", reason=reason, measured=measured)


def not_applicable(reason: str) -> Verdict:
    """Return the verdict of a rule whose subject does not occur in the case."""
    return Verdict(outcome="not-applicable", reason=reason)


def not_evaluated(reason: str, measured: Measured | None = None) -> Verdict:
    """Return the verdict of a rule that lacks what it needs, or whose numbers do not decide."""
    return Verdict(outcome="not-evaluated", reason=reason, measured=measured)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Rule:
    """A rule of the checklist: `judge` is its function, `thresholds` its numbers.

    With `of_device` the value that it measures is device time that could go, as a share of the step: of a shorter step
    with the same work on the device it is a larger one.
    """

    id: str
    checklist_step: Literal[1, 2, 3, 4, 5]
    judge: Callable[[Context], Verdict]
    thresholds: tuple[Threshold, ...] = ()
    of_device: bool = False
