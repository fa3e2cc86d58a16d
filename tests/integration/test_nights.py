"""Nights of what was really recorded, and real nights that are killed or started twice."""

import contextlib
import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import msgspec
import pytest
import sqlalchemy as sa

from reportgen.history.compare import compare_reports
from reportgen.history.store import open_store, schema
from reportgen.pipeline import open_recording
from reportgen.report.assemble import assemble_recording
from reportgen.report.model import ReportInput
from tests.integration.command import ROOT, STUB, environment, read_report, reportgen, write_workload
from tests.stores import postgres
from tests.unit.nightly.nights import Nights

EXAMPLE = ROOT / "reports" / "example-gpt2-h200"
needs_example = pytest.mark.skipif(
    not (EXAMPLE / "report.json").is_file(), reason="the example is not in this checkout"
)


# A change planted in what an H200 recorded


def assemble(folder):
    given = ReportInput(kind="workload", path=str(folder), command="python -m reportgen gpt2")
    return assemble_recording(open_recording(folder), given)[0]


def lengthen(path, share):
    """Make the longest kernel of each step longer by `share` of all device time in a trace; return us by category."""
    trace = json.loads(gzip.decompress(path.read_bytes()))
    work = [e for e in trace["traceEvents"] if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
    total_us = sum(event["dur"] for event in work)
    longest = max(work, key=lambda event: event["dur"])
    same = [event for event in work if event["name"] == longest["name"]]
    for event in same:
        event["dur"] += share * total_us / len(same)
    path.write_bytes(gzip.compress(json.dumps(trace).encode()))
    return total_us, len(same)


@needs_example
def test_five_per_cent_more_device_time_is_told_on_its_night_with_its_operator_first(tmp_path):
    shutil.copytree(EXAMPLE / "recording", tmp_path / "recording")
    unchanged = assemble(tmp_path / "recording")
    for name in ("timeline", "detail"):
        total_us, num_steps = lengthen(tmp_path / "recording" / "prefill" / f"{name}.json.gz", 0.05)
        if name == "timeline":
            longer_us = 0.05 * total_us / num_steps
    changed = assemble(tmp_path / "recording")

    nights = Nights(tmp_path)
    for _ in range(3):
        assert nights.run(unchanged).verdict == "no change"
    (workload,) = nights.run(changed, changed, gates=("regression",)).workloads

    told = {row.subject: row for row in workload.told if row.case == "prefill"}
    assert next(iter(told)) == "device_time"
    row = told["device_time"]
    assert row.verdict == "worse"
    assert row.value / row.base == pytest.approx(1.05, abs=0.0005)
    # GPT-2's last product, whose kernel is the longest: by what was added to it, worked out from the trace alone.
    change, unit, operator, *_ = row.moved[0].replace("\u00a0", " ").split()
    assert (float(change), unit, operator) == (pytest.approx(longer_us, rel=0.005), "µs", "mm")
    assert [case.name for case in compare_reports(unchanged, changed).cases if case.verdict == "worse"] == ["prefill"]


@needs_example
@pytest.mark.torch
@pytest.mark.full
def test_a_gpu_and_a_cpu_are_not_comparable_and_both_are_shown(tmp_path):
    words = [
        "gpt2",
        "--set",
        "preset=tiny",
        "--device",
        "cpu",
        "--case",
        "prefill",
        "--try",
        "none",
        "--format",
        "json",
    ]
    assert reportgen(*words, cwd=tmp_path).returncode == 0
    (own,) = (tmp_path / "reports").iterdir()

    done = reportgen("compare", EXAMPLE, own, "--fail-on", "regression", "-o", "changes", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Not comparable. prefill: another device: NVIDIA H200, then CPU")
    theirs = next(case for case in read_report(EXAMPLE).cases if case.name == "prefill")
    mine = read_report(own).cases[0]
    (path,) = (tmp_path / "changes").rglob("comparison.json")
    (prefill,) = [case for case in json.loads(path.read_bytes())["cases"] if case["name"] == "prefill"]
    (step,) = [row for row in prefill["differences"] if row["quantity"] == "step_time"]
    assert (step["base"], step["verdict"]) == (theirs.timing.step_us, "not-comparable")
    assert step["new"] == pytest.approx(mine.timing.step_us, rel=1.0)  # of the steps that had their cores


@needs_example
def test_a_report_compared_with_itself_shows_no_change(tmp_path):
    done = reportgen(
        "compare", EXAMPLE, EXAMPLE / "report.json", "--format", "json", "--fail-on", "regression", cwd=tmp_path
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("No change. Every figure that was measured is equal.")


@needs_example
def test_compare_takes_the_spread_from_the_store_that_it_is_given(tmp_path):
    report = read_report(EXAMPLE)
    store = open_store(tmp_path / "history.sqlite")
    for day in range(1, 10):
        number = store.begin_night(f"2026-01-{day:02}T02:00:00Z", host="node7", pid=1, version="0")
        factor = 1.01 if day % 2 else 1 / 1.01
        cases = [msgspec.structs.replace(case, timing=scaled(case.timing, factor)) for case in report.cases]
        store.add_report(number, msgspec.structs.replace(report, cases=tuple(cases)))
        store.end_night(number, f"2026-01-{day:02}T03:00:00Z")
    store.close()
    slower = [msgspec.structs.replace(case, timing=scaled(case.timing, 1.15)) for case in report.cases]
    (tmp_path / "slower.json").write_bytes(msgspec.json.encode(msgspec.structs.replace(report, cases=tuple(slower))))
    words = ["compare", EXAMPLE, "slower.json", "--format", "json", "--fail-on", "regression"]

    # ln 1.15 = 0.140. Assumed: 4.27 x 8 % x sqrt 2 = 0.48. Nine nights 1 % to either side deviate by 1.05 %, and with
    # eight degrees of freedom t is 8.9: 0.132.
    assert reportgen(*words, cwd=tmp_path).returncode == 0
    told = reportgen(*words, "--store", "history.sqlite", cwd=tmp_path)
    assert told.returncode == 1, told.stdout + told.stderr
    assert reportgen(*words, "--store", "nothing.sqlite", cwd=tmp_path).returncode == 4


def scaled(timing, factor):
    """Return a timing without its samples whose step takes `factor` times as long."""
    return msgspec.structs.replace(timing, step_us=timing.step_us * factor, pipelined=None, drained=None)


# Real nights


@pytest.mark.torch
@pytest.mark.full
def test_twenty_unchanged_nights_raise_no_alarm(tmp_path):
    words = ["gpt2", "-o", "nights", "--nights", "20"]
    options = ["--set", "preset=tiny", "--case", "decode", "--device", "cpu", "--try", "none"]

    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.real_nights", *words, "--", *options],
        cwd=tmp_path,
        env=environment(TMPDIR=str(tmp_path)),
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "20 unchanged nights: 0 with an alarm" in done.stdout


@pytest.fixture
def night_words(tmp_path):
    """What runs a night of one small case in `tmp_path`, apart from every other night of this machine."""
    write_workload(tmp_path, STUB)
    options = ["--device", "cpu", "--try", "none", "--format", "json"]
    return [sys.executable, "-m", "reportgen", "nightly", "workload.py", "-o", "reports", *options]


def start(words, tmp_path):
    return subprocess.Popen(
        words,
        cwd=tmp_path,
        env=environment(TMPDIR=str(tmp_path)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def ended(process):
    output, errors = process.communicate(timeout=280)
    return process.returncode, output + errors


def progressed(process, text):
    """Read what a night says until it says `text`."""
    for line in process.stderr:
        if text in line:
            return
    raise AssertionError(f"the night ended without {text!r}")


@pytest.mark.torch
@pytest.mark.full
def test_of_two_nights_started_at_once_one_waits_or_says_so(night_words, tmp_path):
    first = start(night_words, tmp_path)
    progressed(first, "workload workload")

    code, said = ended(start([*night_words, "--wait", "0"], tmp_path))
    assert code == 3
    assert f"another night is still at work on cpu (pid {first.pid}): nothing was run" in said

    second = start(night_words, tmp_path)
    assert ended(first)[0] == 0
    code, said = ended(second)
    assert code == 0, said
    store = open_store(tmp_path / "reports" / "history.sqlite")
    nights = store.nights()
    store.close()
    assert [night.state for night in nights] == ["done", "done"]
    assert nights[1].ended_at <= nights[0].started_at


@pytest.mark.torch
@pytest.mark.full
@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_a_night_that_is_killed_at_any_of_ten_moments_leaves_a_store_with_which_the_next_goes_on(
    database, night_words, tmp_path
):
    with contextlib.ExitStack() as stack:
        url = stack.enter_context(postgres()) if database == "postgres" else str(tmp_path / "history.sqlite")
        words = [*night_words, "--store", url]
        began = time.monotonic()
        assert ended(start(words, tmp_path))[0] == 0
        whole_s = time.monotonic() - began
        killed = []
        for tenth in range(10):
            night = start(words, tmp_path)
            time.sleep((tenth + 0.5) / 10 * whole_s)
            killed.append(night.poll() is None)
            with contextlib.suppress(ProcessLookupError):
                os.kill(night.pid, signal.SIGKILL)
            night.communicate(timeout=60)
            check_store(url)
        code, said = ended(start(words, tmp_path))
        assert code == 0, said
        assert "no change" in said
        store = open_store(url)
        states = [row.state for row in store.nights()]
        store.close()

    # The machine may have been quicker than in the first night, so that the last of them had ended by themselves.
    assert sum(killed) >= 8
    assert states[0] == states[-1] == "done"
    assert set(states) <= {"done", "interrupted"}
    assert "interrupted" in states
    assert not children_left(tmp_path)


def check_store(url):
    """Every report that is there is whole: it has its case with its figures, or says why not."""
    store = open_store(url)
    with store.engine.begin() as connection:
        if store.engine.dialect.name == "sqlite":
            assert connection.execute(sa.text("PRAGMA integrity_check")).scalar() == "ok"
            assert connection.execute(sa.text("PRAGMA foreign_key_check")).all() == []
        reports, cases, figures = schema.reports.c, schema.cases.c, schema.figures.c
        without_case = ~sa.exists().where(cases.report_id == reports.id)
        assert connection.execute(sa.select(reports.id).where(without_case, reports.failure.is_(None))).all() == []
        without_figures = ~sa.exists().where(figures.case_id == cases.id)
        assert connection.execute(sa.select(cases.id).where(without_figures, cases.outcome == "done")).all() == []
    store.close()


def children_left(folder):
    """Return the processes that still work in `folder`: a night's children end with it."""
    deadline = time.monotonic() + 10
    while (left := working_in(folder)) and time.monotonic() < deadline:
        time.sleep(0.2)
    return left


def working_in(folder):
    found = []
    for name in os.listdir("/proc"):  # noqa: PTH208 - names are enough
        with contextlib.suppress(OSError):
            if name.isdigit() and os.readlink(f"/proc/{name}/cwd") == str(folder):  # noqa: PTH115
                found.append(int(name))
    return found
