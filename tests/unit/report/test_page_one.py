"""What page one says twice must be said alike: steps, actions and their order."""

from __future__ import annotations

import msgspec

from reportgen import formatting as fmt
from reportgen.analysis.model import Memory
from reportgen.findings.ranking import rank
from reportgen.report.terminal import render_terminal
from reportgen.report.verdict import verdict
from reportgen.report.view import cases
from reportgen.report.view.finding_texts import action_in_short
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
    text = render_terminal(build.report(cases, [build.finding("F1", "a_case_of_nineteen_")]))
    assert "a_case_of_nineteen_" in text
    assert "…" not in text
    assert "Rules: No rule fired." in text


def test_a_log_of_80_columns_holds_every_word_and_the_peak_with_its_note() -> None:
    names = ("prefill", "a_case_of_twenty_abc")
    memory = Memory(
        peak_allocated_bytes=345 * 2**20, peak_reserved_bytes=None, start_bytes=276 * 2**20, growth_bytes_per_step=None
    )
    cases = [host_bound_case(name=name, memory=memory) for name in names]
    found = [build.finding(f"F{i}", name, title=f"Word {'and word ' * 6}end") for i, name in enumerate(names, 1)]
    lines = render_terminal(build.report(cases, found), 80).splitlines()

    assert max(map(len, lines)) <= 80
    assert not [line for line in lines if "…" in line]
    assert sum("peak memory 345 MiB, 69.0 MiB over its start" in line for line in lines) == 2
    # Below its title, since both do not fit into one line: the action, then the gain.
    at = next(i for i, line in enumerate(lines) if "F2 " in line)
    assert [line.strip() for line in lines[at + 2 : at + 4]] == [
        "Capture the step once and replay it",
        "1.00 -> 0.50 ms  measured",
    ]


def test_the_best_step_is_a_replayed_one_before_a_shorter_one_that_is_only_a_bound() -> None:
    bound = build.finding("F1", gain=build.gain(1000.0, 300.0, "bound"), confidence="low")
    replayed = build.finding("F2", gain=build.gain(1000.0, 700.0, "replay"), confidence="medium")
    report = build.report(findings=[bound, replayed])

    best = cases.best_gain(report, report.cases[0])
    assert best is not None
    assert best.id == "F2"


def test_an_older_report_without_actions_in_short_shows_the_first_clause_whole() -> None:
    old = build.finding(short_action="", action="Pin the input of the copy: `x.pin_memory()` once, then copy.")
    assert action_in_short(old) == "Pin the input of the copy"
