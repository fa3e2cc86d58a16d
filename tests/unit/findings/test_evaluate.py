"""Ranking, thresholds, fingerprints and the boundary around a rule."""

from __future__ import annotations

import pytest

from reportgen.errors import UsageError
from reportgen.findings import evaluate
from reportgen.findings.model import Gain
from reportgen.findings.rule import Context, Draft, Rule, Verdict, fired
from reportgen.findings.rules import RULES
from reportgen.recording import Environment
from tests.case_builder import host_bound_case


def gain(share: float) -> Gain:
    return Gain(at_most_us_per_step=share * 1000, share_of_step=share, resource="host", method="bound")


def rule_that_finds(rule_id: str, **fields: object) -> Rule:
    values: dict[str, object] = {
        "title": rule_id,
        "evidence": (),
        "mechanism": "",
        "action": "",
        "short_action": "",
        "verify": "",
        "confidence": "high",
    }

    def judge(_: Context) -> Verdict:
        return fired(Draft(**(values | fields)))  # type: ignore[arg-type]

    return Rule(id=rule_id, checklist_step=1, judge=judge)


def test_faults_come_before_facts_and_large_gains_before_small_ones() -> None:
    rules = [
        rule_that_finds("fact", severity="info", gain=gain(0.9)),
        rule_that_finds("small", gain=gain(0.02)),
        rule_that_finds("sure", gain=gain(0.2)),
        rule_that_finds("doubtful", gain=gain(0.4), confidence="low"),  # 0.4 * 0.4 < 0.2 * 1.0
    ]
    findings, _ = evaluate([host_bound_case()], Environment(), rules=rules)
    assert [(finding.id, finding.rule) for finding in findings] == [
        ("F1", "sure"),
        ("F2", "doubtful"),
        ("F3", "small"),
        ("F4", "fact"),
    ]
    assert [finding.severity for finding in findings] == ["high", "high", "low", "info"]


def test_a_rule_that_raises_is_shown_as_failed_and_costs_only_itself() -> None:
    def judge(_: Context) -> Verdict:
        raise ZeroDivisionError("share of nothing")

    rules = [Rule(id="broken", checklist_step=1, judge=judge), rule_that_finds("sound")]
    findings, records = evaluate([host_bound_case()], Environment(), rules=rules)
    assert [finding.rule for finding in findings] == ["sound"]
    assert records[0].outcome == "failed"
    assert records[0].reason == "ZeroDivisionError: share of nothing"


def test_a_threshold_can_be_overridden() -> None:
    _, records = evaluate([host_bound_case()], Environment(), thresholds={"dominant-operator.share": 0.7})
    assert next(record for record in records if record.id == "dominant-operator").outcome == "passed"


def test_an_unknown_threshold_is_a_usage_error_that_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"dominant-operator\.share"):
        evaluate([host_bound_case()], Environment(), thresholds={"dominant-operator.shares": 0.7})


def test_a_fingerprint_holds_when_the_figures_change_and_differs_between_operators() -> None:
    def fingerprint(operator: str, title: str) -> str:
        rule = rule_that_finds("dominant-operator", identity=(operator,), title=title)
        findings, _ = evaluate([host_bound_case()], Environment(), rules=[rule])
        return findings[0].fingerprint

    assert fingerprint("mm", "mm takes 60 %") == fingerprint("mm", "mm takes 61 %")
    assert fingerprint("mm", "") != fingerprint("add", "")


def test_a_case_that_failed_is_not_judged() -> None:
    case = host_bound_case(outcome="failed", timing=None)
    assert evaluate([case], Environment()) == ((), ())


def test_rule_ids_are_unique_and_every_threshold_says_why() -> None:
    ids = [rule.id for rule in RULES]
    assert len(ids) == len(set(ids))
    assert all(threshold.reason for rule in RULES for threshold in rule.thresholds)
