"""What is told of a gain and of a fact: of which step, after which fix, how wide, and of which cases."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from reportgen.analysis.model import (
    Budget,
    BudgetRow,
    FirstStepMemory,
    Memory,
    MemoryCurve,
    PeakLine,
    Source,
    StepTimes,
    Timing,
)
from reportgen.findings.model import Evidence, Finding, Fix, FixSequence, Latent, RuleRecord, Statement
from reportgen.findings.rules.small_kernels import least_waits_us
from reportgen.report.html import render_html
from reportgen.report.model import Report
from reportgen.report.terminal import render_terminal
from reportgen.report.verdict import verdict
from reportgen.report.view import cases
from reportgen.report.view.anchors import find_anchors
from reportgen.report.view.budget import budget_table
from reportgen.report.view.checklist import rules_sentence, view_checklist
from reportgen.report.view.findings import Findings, view_findings
from reportgen.report.view.fixes import fixes_table, view_fixes
from reportgen.report.view.gains import gain_text, method_words, told_gain
from reportgen.report.view.head import view_sureness
from reportgen.report.view.links import Links
from reportgen.report.view.medium import SCREEN
from reportgen.report.view.memory_sentences import sentences_about
from reportgen.report.view.top import view_top
from tests import report_builder as build
from tests.case_builder import budget, host_bound_case

NBSP = "\u00a0"
PREFILL, DECODE = host_bound_case(), host_bound_case(name="decode")


def plain(text: str | None) -> str:
    return re.sub("[\u00a0\u202f]", " ", text or "")


def section(report: Report) -> Findings:
    return view_findings(report, SCREEN, Links(report, find_anchors(report, SCREEN), ()))


def cold_start(id_: str, case: str, first_us: float, figure: str) -> Finding:
    return build.finding(
        id_, case, rule="cold-start", severity="info", checklist_step=5, gain=None,
        title=f"The first step of {case} takes {figure}",
        evidence=(Evidence(text=f"{figure} for the first step, 1.00{NBSP}ms for a later one (n = 1)"),),
        statement=Statement(lead="The first step takes", figure=figure, value=first_us),
    )  # fmt: skip


def synthetic(id_: str, case: str) -> Finding:
    return build.finding(
        id_, case, rule="synthetic-inputs", severity="info", checklist_step=5, gain=None, title=f"{case} is synthetic",
        evidence=(Evidence(text="inputs: random token ids"),), statement=Statement(lead="The inputs are synthetic"),
    )  # fmt: skip


def test_a_fact_of_two_cases_is_stated_once_with_the_figures_of_both() -> None:
    facts = (
        cold_start("F2", "decode", 479_000, f"479{NBSP}ms"),
        cold_start("F3", "prefill", 1_230_000, f"1\u202f230{NBSP}ms"),
        synthetic("F4", "decode"), synthetic("F5", "prefill"),
    )  # fmt: skip
    report = build.report([PREFILL, DECODE], [build.finding(), *facts])

    table = section(report).facts
    assert table is not None
    assert [[plain(cell.text) for cell in row.cells] for row in table.rows] == [
        [
            "F2, F3", "prefill and decode", "The first step takes 479 to 1 230 ms",
            "prefill: 1 230 ms for the first step, 1.00 ms for a later one (n = 1). "
            "decode: 479 ms for the first step, 1.00 ms for a later one (n = 1).",
        ],
        ["F4, F5", "prefill and decode", "The inputs are synthetic", "inputs: random token ids."],
    ]  # fmt: skip
    # Two statements, wherever they are counted.
    assert view_top(report).more == "And two facts about the run, some of several cases: F2, F3, F4 and F5."
    assert view_checklist(report)[4].verdict == f"2{NBSP}facts"
    assert "F2 and F3: The first step takes" in plain(view_checklist(report)[4].found)


def test_a_report_of_facts_alone_counts_them_as_it_lists_them() -> None:
    facts = (synthetic("F1", "decode"), synthetic("F2", "prefill"))
    fired = tuple(RuleRecord(id="synthetic-inputs", case=name, outcome="fired") for name in ("prefill", "decode"))
    report = build.report([PREFILL, DECODE], facts, rules=fired)

    assert plain(rules_sentence(report)) == "No fault found; 1 fact is stated."


def test_a_checklist_step_whose_checks_were_mostly_not_evaluated_found_nothing_and_does_not_say_so() -> None:
    outcomes: dict[str, Any] = {
        "trace-incomplete": "passed",
        "cold-start": "not-evaluated",
        "unstable-timing": "not-evaluated",
    }
    rules = tuple(RuleRecord(id=name, case="prefill", outcome=outcome) for name, outcome in outcomes.items())

    assert plain(view_checklist(build.report([PREFILL], [], rules=rules))[4].verdict) == "2 of 3 checks not evaluated"


def test_the_place_that_holds_most_at_the_peak_is_named_and_what_comes_and_goes_there() -> None:
    def line(function: str, category: Any, size: int) -> PeakLine:
        source = Source(file="train.py", line=1, function=function, line_kind="def", user=True)
        return PeakLine(source=source, category=category, bytes=size, num_blocks=1)

    lines = (line("forward", "activations", 4 * 2**30), line("loss", "temporaries", 3 * 2**30))
    memory = Memory(
        peak_allocated_bytes=10 * 2**30,
        peak_reserved_bytes=None,
        start_bytes=None,
        growth_bytes_per_step=None,
        at_peak_bytes=10 * 2**30,
        peak_lines=lines,
    )
    told = dict(sentences_about(memory))
    assert plain(told["At the peak:"]) == (
        "4.00 GiB of 10.0 GiB, the most of one place, are activations of `forward`; the peak falls while `loss` holds "
        "3.00 GiB of temporaries."
    )


def test_what_is_worth_a_look_after_the_fixes_is_told_below_them() -> None:
    fix = Fix(finding="F1", edit="graph", step_after_us=200.0, method="replay", limits_next="device")
    latent = Latent(rule="gemm-misaligned", cost_us_per_step=26.0, share_of_step=0.026, share_after=0.13)
    sequence = FixSequence(case="prefill", step_us=1000.0, fixes=(fix,), then_worth=(latent,))
    report = msgspec.structs.replace(build.report([PREFILL]), fixes=(sequence,))

    (told,) = view_fixes(report, {}, SCREEN)
    assert plain(told.then) == (
        "Once these are made, with the device’s work as it is, worth a look too: `gemm-misaligned`, at most 26.0 µs or "
        "13.0 % of that step (2.6 % now)."
    )
    assert "worth a look too: <code>gemm-misaligned</code>" in render_html(report)


def test_each_start_of_the_memory_is_named_by_the_step_that_it_lies_before() -> None:
    curve = MemoryCurve(time_us=(0.0, 9.0), allocated_bytes=(2**20, 3 * 2**20), ordinal=2, num_steps=3)
    first = FirstStepMemory(start_bytes=2**20, peak_allocated_bytes=5 * 2**20, peak_reserved_bytes=6 * 2**20)
    memory = Memory(
        peak_allocated_bytes=4 * 2**20, peak_reserved_bytes=None, start_bytes=2 * 2**20, growth_bytes_per_step=None,
        basis="unprofiled", first_step=first, curve=curve,
    )  # fmt: skip
    told = {lead: plain(text) for lead, text in sentences_about(memory)}
    assert told["Peak:"].startswith("4.00 MiB allocated at the peak, 2.00 MiB before the first timed step (")
    assert told["First step of all:"].endswith("at its peak, from 1.00 MiB that were there once the case was built.")
    assert "3.00 in the detail pass (chart: step 2 of 3)" in told["Passes:"]

    traced = msgspec.structs.replace(memory, basis="trace", first_step=None)
    assert "2.00 MiB before step 2 of 3, which holds it (" in plain(dict(sentences_about(traced))["Peak:"])
    settling = msgspec.structs.replace(traced, curve=msgspec.structs.replace(curve, ordinal=1))
    assert "before step 1 of 3 (it settles), which holds it" in plain(dict(sentences_about(settling))["Peak:"])


def test_a_host_that_may_take_longer_than_the_step_that_is_left_is_said() -> None:
    fix = Fix(finding="F1", edit="pad", step_after_us=920.0, method="replay", limits_next="device")
    sequence = FixSequence(case="prefill", step_us=1000.0, fixes=(fix,), limits_now="device")
    longer_step = msgspec.structs.replace(fix, step_after_us=960.0)

    # The host of this case works 900 to 950 us.
    note = fixes_table(sequence, PREFILL, 1).note
    assert "The host issues work for 0.90 to 0.95 ms a step: it may limit" in plain(note or "")
    longer = fixes_table(msgspec.structs.replace(sequence, fixes=(longer_step,)), PREFILL, 1).note
    assert "may limit" not in (longer or "")


def test_facts_that_differ_in_more_than_their_figure_stay_two() -> None:
    other = msgspec.structs.replace(synthetic("F3", "decode"), statement=Statement(lead="The weights are synthetic"))
    report = build.report([PREFILL, DECODE], [build.finding(), synthetic("F2", "prefill"), other])

    table = section(report).facts
    assert table is not None
    assert [row.cells[2].text for row in table.rows] == ["prefill is synthetic", "decode is synthetic"]


def sequence(*fixes: tuple[str, float]) -> FixSequence:
    return FixSequence(
        case="prefill",
        step_us=1000.0,
        fixes=tuple(Fix(finding=name, edit=name, step_after_us=us, method="replay") for name, us in fixes),
    )


def test_a_gain_that_needs_another_fix_first_names_it() -> None:
    nothing_yet = build.finding("F2", gain=build.gain(1000.0, 999.0, "replay"), severity="low")
    report = build.report(findings=[build.finding(), nothing_yet], fixes=(sequence(("F1", 500.0), ("F2", 350.0)),))

    assert plain(gain_text(report, nothing_yet)) == "after F1: 0.50 → 0.35 ms"
    assert method_words(report, nothing_yet, "ms") == "replayed, after F1"
    row = view_top(report).rows[1]
    assert (row.before, row.after) == ("0.50", "0.35")
    # A fix that gives something by itself is told by itself.
    assert plain(gain_text(report, build.finding("F2", gain=build.gain(1000.0, 800.0, "replay")))) == "1.00 → 0.80 ms"


def test_a_gain_of_the_mean_step_says_so_and_is_no_best_step() -> None:
    rare = msgspec.structs.replace(build.gain(1100.0, 1050.0, "bound"), base="mean-step")
    outlier = build.finding(rule="step-outlier", gain=rare, severity="low")
    report = build.report(findings=[outlier])

    assert plain(gain_text(report, outlier)) == "mean 1.10 → 1.05 ms"
    assert method_words(report, outlier, "ms") == "at most, of the mean"
    # The step is 1.00 ms already: 1.05 is no promise.
    assert cases.best_gain(report, PREFILL) is None
    assert plain(verdict(report).changes) == (
        "No rule found time to gain but in single slow steps: 1.10 → 1.05 ms in the mean at best."
    )


def test_a_replayed_gain_is_told_with_its_bounds_where_they_are_wide() -> None:
    gain = msgspec.structs.replace(
        build.gain(1000.0, 800.0, "replay"), at_least_us_per_step=100.0, at_most_us_per_step=300.0
    )
    finding = build.finding(gain=gain, confidence="medium")
    report = build.report(findings=[finding])

    # Beside columns in ms the unit stands in their heads.
    assert plain(method_words(report, finding, "ms")) == "replayed, 0.70 to 0.90"
    assert plain(method_words(report, finding, "s")) == "replayed, 0.70 to 0.90 ms"
    (card,) = section(report).cards
    assert plain(card.gain_note) == "replayed, 0.70 to 0.90 ms, sure: medium"
    narrow = msgspec.structs.replace(gain, at_least_us_per_step=199.0, at_most_us_per_step=201.0)
    told = told_gain(report, build.finding(gain=narrow))
    assert told is not None
    assert told.bounds == ""


def test_a_fault_of_memory_alone_promises_nothing_in_time() -> None:
    leak = build.finding(rule="memory-growth", checklist_step=3, gain=None)
    report = build.report(findings=[leak])

    assert view_top(report).rows[0].method == "in memory"
    assert view_top(report).rows[0].after == "not evaluated"


def test_a_terminal_tells_waits_with_the_tables_figures_and_gains_without_their_bounds() -> None:
    # 0.1049 and 0.1949 and 0.2502 and 0.4500 sum to 1.0000: the table rounds one of the lesser two up.
    case = host_bound_case(budget=budget(1000.0, compute=250.2, launch=450.0, launch_call=194.9, turnaround=104.9))
    gain = msgspec.structs.replace(
        build.gain(1000.0, 800.0, "replay"), at_least_us_per_step=100.0, at_most_us_per_step=300.0
    )
    report = build.report([case], [build.finding(gain=gain)])
    shown = render_terminal(report)

    table = budget_table(report)
    assert table is not None
    cells = {row.cells[0].text: row.cells[1].text for row in table.rows}
    assert f"launch {cells['launch']}, launch call {cells['launch call']}, turnaround {cells['turnaround']}" in shown
    assert "1.00 -> 0.80 ms  replayed\n" in shown


def test_a_split_that_is_an_estimate_is_told_with_its_bounds() -> None:
    parts = (
        BudgetRow(name="compute", us_per_step=200.0, low_us=200.0, high_us=200.0),
        BudgetRow(name="launch", us_per_step=700.0, low_us=600.0, high_us=740.0),
        BudgetRow(name="launch-call", us_per_step=100.0, low_us=60.0, high_us=200.0),
    )
    case = host_bound_case(budget=Budget(basis="unprofiled", step_us=1000.0, parts=parts))
    alone = budget_table(build.report([case]))
    sharing = budget_table(build.report([case, host_bound_case(name="decode")]))

    assert alone is not None
    assert alone.note is None
    assert [plain(cell.text) for cell in (row.cells[3] for row in alone.rows)] == [
        "exact", "0.60 to 0.74", "0.06 to 0.20", "",
    ]  # fmt: skip
    # Two cases leave no room for the column.
    assert sharing is not None
    assert plain(sharing.note or "") == (
        "Launch and launch call are told apart by an estimate: launch call takes 0.06 to 0.20 ms in prefill."
    )


def test_small_kernels_wait_for_what_both_parts_take_together() -> None:
    # Of 1 000 us, 200 are compute's: however launch and launch call share it, they take 800.
    parts = (
        BudgetRow(name="compute", us_per_step=200.0, low_us=200.0, high_us=200.0),
        BudgetRow(name="launch", us_per_step=700.0, low_us=0.0, high_us=800.0),
        BudgetRow(name="launch-call", us_per_step=100.0, low_us=0.0, high_us=800.0),
    )
    assert least_waits_us(Budget(basis="unprofiled", step_us=1000.0, parts=parts)) == 800.0


def test_page_one_says_that_others_had_the_cores() -> None:
    samples = (30_000.0,) * 15 + (20_000.0,) * 5
    times = StepTimes(
        median_us=30_000.0, p5_us=20_000.0, p95_us=30_000.0, min_us=20_000.0, max_us=30_000.0,
        num_samples=20, samples_us=samples, starved_us=(9_000.0,) * 15 + (0.0,) * 5,
    )  # fmt: skip
    timing = Timing(step_us=30_000.0, mode="pipelined", basis="unprofiled", pipelined=times)
    first = view_sureness(build.report([host_bound_case(timing=timing)]))[0]
    assert first.lead == "The step's time is not sure:"
    assert plain(first.text) == (
        "other processes had the cores; 5 of 20 steps of prefill ran undisturbed and took 20.0 ms. "
        "Repeat it on a quiet machine."
    )
