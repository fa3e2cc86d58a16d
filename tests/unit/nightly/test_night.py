import fcntl
import json
from pathlib import Path

import pytest

from reportgen.errors import RunFailed, UsageError
from reportgen.history.comparability import series_key
from reportgen.history.store import open_store
from reportgen.nightly.summary import lines
from tests.night_builder import night, night_case, timed
from tests.report_builder import finding
from tests.unit.nightly.nights import Nights

WORSE = night([night_case(mm_us=130.0)])


@pytest.fixture
def nights(tmp_path, store_url):
    return Nights(tmp_path, store_url)


def test_unchanged_nights_raise_no_alarm_and_are_measured_once(nights):
    for _ in range(5):
        summary = nights.run()

    assert summary.verdict == "no change"
    assert len(nights.asked) == 5


def test_the_first_night_says_that_there_is_nothing_to_compare_with(nights):
    first = nights.run()
    page = (nights.folder / "index.html").read_text()

    assert lines(first) == ["gpt2: first night, nothing to compare with"]
    assert "<b>The last night: first night.</b> There is nothing to compare it with yet." in page
    assert "no change" not in page.lower()

    assert lines(nights.run()) == ["gpt2: no change"]
    assert "<b>The last night: no change.</b>" in (nights.folder / "index.html").read_text()


def test_a_first_night_whose_device_time_alone_counts_is_still_the_first(nights):
    crowded = night([night_case(timing=timed(*[9000.0] * 20, starved_us=[4000.0] * 20))])

    said = lines(nights.run(crowded))

    assert said[0] == "gpt2: first night, nothing to compare with"
    assert "step time 9.00 ms, not judged" in said[1].replace("\u00a0", " ")


def test_more_device_time_is_measured_again_and_told_on_its_night_with_the_operator_first(nights):
    nights.run()
    nights.run()

    summary = nights.run(WORSE, WORSE, gates=("regression",))

    assert nights.asked[-1] == ("gpt2", "prefill")
    (workload,) = summary.workloads
    assert workload.measured_again
    assert [(row.case, row.subject, row.verdict) for row in workload.told] == [("prefill", "device_time", "worse")]
    assert workload.told[0].moved[0].replace("\u00a0", " ") == "+10.0 µs mm (2 calls)"
    assert summary.gate_failed
    assert (nights.folder / workload.folder / "comparison.html").is_file()


def test_what_the_second_measurement_does_not_show_is_not_reported(nights):
    nights.run()

    summary = nights.run(WORSE, night(), gates=("regression",))

    assert summary.verdict == "no change"
    assert summary.workloads[0].measured_again
    assert not summary.gate_failed


def test_a_change_is_an_alarm_on_one_night_alone(nights):
    nights.run()
    nights.run(WORSE, WORSE)

    assert nights.run(WORSE).verdict == "no change"
    assert nights.run(night()).verdict == "better"


def test_a_longer_step_says_how_many_nights_it_needs_and_is_told_when_they_are_there(nights):
    for number in range(12):
        nights.run(night([night_case(step_us=1000.0 + 10.0 * (number % 3))]))
    slow = night([night_case(step_us=1110.0, forward_us=1800.0)])

    first = nights.run(slow, slow)
    assert first.verdict == "no change"
    assert [text.replace("\u00a0", " ") for text in first.workloads[0].waiting] == [
        "prefill: step time 1.01 ms → 1.11 ms (+9.9 %), needs 3 nights to be told from noise"
    ]
    assert nights.run(slow, slow).verdict == "no change"
    third = nights.run(slow, slow)
    assert third.verdict == "worse"
    assert "since 2026-01-13" in third.workloads[0].told[0].text
    assert [moved.replace("\u00a0", " ") for moved in third.workloads[0].told[0].moved] == [
        "+900 µs forward model.py (changed)"
    ]
    # Compared with the last night before it came, the twelfth, not with yesterday's, which was as slow.
    compared = json.loads((nights.folder / third.workloads[0].folder / "comparison.json").read_bytes())
    assert Path(compared["base"]["path"]).name == "gpt2-11-12"
    (row,) = [row for row in compared["cases"][0]["differences"] if row["quantity"] == "step_time"]
    assert "between 12 nights" in row["reason"]


def test_a_night_of_three_measurements_counts_with_their_mean(nights):
    for _ in range(2):
        summary = nights.run(*(night([night_case(step_us=us)]) for us in (900.0, 1000.0, 1160.0)), repeats=3)

    assert summary.verdict == "no change"
    assert nights.asked == [("gpt2",)] * 6
    store = open_store(nights.store)
    key = series_key(night(), night_case())
    assert [point.values for point in store.series(key, "step_time", last=1)] == [(900.0, 1000.0, 1160.0)]
    store.close()
    page = " ".join((nights.folder / "trend.html").read_text().replace("\u00a0", " ").split())
    assert '>gpt2 prefill</a></th><td class="n">1.02 ms</td>' in page


def test_what_looks_worse_after_three_measurements_is_measured_a_fourth_time(nights):
    nights.run()

    assert nights.run(WORSE, WORSE, WORSE, night(), repeats=3).verdict == "no change"
    assert nights.run(WORSE, WORSE, WORSE, WORSE, repeats=3).verdict == "worse"


@pytest.fixture
def nvidia_smi(tmp_path, monkeypatch):
    """Put a program in place of nvidia-smi that answers by the query that it is asked."""

    def put(**answers):
        lines = [f"*{name}*) echo '{answer}';;" for name, answer in answers.items()]
        program = tmp_path / "nvidia-smi"
        program.write_text("#!/bin/sh\ncase $1 in " + "\n".join(lines) + "\n*) exit 2;; esac\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    return put


def remark_of_last(nights):
    store = open_store(nights.store)
    remark = store.nights()[0].remark
    store.close()
    return remark and remark.replace("\u00a0", " ")


def test_a_device_that_is_never_free_costs_the_wait_once(nights, nvidia_smi):
    nvidia_smi(apps="4711, 9 MiB", event_reasons="0x0000000000000000")
    slept = []

    nights.run(workloads=("gpt2", "bert"), device="cuda:0", sleep=slept.append, wait_s=20.0)

    assert slept == [5.0] * 4
    assert remark_of_last(nights) == "1 other process on the device: 4711  9 MiB"


@pytest.mark.parametrize(
    ("bits", "remark"),
    [
        ("0x0000000000000001", None),  # waits for work
        ("0x0000000000000002", None),  # its owner set the clock
        ("0x0000000000000004", "the clock is held back (0x0000000000000004)"),  # power cap
        ("0x0000000000000060", "the clock is held back (0x0000000000000060)"),  # heat
        ("[N/A]", None),
    ],
)
@pytest.mark.parametrize("name", ["event_reasons", "throttle_reasons"])
def test_a_clock_that_is_held_back_is_noted_by_either_name_that_drivers_have_for_it(
    nights, nvidia_smi, name, bits, remark
):
    nvidia_smi(**{name: bits})

    nights.run(device="cuda:0")

    assert remark_of_last(nights) == remark


def test_a_night_whose_cores_others_had_is_said_and_is_no_part_of_the_level(nights):
    crowded = night([night_case(timing=timed(*[9000.0] * 20, starved_us=[4000.0] * 20))])
    nights.run()
    for _ in range(12):
        summary = nights.run(crowded)

    assert summary.verdict == "no change"
    assert not summary.workloads[0].measured_again
    (said,) = summary.workloads[0].waiting
    assert said.replace("\u00a0", " ") == (
        "prefill: step time 9.00 ms, not judged: others had the cores (0 of 20 steps ran undisturbed)"
    )
    assert "ran undisturbed" in (nights.folder / "index.html").read_text()
    assert nights.run().workloads[0].waiting == ()


def test_a_workload_that_fails_costs_only_itself(nights):
    summary = nights.run(UsageError("no such module"), night(), workloads=("broken", "gpt2"))

    assert [workload.verdict for workload in summary.workloads] == ["failed", "no change"]
    assert nights.failures == ["broken: no such module"]
    assert "no such module" in (nights.folder / "index.html").read_text()


@pytest.mark.parametrize(
    ("gate", "report", "fails"),
    [
        ("memory", night([night_case(peak_bytes=2**31)]), True),
        ("memory", WORSE, False),
        ("finding:host-bound", night(findings=[finding()]), True),
        ("finding:sync-point", night(findings=[finding()]), False),
    ],
)
def test_a_gate_fails_on_what_it_asks_for_alone(nights, gate, report, fails):
    for _ in range(5):
        nights.run()

    assert nights.run(report, report, gates=(gate,)).gate_failed == fails


def test_the_command_gets_the_summary_as_json(nights, tmp_path):
    nights.run(notify=f"cat > {tmp_path}/told.json")

    told = json.loads((tmp_path / "told.json").read_bytes())
    assert (told["verdict"], told["workloads"][0]["workload"]) == ("no change", "gpt2")


def test_a_command_that_fails_is_said_and_loses_nothing(nights):
    nights.run(notify="echo no mail here >&2; false")

    assert nights.failures == ["--notify 'echo no mail here >&2; false' ended with 1: no mail here"]


def test_the_index_has_the_newest_night_first_with_its_verdict(nights):
    nights.run()
    nights.run(WORSE, WORSE)

    page = (nights.folder / "index.html").read_text()
    assert "<b>The last night: worse.</b> gpt2 prefill: device time per step" in page
    assert page.index("2026-01-02<small>") < page.index('<span class="sev high">worse</span>')
    assert page.index('href="gpt2-1-2/report.html"') < page.index("2026-01-01<small>")
    assert 'href="gpt2-1-2/comparison.html"' in page
    assert "gpt2 measured 2 times" in page.replace("\u00a0", " ")


def test_the_index_links_to_no_document_that_is_not_there(nights):
    nights.run()
    (nights.folder / "gpt2-0-1" / "report.html").unlink()
    nights.run()

    page = (nights.folder / "index.html").read_text()
    assert 'href="gpt2-0-1/report.json"' in page
    assert 'href="gpt2-0-1/report.html"' not in page


def test_old_traces_go_and_documents_stay(nights):
    nights.run()
    first = nights.folder / "gpt2-0-1"
    nights.day = 14
    nights.run(trace_days=14)
    assert (first / "recording").is_dir()
    nights.day = 15
    nights.run(trace_days=14)

    assert not (first / "recording").exists()
    assert not (first / "step.perfetto.json.gz").exists()
    assert (first / "report.json").is_file()


def test_old_nights_are_forgotten(nights):
    nights.run()
    nights.day = 800
    nights.run(history_days=730)

    store = open_store(nights.store)
    assert [night.started_at[:4] for night in store.nights()] == ["2028"]
    store.close()


def test_a_second_night_waits_for_the_first_to_end(nights):
    held = (nights.lock_folder / "reportgen-nightly-cpu.lock").open("a+")
    fcntl.flock(held, fcntl.LOCK_EX)
    slept = []

    def sleep(seconds):
        slept.append(seconds)
        if len(slept) == 3:
            held.close()

    assert nights.run(sleep=sleep).verdict == "no change"
    assert len(slept) == 3
    assert "another night is at work on cpu" in nights.said[0]


def test_a_second_night_that_may_not_wait_says_so_and_runs_nothing(nights):
    with (nights.lock_folder / "reportgen-nightly-cpu.lock").open("a+") as held:
        held.write("pid 4711")
        held.flush()
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(RunFailed, match=r"pid 4711.*nothing was run"):
            nights.run(wait_s=0.0)
    assert nights.asked == []
