"""Gains that were replayed: the model of the step was run again with the fix made."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Literal

import msgspec

from reportgen import formatting as fmt
from reportgen.analysis.replay.replay import Interval
from reportgen.findings.model import Evidence, Gain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reportgen.analysis.model import CaseAnalysis
    from reportgen.analysis.replay.case_replay import CaseReplay
    from reportgen.analysis.replay.changes import Change
    from reportgen.findings.model import Finding
    from reportgen.findings.rule import Draft

# A fix contains another where less than this share of the other's gain is left after it.
LEFT_BY_EXCLUDING = 0.1
# Less of the step than this shows in no measurement.
NOTHING_SHARE = 0.001
# Bounds of a gain that lie further apart than this share of the step are said with it.
WIDE_SHARE = 0.01
# Findings of a case that are held against each other, the most important first.
MOST_PAIRED = 8


def with_replayed_gain(draft: Draft, case: CaseAnalysis, replay: CaseReplay | None) -> Draft:
    """Put the replayed gain in place of the draft's bound, where the replay reproduces the measured step.

    Of a fix whose change is a limit only the upper bound is certain: there the gain is one by the roofline, or a bound
    where the limit is not an operator's, and it is the upper end of what the profiler's share leaves open. A replayed
    gain of 0 is an answer: the fix takes away what nobody waits for.
    """
    step_us = case.step_us
    bound, change = draft.gain, draft.change
    if replay is None or change is None or bound is None or not step_us:
        return draft
    if not replay.is_usable:
        missed = fmt.share(replay.summary.base_error)
        text = f"the replayed step misses the measured one by {missed}, so the gain is a bound"
        return dataclasses.replace(draft, evidence=(*draft.evidence, Evidence(text=text)))
    if not replay.knows(change):
        return draft
    low_us, middle_us, high_us = (min(max(us, 0.0), step_us) for us in replay.gain_us(change))
    least_us, gain_us = (0.0, high_us) if change.is_limit else (low_us, middle_us)
    gain = msgspec.structs.replace(
        bound,
        at_most_us_per_step=high_us,
        at_least_us_per_step=least_us,
        share_of_step=gain_us / step_us,
        step_after_us=step_us - gain_us,
        method=_method(change),
    )
    text = _told(step_us, Interval(low_us, middle_us, high_us), is_limit=change.is_limit)
    return dataclasses.replace(
        draft,
        gain=gain,
        evidence=(*draft.evidence, Evidence(text=text, value=step_us - gain_us, unit="us")),
        confidence="medium" if draft.confidence == "low" and not change.is_limit else draft.confidence,
    )


def _told(step_us: float, gain: Interval, *, is_limit: bool) -> str:
    """Say what the step takes after a fix, and between which bounds where they lie apart."""
    made = "the most that the fix can do" if is_limit else "the fix made"
    if (gain.high_us if is_limit else gain.middle_us) < NOTHING_SHARE * step_us:
        return f"replayed with {made}, the step stays at {fmt.step_time(step_us)}: nothing waits for it as it is"
    if not is_limit:
        wide = gain.high_us - gain.low_us > WIDE_SHARE * step_us
        less = f", {fmt.spread(gain.low_us, gain.high_us)} less" if wide else ""
        return f"replayed with {made}, the step takes {fmt.step_time(step_us - gain.middle_us)}{less}"
    best = f"replayed with {made}, the step takes {fmt.step_time(step_us - gain.high_us)} at best"
    if gain.high_us - gain.middle_us <= WIDE_SHARE * step_us:
        return best
    middle = fmt.step_time(step_us - gain.middle_us)
    return f"{best}, if recording cost next to nothing, and {middle} if it cost the middle of its interval"


def _method(change: Change) -> Literal["replay", "roofline", "bound"]:
    if not change.is_limit:
        return "replay"
    return "roofline" if change.operators else "bound"


def with_exclusions(findings: Sequence[Finding], replays: Mapping[str, CaseReplay]) -> tuple[Finding, ...]:
    """Fill `Gain.excludes`: the findings that have next to nothing left to give once a fix is made."""
    excludes: dict[str, tuple[str, ...]] = {}
    for case, replay in replays.items():
        if replay.is_usable and replay.is_quick:
            mine = [finding for finding in findings if finding.case == case and _is_replayed(finding)]
            excludes |= _excluded(mine[:MOST_PAIRED], replay)
    return tuple(
        msgspec.structs.replace(finding, gain=_with_excludes(finding.gain, excludes[finding.id]))
        if finding.gain and excludes.get(finding.id)
        else finding
        for finding in findings
    )


def _is_replayed(finding: Finding) -> bool:
    gain = finding.gain
    return finding.change is not None and gain is not None and bool(gain.share_of_step)


def _excluded(findings: Sequence[Finding], replay: CaseReplay) -> dict[str, tuple[str, ...]]:
    alone = {one.id: replay.gain_us(one.change).middle_us for one in findings if one.change}
    alike_us = NOTHING_SHARE * replay.step_us()
    found = {}
    for first in findings:
        inside = [
            other.id
            for other in findings
            if other is not first
            and first.change
            and other.change
            and 0 < alone[other.id] <= alone[first.id] + alike_us
            and replay.gain_us(other.change, (first.change,)).middle_us < LEFT_BY_EXCLUDING * alone[other.id]
        ]
        found[first.id] = tuple(inside)
    return found


def _with_excludes(gain: Gain, excludes: tuple[str, ...]) -> Gain:
    return msgspec.structs.replace(gain, excludes=excludes)
