"""Runs that end badly, one way or another: what they cost, and what they leave."""

import signal
import subprocess
import sys
import time

import psutil
import pytest

from reportgen.recording import Recording
from tests.integration.command import environment, read_report, reportgen, write_workload

pytestmark = pytest.mark.torch
WORKLOAD = """
    import time

    import torch
    from reportgen import Case, Step, Workload

    def build(case, device):
        weight = torch.ones(8, 8, device=device)
        calls = []

        def step():
            calls.append(None)
            if len(calls) == case.fatal_call:
                FATAL[case.name]()
            return weight @ weight

        return Step(step, model=None)

    def raise_an_error():
        raise ValueError("the step is broken")

    FATAL = {
        "raises": raise_an_error,
        "greedy": lambda: torch.empty(1 << 60, dtype=torch.uint8),
        "hangs": lambda: time.sleep(120),
    }
    WORKLOAD = Workload(
        name="endings",
        description="Steps that end badly",
        cases=(
            Case("good", phase="forward", fatal_call=0),
            Case("raises", phase="forward", fatal_call=1),
            Case("greedy", phase="forward", fatal_call=2),
            Case("hangs", phase="forward", fatal_call=200),
        ),
        build=build,
    )
"""


def _start(folder, *words):
    command = [
        sys.executable,
        "-m",
        "reportgen",
        "run",
        str(write_workload(folder, WORKLOAD)),
        "--device",
        "cpu",
        *words,
    ]
    return subprocess.Popen(command, cwd=folder, env=environment(), stderr=subprocess.PIPE, text=True)


def _recording(folder):
    return next(iter(folder.glob("reports/*/recording")), None)


def _wait_until(condition, seconds=90):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


def _has_timing(folder):
    path = _recording(folder)
    return path is not None and (path / "recording.json").exists() and Recording.open(path).manifest.cases[0].timing


def test_cases_that_fail_cost_only_themselves_and_are_told_in_a_line_each(tmp_path):
    workload = write_workload(tmp_path, WORKLOAD)
    cases = [word for name in ("good", "raises", "greedy") for word in ("--case", name)]
    done = reportgen(workload, *cases, "--device", "cpu", "--format", "html,json", cwd=tmp_path)

    assert done.returncode == 3
    complaints = [line for line in done.stderr.splitlines() if line.startswith("reportgen: ")]
    assert complaints[0] == "reportgen: raises failed: cold: ValueError: the step is broken (workload.py:20)"
    assert complaints[1].startswith("reportgen: greedy failed: timing: ")
    assert "tried to allocate 1152921504606846976 bytes" in complaints[1]
    assert len(complaints) == 2
    outcomes = {case.name: case.outcome for case in read_report(tmp_path).cases}
    assert outcomes == {"good": "done", "raises": "failed", "greedy": "failed"}
    page = next(tmp_path.rglob("report.html")).read_text()
    assert "the step is broken" in page


@pytest.mark.full
def test_a_run_whose_every_case_failed_is_reported_all_the_same(tmp_path):
    done = reportgen(write_workload(tmp_path, WORKLOAD), "--case", "raises", "--device", "cpu", cwd=tmp_path)

    assert done.returncode == 3
    assert len(done.stdout.splitlines()) >= 3
    assert [case.outcome for case in read_report(tmp_path).cases] == ["failed"]


def test_a_parent_killed_after_timing_leaves_no_child_and_a_recording_that_says_what_is_missing(tmp_path):
    parent = _start(tmp_path, "--case", "hangs", "--quiet")
    assert _wait_until(lambda: _has_timing(tmp_path))
    children = psutil.Process(parent.pid).children(recursive=True)

    parent.send_signal(signal.SIGKILL)
    parent.communicate()

    assert children
    assert _wait_until(lambda: not any(child.is_running() for child in children), 5)
    done = reportgen("analyze", _recording(tmp_path), "-o", "again", "--format", "html,json", cwd=tmp_path, torch=False)
    assert done.returncode == 0, done.stderr
    (case,) = read_report(tmp_path / "again").cases
    assert (case.outcome, case.timing.basis) == ("unfinished", "unprofiled")
    (missing,) = [notice for notice in case.notices if notice.code == "passes-missing"]
    assert "detail" in missing.text
    assert missing.text in next((tmp_path / "again").rglob("report.html")).read_text()


def test_an_interrupted_run_keeps_its_recording_and_says_how_to_go_on(tmp_path):
    parent = _start(tmp_path, "--case", "hangs", "--quiet")
    assert _wait_until(lambda: _has_timing(tmp_path))

    parent.send_signal(signal.SIGINT)
    _, complaint = parent.communicate(timeout=20)

    assert parent.returncode == 130
    kept = _recording(tmp_path).relative_to(tmp_path)
    assert complaint.splitlines() == [
        "reportgen: interrupted",
        f"reportgen: what was recorded is kept; the report of it: reportgen render {kept}",
    ]
