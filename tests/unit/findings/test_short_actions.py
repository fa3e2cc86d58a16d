"""Every rule says its action in a line of its own words, which no document has to cut."""

from __future__ import annotations

import ast
import inspect
import sys
from types import ModuleType

import pytest

from reportgen.findings.rule import SHORT_ACTION_LIMIT, Rule
from reportgen.findings.rules import RULES
from reportgen.report.terminal import plain, render_terminal
from reportgen.report.view.actions import view_actions
from reportgen.report.view.medium import page
from reportgen.report.view.top import view_top
from tests import report_builder as build
from tests.unit.findings.test_pairs import report as report_of_pairs

PREFIX = "IN_SHORT"


def module_of(rule: Rule) -> ModuleType:
    return sys.modules[rule.judge.__module__]


def forms(rule: Rule) -> list[str]:
    return [text for name, text in vars(module_of(rule)).items() if name.startswith(PREFIX)]


ALL = sorted({form for rule in RULES for form in forms(rule)})


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_an_action_in_short_is_a_whole_sentence_that_fits(rule: Rule) -> None:
    assert forms(rule)
    for form in forms(rule):
        assert len(form) <= SHORT_ACTION_LIMIT, form
        assert form[0].isupper(), form
        assert form[-1].isalnum() or form[-1] in ")`", form  # no mark of a cut, and no clause that goes on
        assert "…" not in form
        assert "..." not in form
        assert form.count("`") % 2 == 0, form
        assert form.count("(") == form.count(")"), form


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_nothing_is_put_into_an_action_in_short_that_could_make_it_too_long(rule: Rule) -> None:
    tree = ast.parse(inspect.getsource(module_of(rule)))
    given = [node.value for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg == "short_action"]

    assert given
    for value in given:
        assert not any(isinstance(node, ast.JoinedStr | ast.Constant | ast.BinOp) for node in ast.walk(value))


def test_findings_of_recorded_faults_have_one_of_their_rules_own_forms() -> None:
    by_rule = {rule.id: forms(rule) for rule in RULES}
    findings = report_of_pairs().findings

    assert len({finding.rule for finding in findings}) > 8
    assert [one.rule for one in findings if one.short_action not in by_rule[one.rule]] == []


@pytest.mark.parametrize("form", ALL)
def test_page_one_the_table_of_actions_and_a_log_of_80_columns_show_it_whole(form: str) -> None:
    report = build.report(findings=[build.finding(short_action=form, action="Do this. " * 40)])
    table = view_actions(report, page(1)).table

    assert table is not None
    assert table.rows[0].cells[2].text == form
    assert view_top(report).rows[0].action == form
    assert any(plain(form) in line for line in render_terminal(report, 80).splitlines())
