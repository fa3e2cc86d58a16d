"""The step after each fix, of a report whose trace lies beside it."""

import shutil

import pytest

from tests.integration.command import DATA, read_report, reportgen


@pytest.fixture
def report(tmp_path):
    """Return the folder of a report of a step that a hook holds up for 20 ms, beside its trace."""
    shutil.copy(DATA / "planted" / "host_stall.json.gz", tmp_path)
    done = reportgen("analyze", "host_stall.json.gz", "--format", "json", "--quiet", cwd=tmp_path, torch=False)
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "reports").iterdir()
    return folder


def test_whatif_says_the_step_after_each_fix_and_what_limits_then(report):
    done = reportgen("whatif", report, "--quiet", cwd=report, torch=False)

    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    (first,) = (line for line in lines if line.strip().startswith("F1"))
    (sequence,) = read_report(report).fixes
    # The hook sleeps 20 ms of 25.5.
    assert sequence.fixes[0].step_after_us == pytest.approx(5500, abs=500)
    assert f"{sequence.fixes[0].step_after_us / 1e3:.2f}" in first
    assert "replayed" in first


def test_whatif_takes_only_the_rules_asked_for(report):
    done = reportgen("whatif", report / "report.json", "--remove", "sync-point", cwd=report, torch=False)
    assert done.returncode == 0, done.stderr
    assert "No finding has a fix that gives time." in done.stdout

    wrong = reportgen("whatif", report, "--remove", "host-stal", cwd=report, torch=False)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "Did you mean host-stall?" in wrong.stderr


def test_whatif_without_the_trace_is_exit_code_4(report):
    (report.parent.parent / "host_stall.json.gz").unlink()
    done = reportgen("whatif", report, cwd=report, torch=False)

    assert (done.returncode, done.stdout) == (4, "")
    assert "host_stall.json.gz" in done.stderr
    assert reportgen("whatif", report.parent / "none", cwd=report, torch=False).returncode == 4
