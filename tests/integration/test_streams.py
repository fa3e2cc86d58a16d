"""Standard streams that are closed, full, or know few characters: the report is written, and the exit code is true."""

import os
import subprocess
import sys

import pytest

from tests.integration.command import environment
from tests.trace_builder import base, kernel, launch, op, write_trace


@pytest.fixture
def trace(tmp_path):
    return write_trace(tmp_path, base(op("aten::mm", 1, 50), launch(10, 5, 1), kernel(20, 60, 1)), "small.json")


def run_shell(words, redirection, cwd, **more):
    command = f"{sys.executable} -m reportgen {words} {redirection}"
    return subprocess.run(
        command, shell=True, cwd=cwd, env=environment() | more, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("redirection", ["<&-", ">&-", "2>&-", "2>/dev/full", "<&- >&- 2>&-"])
def test_a_stream_that_nobody_reads_costs_nothing(tmp_path, trace, redirection):
    done = run_shell(f"analyze {trace} --format json", redirection, tmp_path)
    assert done.returncode == 0
    assert len(list(tmp_path.glob("reports/*/report.json"))) == 1
    if "2>" in redirection:  # progress does not move to stdout for want of stderr
        assert "reading" not in done.stdout


def test_an_error_that_nobody_can_be_told_keeps_its_exit_code(tmp_path):
    assert run_shell("analyze nosuch.json", "2>/dev/full", tmp_path).returncode == 4


def test_an_output_that_is_full_is_said_and_the_report_is_kept(tmp_path, trace):
    done = run_shell(f"analyze {trace} --format json", ">/dev/full", tmp_path)
    assert done.returncode == 3
    complaints = [line for line in done.stderr.splitlines() if line.startswith("reportgen: ")]
    assert complaints[0].startswith("reportgen: the output cannot be written (No space left on device)")
    folder = next(tmp_path.glob("reports/*"))
    assert complaints[1:] == [f"reportgen: the report is written all the same, in reports/{folder.name}"]
    assert (folder / "report.json").is_file()


def test_a_terminal_of_few_characters_gets_escapes(tmp_path, trace):
    done = run_shell(f"analyze {trace} --format json", "", tmp_path, PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert "\\xb5s" in done.stdout


def test_names_that_are_no_text_or_command_a_terminal_stay_inert(tmp_path, trace):
    name = os.fsdecode(b"\xff\x1b[31m\n.json")
    trace.rename(tmp_path / name)
    done = subprocess.run(
        [sys.executable, "-m", "reportgen", "analyze", name, "--format", "html,json"],
        cwd=tmp_path, env=environment(), capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert b"\x1b" not in done.stdout + done.stderr
    assert len(list(tmp_path.glob("reports/*/report.html"))) == 1


def test_a_path_that_no_file_system_holds_is_told_in_a_line(tmp_path):
    done = run_shell(f"analyze {'x' * 5000}", "", tmp_path)
    assert done.returncode == 4
    assert done.stderr.splitlines()[-1].endswith("cannot be read: File name too long")
