import msgspec
import pytest

from reportgen.analysis.model import Cut
from reportgen.errors import InputUnreadable
from reportgen.history.compare import KnownSpread, compare_reports, read_report
from reportgen.history.text import first_moved, host_moved, render_text, shows_host
from reportgen.recording import Device
from reportgen.report.json import encode_report
from tests.night_builder import HOST, night, night_case, timed
from tests.report_builder import finding, gain


def figure(difference, name):
    (row,) = [row for row in difference.cases[0].differences if row.quantity == name]
    return row


def test_a_report_compared_with_itself_shows_no_change():
    report = night(findings=[finding()])

    difference = compare_reports(report, report)

    assert difference.verdict == "unchanged"
    assert {row.verdict for row in difference.cases[0].differences} == {"unchanged"}
    assert difference.cases[0].moved == ()
    assert [row.state for row in difference.findings] == ["still"]


def test_five_per_cent_more_device_time_is_worse_and_names_the_operator_first():
    difference = compare_reports(night(), night([night_case(mm_us=130.0)]))

    assert difference.verdict == "worse"
    row = figure(difference, "device_time")
    assert (row.base, row.new, row.change) == (200.0, 210.0, pytest.approx(0.05))
    moved = difference.cases[0].moved
    assert [(row.kind, row.name, row.state) for row in moved if row.name in ("aten::mm", "gemm", "forward")] == [
        ("operator", "aten::mm", "changed"),
        ("shape", "aten::mm", "changed"),
        ("kernel", "gemm", "changed"),
        ("function", "forward", "changed"),
    ]
    assert moved[0].change_us == pytest.approx(10.0)
    assert not [row for row in moved if row.name == "aten::add"]


@pytest.mark.parametrize(("mm_us", "verdict"), [(121.9, "within-noise"), (122.1, "worse"), (117.9, "better")])
def test_device_time_has_moved_from_one_per_cent_and_two_microseconds_on(mm_us, verdict):
    assert figure(compare_reports(night(), night([night_case(mm_us=mm_us)])), "device_time").verdict == verdict


def test_a_kernel_more_is_worse_by_its_count_alone():
    more = night_case(mm_us=40.0, adds=2.0)  # 200 us again

    difference = compare_reports(night(), night([more]))

    assert figure(difference, "device_time").verdict == "unchanged"
    assert figure(difference, "activities").verdict == "worse"
    assert figure(difference, "kernels").verdict == "changed"
    assert difference.verdict == "worse"


def test_fewer_microseconds_weigh_more_than_an_activity_more():
    difference = compare_reports(night(), night([night_case(mm_us=20.0, adds=2.0)]))

    assert difference.verdict == "better"


def test_an_operator_that_came_and_one_that_went_are_said():
    before, after = night_case(), night_case()
    items = after.operators.items
    renamed = msgspec.structs.replace(items[1], name="aten::add_")
    after = msgspec.structs.replace(
        after, operators=msgspec.structs.replace(after.operators, items=(items[0], renamed))
    )

    moved = [row for row in compare_reports(night([before]), night([after])).cases[0].moved if row.kind == "operator"]

    assert {(row.name, row.state) for row in moved} == {("aten::add", "gone"), ("aten::add_", "added")}


def test_a_step_ten_per_cent_longer_is_noise_of_two_runs_and_says_how_many_nights_would_decide():
    row = figure(compare_reports(night(), night([night_case(step_us=1100.0)])), "step_time")

    # ln 1.1 = 0.0953 against (4.27 + 2.33) x 0.08 x sqrt((1 + pi/2)/n): ten nights a side are still 0.267.
    assert row.verdict == "within-noise"
    assert row.needs_nights is None
    known = {"prefill": KnownSpread(0.02, 31)}
    row = figure(compare_reports(night(), night([night_case(step_us=1100.0)]), spreads=known), "step_time")
    # (4.27 + 2.33) x 0.02 x sqrt((1 + pi/2)/n) <= 0.0953 from n = 5 on (0.0945; four: 0.1057).
    assert row.verdict == "within-noise"
    assert row.needs_nights == 5


def test_a_longer_step_with_the_same_device_time_is_followed_into_the_host():
    (case,) = compare_reports(night(), night([night_case(step_us=2000.0, forward_us=1800.0)])).cases

    assert shows_host(case)
    assert first_moved(case) == []
    assert [(row.kind, row.name, row.basis, row.change_us) for row in host_moved(case)] == [
        ("function", "forward", "host", 900.0)
    ]


def test_host_times_that_move_under_an_equal_step_are_not_shown():
    difference = compare_reports(night(), night([night_case(forward_us=1800.0)]))

    assert not shows_host(difference.cases[0])
    assert "forward" not in render_text(difference)


def test_a_step_twice_as_long_is_worse_even_of_two_runs():
    assert figure(compare_reports(night(), night([night_case(step_us=2000.0)])), "step_time").verdict == "worse"


def test_a_step_that_wanders_within_its_run_is_not_told_from_noise_by_two_runs():
    """From 500 to 1000 µs within a run is a deviation of ln 2 / 3.29 = 0.21; a step twice as long is not beyond it."""
    wandering = timed(*[500.0] * 6, *[700.0] * 8, *[1000.0] * 6)
    calm = timed(*[1500.0] * 20)

    row = figure(compare_reports(night([night_case(timing=wandering)]), night([night_case(timing=calm)])), "step_time")

    assert (row.base, row.new, row.verdict) == (700.0, 1500.0, "within-noise")
    assert "21.1 % within one run" in row.reason.replace("\u00a0", " ")


def test_another_device_is_not_comparable_and_still_shows_both():
    other = night([night_case(mm_us=500.0)], devices=(Device(index=0, name="NVIDIA A100"),))

    difference = compare_reports(night(), other)

    assert difference.verdict == "not-comparable"
    assert difference.cases[0].reasons == ("another device: NVIDIA H200, then NVIDIA A100",)
    row = figure(difference, "device_time")
    assert (row.base, row.new, row.verdict) == (200.0, 580.0, "not-comparable")


def test_other_parameters_are_not_comparable():
    difference = compare_reports(night(), night([night_case(parameters={"batch": 8})]))

    assert difference.cases[0].reasons == ("other parameters: batch 1 → 8",)


def test_a_throttled_clock_leaves_counts_and_memory_comparable():
    throttled = night([night_case(mm_us=130.0)], findings=[finding(rule="clock-throttled", severity="info")])

    difference = compare_reports(night(), throttled)

    assert figure(difference, "device_time").verdict == "not-comparable"
    assert "throttled in new only" in figure(difference, "device_time").reason
    assert figure(difference, "peak_memory").verdict == "unchanged"


def test_another_host_leaves_device_time_comparable():
    elsewhere = msgspec.structs.replace(HOST, num_cores=2)

    difference = compare_reports(night(), night([night_case(step_us=3000.0)], environment=elsewhere))

    assert figure(difference, "step_time").verdict == "not-comparable"
    assert figure(difference, "device_time").verdict == "unchanged"


def test_a_step_whose_cores_others_had_is_not_compared_and_shows_both():
    crowded = night_case(timing=timed(*[9000.0] * 20, starved_us=[4000.0] * 20))

    row = figure(compare_reports(night(), night([crowded])), "step_time")

    assert (row.base, row.new, row.verdict) == (1000.0, 9000.0, "not-comparable")
    assert row.reason.replace("\u00a0", " ") == "others had the cores (0 of 20 steps ran undisturbed) in new"


def test_a_step_seen_only_under_the_profiler_is_not_compared():
    timing = msgspec.structs.replace(night_case().timing, basis="trace")

    assert not [
        row
        for row in compare_reports(*[night([night_case(timing=timing)])] * 2).cases[0].differences
        if row.quantity == "step_time"
    ]


def test_another_version_is_said_beside_the_verdict():
    newer = msgspec.structs.replace(HOST, torch="2.14.0")

    assert compare_reports(night(), night(environment=newer)).also == ("torch 2.13.0 → 2.14.0",)


def test_a_case_on_one_side_is_added_or_gone():
    cases = [night_case(), night_case(name="decode")]

    assert [case.state for case in compare_reports(night(), night(cases)).cases] == ["both", "added"]
    assert [case.state for case in compare_reports(night(cases), night()).cases] == ["both", "gone"]


def test_of_a_finding_that_is_gone_the_promise_stands_beside_what_came_of_it():
    base = night(findings=[finding(gain=gain(1000.0, 500.0))])

    (row,) = compare_reports(base, night([night_case(step_us=640.0)])).findings

    assert (row.state, row.promised_us, row.realised_us) == ("gone", 500.0, 360.0)


def test_a_promise_of_the_mean_step_is_not_held_against_the_median():
    of_the_mean = msgspec.structs.replace(gain(1000.0, 900.0), base="mean-step")
    base = night(findings=[finding(gain=of_the_mean)])

    (row,) = compare_reports(base, night()).findings

    assert (row.state, row.promised_us) == ("gone", None)


def test_another_device_has_neither_got_rid_of_a_finding_nor_brought_one():
    other = night(findings=[finding("F2"), finding("F3")], devices=(Device(index=0, name="NVIDIA A100"),))

    difference = compare_reports(night(findings=[finding("F1"), finding("F2")]), other)

    # F1 is in base alone and F3 in new alone; F2 is in both.
    assert [(row.state, row.fingerprint) for row in difference.findings] == [("still", "host-bound/prefill/F2")]
    assert difference.num_findings_not_compared == 2


def test_a_case_that_was_not_run_again_has_not_got_rid_of_its_finding_and_the_other_case_has():
    cases = [night_case(), night_case(name="decode")]
    base = night(cases, findings=[finding("F1"), finding("F2", case="decode"), finding("F3", case=None)])

    difference = compare_reports(base, night())

    assert [(row.state, row.case) for row in difference.findings] == [("gone", "prefill"), ("gone", None)]
    assert difference.num_findings_not_compared == 1


def test_a_case_of_which_no_figure_can_be_judged_is_not_unchanged():
    crowded = timed(*[9000.0] * 20, starved_us=[4000.0] * 20)
    bare = night_case(timing=crowded, device_time=None, memory=None, kernels=Cut(items=(), total=1))

    difference = compare_reports(night([bare]), night([bare]))

    assert [row.quantity for row in difference.cases[0].differences] == ["step_time"]
    assert difference.verdict == "not-comparable"


def test_what_is_no_report_is_an_input_that_cannot_be_read(tmp_path):
    (tmp_path / "report.json").write_text('{"traceEvents": []}')
    with pytest.raises(InputUnreadable, match="no report of this version"):
        read_report(tmp_path)
    with pytest.raises(InputUnreadable, match="cannot be read"):
        read_report(tmp_path / "nothing")


def test_a_report_is_read_from_its_folder_or_its_file(tmp_path):
    (tmp_path / "report.json").write_bytes(encode_report(night()))

    assert read_report(tmp_path) == read_report(tmp_path / "report.json") == night()
