"""One fix after another: the step after each, given the ones before, and what limits it next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from reportgen.analysis.replay.case_replay import LIMITING_SHARE
from reportgen.findings.model import Fix, FixSequence, Latent
from reportgen.findings.ranking import CONFIDENCE_WEIGHTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reportgen.analysis.model import CaseAnalysis
    from reportgen.analysis.replay.case_replay import CaseReplay, Limit
    from reportgen.analysis.replay.changes import Change
    from reportgen.findings.model import Finding, RuleRecord

# Fixes shown of a case, and the share of the step under which one is not worth a line.
MOST_FIXES = 8
LEAST_SHARE = 0.005


def order_fixes(
    cases: Sequence[CaseAnalysis],
    findings: Sequence[Finding],
    replays: Mapping[str, CaseReplay],
    *,
    only: Sequence[str] = (),
    latent: Sequence[RuleRecord] = (),
) -> tuple[FixSequence, ...]:
    """Return for each case with a gain its fixes by what they give after one another times confidence, bounds last.

    With `only`, names of rules, it is the fixes of those in that order. `latent` are the records of the rules whose
    value is device time that could go: those that passed are held against the step that is left.
    """
    found = []
    for case in cases:
        step_us = case.step_us
        mine = [finding for finding in findings if finding.case == case.name and _promises(finding)]
        if only:
            mine = sorted((one for one in mine if one.rule in only), key=lambda one: only.index(one.rule))
        if step_us and mine:
            sequence = _Sequencer(case, step_us, replays.get(case.name)).order(mine, keep=bool(only))
            passed = [one for one in latent if one.case == case.name and one.outcome == "passed"]
            found.append(msgspec.structs.replace(sequence, then_worth=_then_worth(sequence, passed)))
    return tuple(found)


def _then_worth(sequence: FixSequence, passed: Sequence[RuleRecord]) -> tuple[Latent, ...]:
    """Return what passed as too small a share of the step and is more than its threshold of the one that is left.

    Only where the device limits that step: else its time counts for nothing. The fixes are taken to leave the device's
    work as it is. Where the last one is a bound the step is that at best, and so is the share of it.
    """
    last = sequence.fixes[-1] if sequence.fixes else None
    if last is None or last.limits_next != "device" or last.step_after_us <= 0:
        return ()
    after_us, found = last.step_after_us, []
    for record in passed:
        if record.value is None or record.threshold is None:
            continue
        cost_us = record.value * sequence.step_us
        if record.threshold <= cost_us / after_us < 1.0:
            found.append(
                Latent(
                    rule=record.id,
                    cost_us_per_step=cost_us,
                    share_of_step=record.value,
                    share_after=cost_us / after_us,
                )
            )
    return tuple(sorted(found, key=lambda one: -one.cost_us_per_step))


def _promises(finding: Finding) -> bool:
    gain = finding.gain
    return gain is not None and gain.step_after_us is not None and gain.resource != "memory" and gain.base == "step"


def _is_bound(finding: Finding) -> bool:
    """Tell whether the gain is a bound: what others give after it would be told of a step that may never be."""
    return finding.gain is None or finding.gain.method in ("bound", "none")


class _Sequencer:
    """The steps of one case. A measured gain counts where its fix comes first; after that what a replay takes off."""

    def __init__(self, case: CaseAnalysis, step_us: float, replay: CaseReplay | None) -> None:
        self._case, self._step_us = case, step_us
        self._replay = replay if replay is not None and replay.is_usable else None

    def order(self, findings: list[Finding], *, keep: bool) -> FixSequence:
        fixes: list[Fix] = []
        made: list[Change] = []
        now_us, left = self._step_us, list(findings)
        while left and len(fixes) < MOST_FIXES:
            steps = [(self._after_us(one, now_us, made), number) for number, one in enumerate(left)]
            least_us = 0.0 if keep else LEAST_SHARE * self._step_us
            known = [
                (_is_bound(left[number]), -self._weight(left[number], now_us - us, made), us, number)
                for us, number in steps
                if us is not None and now_us - us >= least_us
            ]
            if not known:
                break
            _, _, after_us, number = known[0] if keep else min(known)
            chosen = left.pop(number)
            if self._can_replay(chosen) and chosen.change is not None:
                made.append(chosen.change)
            fixes.append(self._fix(chosen, after_us, made, is_first=not fixes))
            now_us = after_us
            if not made:  # nothing says what the others give after a fix that cannot be replayed
                break
        return self._sequence(fixes, made, left)

    def _after_us(self, finding: Finding, now_us: float, made: list[Change]) -> float | None:
        """Return the step once `finding` is fixed too, None where nothing tells."""
        gain = finding.gain
        if not made and gain is not None and (self._replay is None or gain.method == "measured"):
            return gain.step_after_us
        if self._replay is None or finding.change is None or not self._can_replay(finding):
            return None
        # What a replay takes off was found from the step as it is; of a limit the upper end is what it takes at most.
        if finding.change.is_limit:
            taken_us = self._replay.gain_us(finding.change, made).high_us
        else:
            taken_us = self._replay.step_us(made) - self._replay.step_us((*made, finding.change))
        # Where less is left than in the model, as after a fix that gave more than was replayed, all of it is less.
        taken_us *= min(1.0, now_us / (self._replay.step_us(made) or 1.0))
        # The device's work stays after every fix, with the pauses in it.
        changes = (*made, finding.change)
        floor_us = max(self._replay.device_us(changes), self._replay.floor_us(changes))
        return min(now_us, max(now_us - taken_us, floor_us))

    @staticmethod
    def _weight(finding: Finding, given_us: float, made: list[Change]) -> float:
        """Return what a fix gives times how sure it is, as the findings are ordered; after the first all are replayed.

        So a measured gain comes before a somewhat larger one that was only replayed.
        """
        return given_us if made else given_us * CONFIDENCE_WEIGHTS[finding.confidence]

    def _can_replay(self, finding: Finding) -> bool:
        return self._replay is not None and finding.change is not None and self._replay.knows(finding.change)

    def _fix(self, finding: Finding, after_us: float, made: list[Change], *, is_first: bool) -> Fix:
        method = finding.gain.method if finding.gain else "bound"
        if method == "none":
            method = "bound"
        if not is_first and method == "measured":
            method = "replay"
        return Fix(
            finding=finding.id,
            edit=(finding.gain.edit if finding.gain else None) or finding.rule,
            step_after_us=max(after_us, 0.0),
            method=method,
            limits_next=self._limit(after_us, made),
        )

    def _limit(self, after_us: float, made: list[Change]) -> Limit | None:
        """Return who limits the step that is left; where the device's work and its pauses fill it, the device does."""
        if self._replay is None or not made:
            return None
        if max(self._replay.device_us(made), self._replay.floor_us(made)) >= LIMITING_SHARE * after_us:
            return "device"
        return self._replay.limit(made)

    def _sequence(self, fixes: list[Fix], made: list[Change], left: list[Finding]) -> FixSequence:
        replay, utilisation = self._replay, self._case.utilisation
        roof_us = utilisation.roof_us_per_step if utilisation else None
        # The roof is that of the work as it is: fixes that change the work (its types, its traffic) can pass below it.
        passed = roof_us is not None and any(fix.step_after_us < roof_us for fix in fixes)
        return FixSequence(
            case=self._case.name,
            step_us=self._step_us,
            fixes=tuple(fixes),
            limits_now=replay.limit() if replay else None,
            device_after_us=replay.device_us(made) if replay and fixes and len(made) == len(fixes) else None,
            roof_us=None if passed else roof_us,
            left_out=tuple(finding.id for finding in left),
        )
