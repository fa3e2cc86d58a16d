"""What a rule says: findings and outcomes, as report.json holds them."""

from __future__ import annotations

from typing import Literal

import msgspec

from reportgen.analysis.model import Source, Where
from reportgen.analysis.replay.changes import Change

Severity = Literal["high", "medium", "low", "info"]
Confidence = Literal["high", "medium", "low"]
RuleOutcome = Literal["fired", "passed", "not-applicable", "not-evaluated", "failed"]


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """One figure behind a finding: `text` says what it is, sample size and pass included."""

    text: str
    value: float | int | str | None = None
    unit: str | None = None


class Gain(msgspec.Struct, frozen=True, kw_only=True):
    """What the step would be without the fault (docs/method.md, "Gain").

    `at_least` and `at_most` bound the gain; `step_after_us` is the step at the promised gain. They are of the case's
    step, or of the mean of its steps (`base`) where the fix is to single slow ones, which leave the median as it is.
    """

    at_most_us_per_step: float | None = None
    at_least_us_per_step: float | None = None
    share_of_step: float | None = None
    step_after_us: float | None = None
    bytes: int | None = None
    resource: Literal["host", "device", "both", "memory"]
    method: Literal["measured", "replay", "roofline", "bound", "none"]
    edit: str | None = None
    base: Literal["step", "mean-step"] = "step"
    excludes: tuple[str, ...] = ()  # findings whose gain this one already contains


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """A fact without its case, so that documents can state it once of several: `lead`, the figure, `tail`."""

    lead: str
    figure: str = ""
    tail: str = ""
    value: float | None = None  # what the figure writes


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """A fact about a case that somebody can act on, or must know."""

    id: str
    rule: str
    fingerprint: str
    kind: str | None = None
    checklist_step: Literal[1, 2, 3, 4, 5]
    severity: Severity
    case: str | None
    title: str
    evidence: tuple[Evidence, ...]
    mechanism: str
    action: str
    short_action: str = ""  # the action as one sentence for a line of a table; empty in older reports
    verify: str
    beware: str | None = None
    source: Source | None = None
    where: tuple[Where, ...] = ()
    gain: Gain | None = None
    confidence: Confidence
    merged: tuple[str, ...] = ()
    tries: tuple[str, ...] = ()  # the alternatives by which the runner can measure the gain
    change: Change | None = None  # the fix as a replay of the step makes it
    statement: Statement | None = None  # a fact that can be stated of several cases at once


class Fix(msgspec.Struct, frozen=True, kw_only=True):
    """One fix of a sequence: the step after it, given the ones before, and what limits it then.

    `limits_next` is who is at work for nine tenths of that step; "waits" where host and device wait for each other,
    None where the step cannot be replayed.
    """

    finding: str  # its id
    edit: str
    step_after_us: float
    method: Literal["measured", "replay", "roofline", "bound"]
    limits_next: Literal["host", "device", "waits"] | None = None


class Latent(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule found on the device below its threshold, which is above it in the step that the fixes leave.

    `cost_us_per_step` is device time that could go at the most; shares are of the step as it is and of the one left.
    """

    rule: str
    cost_us_per_step: float
    share_of_step: float
    share_after: float


class FixSequence(msgspec.Struct, frozen=True, kw_only=True):
    """The fixes of one case, each the one that gives most after those before it; bounds come last.

    `step_us` is the step as it is, `device_after_us` how long the busiest stream works in the step that is left, and
    `roof_us` what the step's work takes at the device's limits: None where that is not known, and where the fixes
    change the work so far that they pass below it. `left_out` are findings with a gain that nothing tells once other
    fixes are made.
    """

    case: str
    step_us: float
    fixes: tuple[Fix, ...] = ()
    limits_now: Literal["host", "device", "waits"] | None = None
    device_after_us: float | None = None
    roof_us: float | None = None
    left_out: tuple[str, ...] = ()
    # What is worth a look once the fixes are made, and was not before, the most first.
    then_worth: tuple[Latent, ...] = ()


class RuleRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one rule in one case."""

    id: str
    case: str | None
    outcome: RuleOutcome
    reason: str | None = None
    value: float | None = None
    threshold: float | None = None
    unit: str | None = None
    thresholds: dict[str, float] = {}  # every number that decides it, by name, as it was in force
