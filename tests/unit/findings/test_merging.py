"""Which finding speaks for which, how grave the one that is left is, and where it stands."""

from __future__ import annotations

from typing import Any

import pytest

from reportgen.analysis.model import Source
from reportgen.findings.merging import Judged, merge
from reportgen.findings.model import Evidence, Finding, Gain
from reportgen.findings.ranking import rank, severity_of
from reportgen.findings.rule import Context, Draft, Rule, Verdict, passed
from tests import report_builder as build


def gain(share: float | None, **fields: Any) -> Gain:
    values: dict[str, Any] = {"share_of_step": share, "resource": "host", "method": "bound"}
    return Gain(**(values | fields))


def function(name: str, file: str = "train.py", line: int = 3) -> Source:
    return Source(file=file, line=line, line_kind="def", function=name, user=True)


def draft(**fields: Any) -> Draft:
    values: dict[str, Any] = {
        "title": "", "evidence": (), "mechanism": "", "action": "", "short_action": "", "verify": "",
        "confidence": "high",
    }  # fmt: skip
    return Draft(**(values | fields))


def judged(rule_id: str, **fields: Any) -> Judged:
    def judge(_: Context) -> Verdict:
        return passed("not asked")

    return Judged(Rule(id=rule_id, checklist_step=1, judge=judge), draft(**fields))


def lines(*texts: str) -> tuple[Evidence, ...]:
    return tuple(Evidence(text=text) for text in texts)


def ids(found: list[Judged]) -> list[str]:
    return [one.rule.id for one in found]


def test_the_graph_speaks_for_small_kernels_and_repeats_what_they_saw_first() -> None:
    found = merge(
        [
            judged("small-kernels", evidence=lines("900 short ones", "median 2 us"), gain=gain(0.05)),
            judged("host-bound", evidence=lines("the host works 0.9 ms"), gain=gain(0.5)),
            judged("near-capacity", severity="medium"),
        ]
    )
    assert ids(found) == ["host-bound", "near-capacity"]
    assert found[0].draft.merged == ("small-kernels",)
    assert [line.text for line in found[0].draft.evidence] == ["the host works 0.9 ms", "900 short ones"]


def test_only_the_wait_in_the_same_function_belongs_to_a_stall() -> None:
    waits = [judged("sync-point", source=function(name)) for name in ("hook", "log")]
    found = merge([judged("host-stall", source=function("hook", line=9)), *waits])

    # Another line of the same function is still the same function.
    assert ids(found) == ["host-stall", "sync-point"]
    assert found[1].draft.source == function("log")


def test_functions_of_one_name_in_two_files_are_two() -> None:
    found = merge(
        [judged("host-stall", source=function("hook")), judged("sync-point", source=function("hook", "b.py"))]
    )
    assert ids(found) == ["host-stall", "sync-point"]


def test_a_path_that_a_trace_has_shortened_is_the_same_file() -> None:
    whole, shortened = function("attend", "/opt/jobs/model.py"), function("attend", "model.py")
    other = function("attend", "/opt/jobs/old_model.py")
    found = merge([judged("attention-unfused", source=shortened), judged("allocation-spike", source=whole)])
    assert ids(found) == ["attention-unfused"]
    found = merge([judged("attention-unfused", source=shortened), judged("allocation-spike", source=other)])
    assert ids(found) == ["attention-unfused", "allocation-spike"]


def test_findings_without_a_place_are_not_taken_for_one() -> None:
    assert ids(merge([judged("host-stall"), judged("sync-point")])) == ["host-stall", "sync-point"]


def test_a_product_speaks_for_the_operator_at_its_shape_alone() -> None:
    product = judged("gemm-misaligned", identity=("aten::mm", "forward", "8x50257"))
    same = judged("dominant-operator", identity=("aten::mm", "8x50257"))
    other = judged("dominant-operator", identity=("aten::mm", "8x768"))
    found = merge([product, same, other])
    assert [one.draft.identity[-1] for one in found] == ["8x50257", "8x768"]


def test_what_an_absorbed_finding_had_absorbed_is_named_too() -> None:
    chain = [
        judged("gemm-misaligned", identity=("aten::mm", "8x768")),
        judged("low-roofline", identity=("aten::mm", "8x768"), merged=("dominant-operator",)),
    ]
    (found,) = merge(chain)
    assert found.draft.merged == ("low-roofline", "dominant-operator")


def test_the_one_that_stays_is_as_grave_as_the_gravest() -> None:
    (found,) = merge([judged("host-bound", gain=gain(0.01)), judged("small-kernels", gain=gain(0.2))])
    assert severity_of(found.draft) == "high"
    # One that is the gravest itself is judged by its gain as ever.
    (found,) = merge([judged("host-bound", gain=gain(0.2)), judged("small-kernels", gain=gain(0.01))])
    assert found.draft.severity is None


def test_memory_that_the_absorbed_promise_is_promised_once_the_largest() -> None:
    spikes = [judged("allocation-spike", source=function("attend"), gain=gain(None, bytes=size)) for size in (100, 300)]
    (found,) = merge([judged("attention-unfused", source=function("attend"), gain=gain(0.2)), *spikes])
    assert found.draft.gain is not None
    assert (found.draft.gain.share_of_step, found.draft.gain.bytes) == (0.2, 300)


@pytest.mark.parametrize(
    ("share", "severity"), [(0.10, "high"), (0.0999, "medium"), (0.03, "medium"), (0.0299, "low"), (0.0, "low")]
)
def test_the_share_of_the_step_makes_the_severity(share: float, severity: str) -> None:
    assert severity_of(draft(gain=gain(share))) == severity


def test_without_time_a_finding_is_a_fact_unless_its_rule_says_otherwise() -> None:
    assert severity_of(draft()) == "info"
    assert severity_of(draft(gain=gain(None, bytes=2**30))) == "info"
    assert severity_of(draft(gain=gain(None, bytes=2**30), severity="medium")) == "medium"


def test_a_measured_gain_overrules_the_rules_own_word() -> None:
    assert severity_of(draft(severity="high", gain=gain(0.01, method="measured"))) == "low"
    assert severity_of(draft(severity="high", gain=gain(0.01, method="replay"))) == "high"


def ranked(*found: Finding) -> list[str]:
    return [finding.rule for finding in rank(list(found))]


def test_a_sure_gain_goes_before_a_larger_doubtful_one() -> None:
    # 0.2 x 1.0, 0.25 x 0.7, 0.4 x 0.4
    doubtful = build.finding(rule="doubtful", gain=gain(0.4), confidence="low")
    likely = build.finding(rule="likely", gain=gain(0.25), confidence="medium")
    sure = build.finding(rule="sure", gain=gain(0.2), confidence="high")
    assert ranked(doubtful, likely, sure) == ["sure", "likely", "doubtful"]


def test_of_a_bound_half_is_expected() -> None:
    # 0.9 / 2 x 0.4 = 0.18, 0.27 x 0.7 = 0.189: whole, the bound would weigh 0.36.
    bound = build.finding(rule="bound", gain=gain(0.9, method="bound"), confidence="low")
    replayed = build.finding(rule="replayed", gain=gain(0.27, method="replay"), confidence="medium")
    assert ranked(bound, replayed) == ["replayed", "bound"]


def test_what_ends_the_run_goes_first_and_a_lesser_fault_in_memory_where_its_severity_begins() -> None:
    leak = build.finding(rule="leak", severity="high", gain=None)
    spike = build.finding(rule="spike", severity="medium", gain=None)  # weighs 0.03
    more = build.finding(rule="more", gain=gain(0.9))
    less = build.finding(rule="less", severity="low", gain=gain(0.02))
    assert ranked(less, spike, more, leak) == ["leak", "more", "spike", "less"]
