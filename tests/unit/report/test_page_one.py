"""What page one says twice must be said alike: steps, actions and their order."""

from __future__ import annotations

import msgspec
import pytest

from reportgen import formatting as fmt
from reportgen.findings.ranking import rank
from reportgen.report.terminal import render_terminal
from reportgen.report.verdict import verdict
from reportgen.report.view import cases
from reportgen.report.view.finding_texts import clip
from reportgen.report.view.gains import gain_text
from tests import report_builder as build
from tests.case_builder import host_bound_case


def test_a_gain_that_is_an_interval_starts_from_the_step_that_was_measured() -> None:
    # 250 to 350 us of a step of 1000 us, 300 us in the middle: the upper end would start from 1050 us.
    between = msgspec.structs.replace(
        build.gain(1000.0, 700.0, "replay"), at_most_us_per_step=350.0, at_least_us_per_step=250.0
    )
    found = build.finding(gain=between)
    assert gain_text(build.report(findings=[found]), found) == fmt.change(1000.0, 700.0)


@pytest.mark.parametrize(
    ("action", "limit", "kept"),
    [
        ("Look for what outlives the step: a list of losses or outputs.", 50, "Look for what outlives the step"),
        ("Work in pieces or in place, or with an operator that writes nothing.", 50, "Work in pieces or in place"),
        ("Compile the model, `model = torch.compile(model, dynamic=True)`, and go on.", 40, "Compile the model"),
        ("Pin the input.", 40, "Pin the input"),
    ],
)
def test_an_action_is_cut_where_a_clause_ends_and_never_inside_code(action: str, limit: int, kept: str) -> None:
    assert clip(action, limit) == kept


def test_a_fault_that_ends_the_run_comes_before_one_that_slows_it() -> None:
    slow = build.finding("", gain=build.gain(1000.0, 300.0, "replay"), confidence="medium")
    leak = build.finding("", rule="memory-growth", fingerprint="memory-growth", gain=None, severity="high")
    assert [finding.rule for finding in rank([slow, leak])] == ["memory-growth", "host-bound"]


def test_more_cases_than_the_sentence_before_names_are_named_with_their_changes() -> None:
    names = ("one", "two", "three", "four")
    cases = [host_bound_case(name=name) for name in names]
    found = [build.finding(f"F{i}", name) for i, name in enumerate(names, 1)]
    words = verdict(build.report(cases, found))
    assert words.limits.endswith("in two, and likewise in two more cases.")
    assert " the steps of one, two and three to " in words.changes


def test_the_terminal_cuts_no_sentence_and_breaks_no_figure_from_its_name() -> None:
    cases = [host_bound_case(name="a_case_of_nineteen_")]
    text = render_terminal(
        build.report(cases, [build.finding("F1", "a_case_of_nineteen_", action="Capture the step once.")])
    )
    assert "a_case_of_nineteen_" in text
    assert "…" not in text
    assert "Rules: No rule fired." in text


def test_the_best_step_is_a_replayed_one_before_a_shorter_one_that_is_only_a_bound() -> None:
    bound = build.finding("F1", gain=build.gain(1000.0, 300.0, "bound"), confidence="low")
    replayed = build.finding("F2", gain=build.gain(1000.0, 700.0, "replay"), confidence="medium")
    report = build.report(findings=[bound, replayed])

    best = cases.best_gain(report, report.cases[0])
    assert best is not None
    assert best.id == "F2"
