"""Every rule on every case: verdicts become findings and records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from reportgen.analysis.model import CaseAnalysis
from reportgen.errors import UsageError
from reportgen.findings.measured import with_measured_gain
from reportgen.findings.merging import Judged, merge
from reportgen.findings.model import Finding, RuleRecord
from reportgen.findings.ranking import fingerprint_of, rank, severity_of
from reportgen.findings.replayed import with_exclusions, with_replayed_gain
from reportgen.findings.rule import Context, Draft, Rule, Verdict
from reportgen.findings.rules import RULES
from reportgen.recording import Device, Environment

if TYPE_CHECKING:
    from reportgen.analysis.replay.case_replay import CaseReplay


def evaluate(
    cases: Sequence[CaseAnalysis],
    environment: Environment,
    *,
    rerun: str | None = None,
    thresholds: Mapping[str, float] | None = None,
    replays: Mapping[str, CaseReplay] | None = None,
    devices: Sequence[Device] = (),
    rules: Sequence[Rule] = RULES,
) -> tuple[tuple[Finding, ...], tuple[RuleRecord, ...]]:
    """Judge all cases by all rules.

    `rerun` is the command that makes the report again (None for a foreign trace); `thresholds` overrides
    "RULE.NAME" values and raises `UsageError` for names that no rule has. With `replays`, by case, a gain is what the
    replayed step gives wherever it reproduces the measured one. `devices` are those of the report, with their ceilings.
    Cases that failed are not judged.
    """
    values = _threshold_values(rules, thresholds or {})
    findings: list[Finding] = []
    records: list[RuleRecord] = []
    for case in cases:
        if case.outcome == "failed" and case.timing is None:
            continue
        judged: list[Judged] = []
        for rule in rules:
            context = Context(
                case=case,
                environment=environment,
                rerun=rerun,
                thresholds=values[rule.id],
                cases=tuple(cases),
                devices=tuple(devices),
            )
            verdict = run_rule(rule, context)
            records.append(_record(rule, case, verdict, values[rule.id]))
            if isinstance(verdict, Verdict):
                judged += [Judged(rule, draft) for draft in verdict.drafts]
        replay = (replays or {}).get(case.name)
        for rule, draft in merge(judged):
            replayed = with_replayed_gain(draft, case, replay)
            findings.append(_finding(rule, case, with_measured_gain(replayed, case)))
    return with_exclusions(rank(findings), replays or {}), tuple(records)


def run_rule(rule: Rule, context: Context) -> Verdict | Exception:
    """Judge one case by one rule; what the rule raises is returned, so that the report shows it as failed."""
    try:
        return rule.judge(context)
    except Exception as error:  # noqa: BLE001 - a boundary (docs/design.md): one rule's defect costs only itself
        return error


def _threshold_values(rules: Sequence[Rule], overrides: Mapping[str, float]) -> dict[str, dict[str, float]]:
    values = {rule.id: {threshold.name: threshold.value for threshold in rule.thresholds} for rule in rules}
    for name, value in overrides.items():
        rule_id, _, threshold_name = name.partition(".")
        if threshold_name not in values.get(rule_id, {}):
            known = ", ".join(f"{id_}.{key}" for id_, named in values.items() for key in named)
            raise UsageError(f"no threshold is called {name!r}; there are: {known}")
        values[rule_id][threshold_name] = value
    return values


def _record(rule: Rule, case: CaseAnalysis, verdict: Verdict | Exception, thresholds: dict[str, float]) -> RuleRecord:
    if isinstance(verdict, Exception):
        reason = f"{type(verdict).__name__}: {verdict}"
        return RuleRecord(id=rule.id, case=case.name, outcome="failed", reason=reason, thresholds=thresholds)
    measured = verdict.measured
    return RuleRecord(
        id=rule.id,
        case=case.name,
        outcome=verdict.outcome,
        reason=verdict.reason,
        value=measured.value if measured else None,
        threshold=measured.threshold if measured else None,
        unit=measured.unit if measured else None,
        thresholds=thresholds,
    )


def _finding(rule: Rule, case: CaseAnalysis, draft: Draft) -> Finding:
    return Finding(
        id="",
        rule=rule.id,
        fingerprint=fingerprint_of(rule, case.name, draft),
        kind=draft.kind,
        checklist_step=rule.checklist_step,
        severity=severity_of(draft),
        case=case.name,
        title=draft.title,
        evidence=draft.evidence,
        mechanism=draft.mechanism,
        action=draft.action,
        short_action=draft.short_action,
        verify=draft.verify,
        beware=draft.beware,
        source=draft.source,
        where=draft.where,
        gain=draft.gain,
        confidence=draft.confidence,
        merged=draft.merged,
        tries=draft.tries,
        change=draft.change,
        statement=draft.statement,
    )
