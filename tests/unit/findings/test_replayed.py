"""Gains of findings, replayed on steps made by hand. Times in µs; recording a runtime call costs 1.2 to 3.7."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import msgspec
import pytest

from reportgen.analysis.case import AnalyzedCase, CaseInputs, analyze_with_step
from reportgen.analysis.model import Alternative, StepTimes
from reportgen.analysis.replay.case_replay import CaseReplay
from reportgen.analysis.replay.changes import Change, operator_key
from reportgen.findings import evaluate
from reportgen.findings.gain import bounded_gain
from reportgen.findings.model import Finding, RuleOutcome, RuleRecord
from reportgen.findings.rule import Context, Draft, Rule, Verdict, fired
from reportgen.findings.sequence import order_fixes
from reportgen.recording import Environment
from reportgen.trace.reader import read_trace
from tests.trace_builder import Json, activity, base, frame, kernel, launch, op, span, step, write_trace

STEP_US = 1000
NUM_STEPS = 4
# Three runtime calls and three operators a step cost 3 x (1.2 to 3.7) + 3 x (1 to 1.6) to record; a frame 0.3 to 0.9.
RECORDING_US = 15


def stalled_step(at: int, c: int) -> list[Json]:
    """Two products of 50 at once, then 600 of host code in `hook`, then a third one of 150; 1000 in all.

    The last kernel ends 20 before the step does. Of the device's waits, the hook's 600 are the largest.
    """
    return [
        frame("train.py(9): hook", at + 200, 600),
        *product(at + 20, c, at + 50, 50, "aten::mm"),
        *product(at + 100, c + 1, at + 130, 50, "aten::mm"),
        *product(at + 800, c + 2, at + 830, 150, "aten::bmm"),
    ]


def product(at: int, c: int, device_at: int, length: int, name: str) -> list[Json]:
    shapes = {"Input Dims": [[2, 3], [3, 4]], "Input type": ["float", "float"]}
    return [op(name, at, 28, **shapes), launch(at + 5, 20, c), kernel(device_at, length, c, name=name)]


def synchronized_step(at: int, c: int) -> list[Json]:
    """A launch, a wait for its kernel of 495 until 510, and 490 of host code in which the device idles."""
    return [
        launch(at, 5, c), kernel(at + 10, 495, c),
        op("aten::item", at + 4, 507), span("cuda_runtime", "cudaStreamSynchronize", at + 5, 505),
    ]  # fmt: skip


def building_step(at: int, c: int) -> list[Json]:
    """A kernel of 50, then 600 in which the driver loads a module while the device idles, then a kernel of 150."""
    return [
        *product(at + 20, c, at + 50, 50, "aten::mm"),
        span("cuda_driver", "cuModuleLoadData", at + 150, 600),
        *product(at + 800, c + 1, at + 830, 150, "aten::bmm"),
    ]


def device_bound_steps() -> list[Json]:
    """Steps whose host is done in 100 and whose device works 600 on one product and 400 on another."""
    made: list[Json] = []
    for number in range(NUM_STEPS):
        host, device, c = 100 * number, 50 + 1000 * number, 10 * number + 1
        made += [
            step(number, host, 100),
            *product(host + 5, c, device, 600, "aten::mm"), *product(host + 50, c + 1, device + 600, 400, "aten::bmm"),
        ]  # fmt: skip
    return made


def analyzed(tmp_path: Path, events: list[Json]) -> AnalyzedCase:
    trace = read_trace(write_trace(tmp_path, base(*events)))
    return analyze_with_step(CaseInputs(name="case", timeline=trace, detail=trace))


def equal_steps(make: object) -> list[Json]:
    made: list[Json] = []
    for number in range(NUM_STEPS):
        at = STEP_US * number
        made += [step(number, at, STEP_US), *make(at, 10 * number + 1)]  # type: ignore[operator]
    return made


def replay_of(case: AnalyzedCase) -> CaseReplay:
    assert case.replay is not None
    return case.replay


def rule_with(rule_id: str, change: Change, cost_us: float = 1000.0, **fields: object) -> Rule:
    """Return a rule that always finds a fault of `cost_us`, bounded by nothing else."""

    def judge(_: Context) -> Verdict:
        bound = bounded_gain(step_us=STEP_US, cost_us=cost_us, floor_us=0.0, resource="both", edit=rule_id)
        draft = Draft(
            title=rule_id,
            evidence=(),
            mechanism="",
            short_action="",
            action="",
            verify="",
            confidence="low",
            gain=bound,
            change=change,
        )
        return fired(dataclasses.replace(draft, **fields))  # type: ignore[arg-type]

    return Rule(id=rule_id, checklist_step=2, judge=judge)


def judged(case: AnalyzedCase, *rules: Rule) -> tuple[Finding, ...]:
    replays = {"case": case.replay} if case.replay else {}
    return evaluate([case.analysis], Environment(), replays=replays, rules=rules)[0]


def test_the_replayed_gain_stands_in_place_of_the_bound(tmp_path: Path) -> None:
    case = analyzed(tmp_path, equal_steps(synchronized_step))
    (finding,) = judged(case, rule_with("sync", Change(kind="remove-syncs")))

    # Without the wait the device's 495 limit: 505 less.
    assert finding.gain is not None
    assert (finding.gain.method, finding.confidence) == ("replay", "medium")
    assert finding.gain.step_after_us == pytest.approx(495, abs=RECORDING_US)
    gain, after_us = finding.gain, finding.gain.step_after_us
    assert (gain.at_least_us_per_step or 0) <= 1000 - (after_us or 0) <= (gain.at_most_us_per_step or 0)
    assert finding.evidence[-1].value == finding.gain.step_after_us


def test_the_rule_about_synchronizations_finds_its_own_calls(tmp_path: Path) -> None:
    case = analyzed(tmp_path, equal_steps(synchronized_step))
    findings = evaluate([case.analysis], Environment(), replays={"case": replay_of(case)})[0]
    (sync,) = (finding for finding in findings if finding.rule == "sync-point")

    assert sync.change == Change(kind="remove-syncs", place="cudaStreamSynchronize|aten::item")
    assert sync.gain is not None
    assert sync.gain.method == "replay"
    assert sync.gain.step_after_us == pytest.approx(495, abs=RECORDING_US)


def test_a_number_that_is_not_read_takes_neither_its_copy_nor_its_operators_time(tmp_path: Path) -> None:
    def reading_step(at: int, c: int) -> list[Json]:
        """A kernel of 100, then 400 of host code in an `.item()` that copies and waits 10 for it, then 385 more."""
        return [
            launch(at, 5, c), kernel(at + 10, 100, c),
            op("aten::item", at + 200, 400), op("aten::_local_scalar_dense", at + 210, 380),
            launch(at + 300, 10, c + 1, name="cudaMemcpyAsync"),
            activity("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", at + 315, 5, c + 1, bytes=4),
            span("cuda_runtime", "cudaStreamSynchronize", at + 310, 12),
        ]  # fmt: skip

    case = analyzed(tmp_path, equal_steps(reading_step))
    (finding,) = judged(case, rule_with("sync", Change(kind="remove-syncs")))

    # The host's 1000 less the 400 of the read: without the wait alone it would be about 990.
    assert finding.gain is not None
    assert finding.gain.step_after_us == pytest.approx(600, abs=RECORDING_US)


def test_bounds_of_a_gain_reach_to_what_the_recorded_step_would_lose(tmp_path: Path) -> None:
    case = analyzed(tmp_path, equal_steps(synchronized_step))
    (finding,) = judged(case, rule_with("sync", Change(kind="remove-syncs")))

    # With all of the profiler's share left in, the step of 1000 becomes the 495 of its kernel; with some of it taken
    # out there is less host code to hide.
    assert finding.gain is not None
    assert finding.gain.at_most_us_per_step == pytest.approx(505, abs=1)
    assert (finding.gain.at_least_us_per_step or 0) < 505 - 2


def test_the_rule_about_stalls_finds_its_own_function(tmp_path: Path) -> None:
    case = analyzed(tmp_path, equal_steps(stalled_step))
    findings = evaluate([case.analysis], Environment(), replays={"case": replay_of(case)})[0]
    (stall,) = (finding for finding in findings if finding.rule == "host-stall")

    assert stall.change == Change(kind="remove-stall", place="train.py:hook")
    assert stall.gain is not None
    # The device had been idle for 20 when the hook began: all of its 600 go.
    assert stall.gain.method == "replay"
    assert stall.gain.step_after_us == pytest.approx(400, abs=RECORDING_US)


def test_less_device_work_gives_nothing_where_the_host_limits(tmp_path: Path) -> None:
    case = analyzed(tmp_path, equal_steps(stalled_step))
    key = operator_key(case.analysis.operators.items[0])
    (finding,) = judged(case, rule_with("operator", Change(kind="scale-operators", operators={key: 0.5})))

    assert finding.gain is not None
    assert (finding.gain.method, finding.severity) == ("replay", "low")
    assert finding.gain.share_of_step == pytest.approx(0, abs=0.002)


def test_an_operator_in_half_the_time_shortens_a_device_bound_step_by_its_half(tmp_path: Path) -> None:
    case = analyzed(tmp_path, device_bound_steps())
    row = next(row for row in case.analysis.operators.items if row.name == "aten::mm")
    half = Change(kind="scale-operators", operators={operator_key(row): 0.5})
    (finding,) = judged(case, rule_with("operator", half))

    assert finding.gain is not None
    assert finding.gain.step_after_us == pytest.approx(700, rel=0.01)
    # At its roof an operator may be; that is no promise.
    (finding,) = judged(case, rule_with("roof", msgspec.structs.replace(half, is_limit=True)))
    assert finding.gain is not None
    assert (finding.gain.method, finding.gain.at_least_us_per_step, finding.confidence) == ("roofline", 0.0, "low")
    assert finding.gain.at_most_us_per_step == pytest.approx(300, rel=0.01)


def test_one_launch_for_the_step_is_a_bound_where_compiling_is_what_is_advised(tmp_path: Path) -> None:
    case = analyzed(tmp_path, equal_steps(stalled_step))
    graph = Change(kind="launch-as-graph")
    (sure,) = judged(case, rule_with("graph", graph))
    (hoped,) = judged(case, rule_with("compile", msgspec.structs.replace(graph, is_limit=True)))

    assert sure.gain is not None
    assert hoped.gain is not None
    assert (sure.gain.method, sure.confidence) == ("replay", "medium")
    assert (hoped.gain.method, hoped.confidence, hoped.gain.at_least_us_per_step) == ("bound", "low", 0.0)
    # At most what the interval reaches to: a bound that the interval passes would be none.
    assert sure.gain.at_most_us_per_step is not None
    assert sure.gain.step_after_us is not None
    assert hoped.gain.step_after_us == 1000.0 - sure.gain.at_most_us_per_step
    assert sure.gain.at_most_us_per_step > 1000.0 - sure.gain.step_after_us
    assert "the most that the fix can do" in hoped.evidence[-1].text


def test_a_captured_step_builds_nothing_but_its_host_code_stays(tmp_path: Path) -> None:
    graph = rule_with("graph", Change(kind="launch-as-graph"))
    (built,) = judged(analyzed(tmp_path, equal_steps(building_step)), graph)
    (stalled,) = judged(analyzed(tmp_path, equal_steps(stalled_step)), graph)

    assert built.gain is not None
    assert stalled.gain is not None
    # Kernels of 50 and 150 and one launch of 20 are left of 1000; a stall of the user's own is in no graph.
    assert built.gain.step_after_us == pytest.approx(200, abs=40)
    assert stalled.gain.step_after_us is not None
    assert stalled.gain.step_after_us > 600


def test_a_replay_that_misses_the_step_leaves_the_bound_and_says_so(tmp_path: Path) -> None:
    case = analyzed(tmp_path, equal_steps(synchronized_step))
    replay = replay_of(case)
    missed = dataclasses.replace(
        replay,
        replay=dataclasses.replace(replay.replay, base_error=0.3),
        summary=msgspec.structs.replace(replay.summary, base_error=0.3, usable=False),
    )
    (finding,) = judged(case._replace(replay=missed), rule_with("sync", Change(kind="remove-syncs"), 300.0))

    assert finding.gain is not None
    assert (finding.gain.method, finding.confidence, finding.gain.step_after_us) == ("bound", "low", 700.0)
    assert "30" in finding.evidence[-1].text


def test_a_measured_gain_wins_and_the_replayed_one_stands_beside_it(tmp_path: Path) -> None:
    case = analyzed(tmp_path, equal_steps(synchronized_step))
    times = StepTimes(median_us=600, p5_us=590, p95_us=610, min_us=590, max_us=610, num_samples=9, samples_us=())
    unchanged = msgspec.structs.replace(times, median_us=1000)
    tried = Alternative(name="cuda-graph", outcome="faster", original_us=unchanged, step_us=times)
    case = case._replace(analysis=msgspec.structs.replace(case.analysis, alternatives=(tried,)))
    (finding,) = judged(case, rule_with("sync", Change(kind="remove-syncs"), tries=("cuda-graph",)))

    assert finding.gain is not None
    assert (finding.gain.method, finding.gain.step_after_us, finding.confidence) == ("measured", 600, "high")
    replayed, measured = finding.evidence
    assert replayed.value == pytest.approx(495, abs=RECORDING_US)
    assert measured.value == 600


def test_a_fix_names_those_that_have_nothing_left_to_give_after_it(tmp_path: Path) -> None:
    case = analyzed(tmp_path, equal_steps(synchronized_step))
    graph = rule_with("graph", Change(kind="launch-as-graph"))
    findings = judged(case, graph, rule_with("sync", Change(kind="remove-syncs")))

    by_rule = {finding.rule: finding for finding in findings}
    graph_gain = by_rule["graph"].gain
    assert graph_gain is not None
    assert graph_gain.excludes == (by_rule["sync"].id,)


def test_a_measured_fix_comes_before_a_replayed_one_that_gives_a_little_more(tmp_path: Path) -> None:
    case = analyzed(tmp_path, equal_steps(stalled_step))
    times = StepTimes(median_us=380, p5_us=380, p95_us=380, min_us=380, max_us=380, num_samples=9, samples_us=())
    unchanged = msgspec.structs.replace(times, median_us=1000)
    tried = Alternative(name="cuda-graph", outcome="faster", original_us=unchanged, step_us=times)
    case = case._replace(analysis=msgspec.structs.replace(case.analysis, alternatives=(tried,)))
    key = next(operator_key(row) for row in case.analysis.operators.items if row.name == "aten::bmm")
    rules = [
        # Measured, 620 of 1000 go; replayed, it is the stall of 600.
        rule_with("stall", Change(kind="remove-stall"), tries=("cuda-graph",)),
        rule_with("graph", Change(kind="launch-as-graph")),
        rule_with("bmm", Change(kind="drop-operators", operators={key: 0.0})),
    ]
    findings = judged(case, *rules)
    (sequence,) = order_fixes([case.analysis], findings, {"case": replay_of(case)})

    first, second = sequence.fixes[:2]
    assert (first.method, first.step_after_us) == ("measured", 380)
    assert second.method == "replay"
    assert second.step_after_us < 380


def test_fixes_are_ordered_by_what_they_give_after_one_another(tmp_path: Path) -> None:
    case = analyzed(tmp_path, device_bound_steps())
    keys = {row.name: operator_key(row) for row in case.analysis.operators.items}
    rules = [
        rule_with("bmm", Change(kind="drop-operators", operators={keys["aten::bmm"]: 0.0})),
        rule_with("mm", Change(kind="scale-operators", operators={keys["aten::mm"]: 0.25})),
    ]
    findings = judged(case, *rules)
    (sequence,) = order_fixes([case.analysis], findings, {"case": replay_of(case)})

    # 1000, then 450 less of the first product, then 400 less of the second: the host's 100 come into sight.
    assert [fix.edit for fix in sequence.fixes] == ["mm", "bmm"]
    assert [fix.step_after_us for fix in sequence.fixes] == pytest.approx([550, 150], rel=0.02)
    assert [fix.limits_next for fix in sequence.fixes] == ["device", "device"]
    assert sequence.limits_now == "device"
    assert sequence.device_after_us == pytest.approx(150)

    (asked,) = order_fixes([case.analysis], findings, {"case": replay_of(case)}, only=("bmm",))
    assert [(fix.edit, round(fix.step_after_us)) for fix in asked.fixes] == [("bmm", 600)]


def test_what_passed_as_too_small_is_held_against_the_step_that_is_left(tmp_path: Path) -> None:
    case = analyzed(tmp_path, device_bound_steps())
    name = case.analysis.name
    keys = {row.name: operator_key(row) for row in case.analysis.operators.items}
    rules = [
        rule_with("bmm", Change(kind="drop-operators", operators={keys["aten::bmm"]: 0.0})),
        rule_with("mm", Change(kind="scale-operators", operators={keys["aten::mm"]: 0.25})),
    ]

    def passed(rule: str, value: float, outcome: RuleOutcome = "passed") -> RuleRecord:
        return RuleRecord(id=rule, case=name, outcome=outcome, value=value, threshold=0.03)

    # The device limits all along, 1000 us now and 150 in the end: 20 us are 2 % now and 13.3 % then, 4 us 2.7 %.
    records = [passed("large", 0.02), passed("small", 0.004), passed("told", 0.02, "fired"), passed("longer", 0.029)]
    findings = judged(case, *rules)
    (sequence,) = order_fixes([case.analysis], findings, {"case": replay_of(case)}, latent=records)
    assert [(one.rule, round(one.cost_us_per_step), round(one.share_after, 2)) for one in sequence.then_worth] == [
        ("longer", 29, 0.19), ("large", 20, 0.13),
    ]  # fmt: skip
    assert sequence.then_worth[1].share_of_step == 0.02

    # Where nothing tells who limits the step that is left, nothing is said of it.
    (unknown,) = order_fixes([case.analysis], findings, {}, latent=records)
    assert unknown.then_worth == ()


def test_a_bound_comes_after_fixes_that_are_known_however_much_it_gives(tmp_path: Path) -> None:
    case = analyzed(tmp_path, equal_steps(synchronized_step))
    hoped = rule_with("compile", Change(kind="launch-as-graph", is_limit=True))
    findings = judged(case, hoped, rule_with("sync", Change(kind="remove-syncs")))
    (sequence,) = order_fixes([case.analysis], findings, {"case": replay_of(case)})

    # Without the wait a launch and the device's 495 are left; one launch for the step leaves the 495 at best.
    alone = {finding.rule: finding.gain.step_after_us for finding in findings if finding.gain}
    assert alone["compile"] == pytest.approx(495, abs=0.5)
    assert alone["sync"] == pytest.approx(501, abs=1)
    assert [fix.edit for fix in sequence.fixes] == ["sync"]


def test_without_a_replay_only_the_best_fix_is_said(tmp_path: Path) -> None:
    case = analyzed(tmp_path, device_bound_steps())._replace(replay=None)
    none = Change(kind="remove-syncs")
    findings = judged(case, rule_with("small", none, 100.0), rule_with("large", none, 300.0))
    (sequence,) = order_fixes([case.analysis], findings, {})

    assert [(fix.edit, fix.step_after_us, fix.method, fix.limits_next) for fix in sequence.fixes] == [
        ("large", 700.0, "bound", None)
    ]
    assert len(sequence.left_out) == 1
