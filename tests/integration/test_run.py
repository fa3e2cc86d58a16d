"""GPT-2, made tiny, from the command to the documents, on the CPU."""

import re
import shutil
from pathlib import Path

import msgspec
import pytest

from reportgen.recording import Recording
from reportgen.report.model import Report
from tests.integration.command import ROOT, read_report, reportgen

pytestmark = pytest.mark.torch
TINY = ("preset=tiny", "seq_len=32", "past_len=32")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A finished run: the process, and the folder of its report."""
    folder = tmp_path_factory.mktemp("tiny")
    settings = [word for setting in TINY for word in ("--set", setting)]
    done = reportgen(ROOT / "workloads" / "gpt2.py", *settings, "--device", "cpu", "-o", "out", cwd=folder)
    assert done.returncode == 0, done.stderr
    (report,) = (folder / "out").iterdir()
    return done, report


def test_a_run_leaves_three_documents_and_its_recording(tiny):
    _, folder = tiny

    assert re.fullmatch(r"gpt2-cpu-\d{8}T\d{6}Z", folder.name)
    assert {path.name for path in folder.iterdir()} >= {"report.html", "report.pdf", "report.json", "recording"}
    assert (folder / "report.pdf").read_bytes().startswith(b"%PDF-")
    assert Recording.open(folder / "recording").manifest.workload.name == "gpt2"


def test_the_printed_paths_are_the_last_lines_of_stdout(tiny):
    done, folder = tiny
    last = [Path(line) for line in done.stdout.splitlines()[-3:]]

    assert [path.name for path in last] == ["report.html", "report.pdf", "report.json"]
    assert {path.parent.name for path in last} == {folder.name}


def test_progress_goes_to_stderr_a_line_a_pass_where_that_is_no_terminal(tiny):
    lines = tiny[0].stderr.splitlines()

    assert "prefill (case 1 of 2)" in lines
    assert any(re.fullmatch(r"  timeline  done +[\d.<\s]+s", line) for line in lines)
    assert "\x1b" not in tiny[0].stderr


def test_the_report_speaks_of_both_cases_and_of_host_time(tiny):
    report = read_report(tiny[1])

    assert [(case.name, case.outcome, case.device_kind) for case in report.cases] == [
        ("prefill", "done", "host"),
        ("decode", "done", "host"),
    ]
    for case in report.cases:
        assert case.timing.basis == "unprofiled"
        assert case.operators.items[0].device_us_per_step is None
        assert case.operators.items[0].share_of_host > 0
    assert report.input.path == "recording"
    assert report.input.command.startswith("python -m reportgen run ")
    assert not [record for record in report.rules if record.outcome == "failed"]


def test_the_html_is_one_file_that_needs_no_network(tiny):
    page = (tiny[1] / "report.html").read_text()

    assert "prefill" in page
    assert "decode" in page
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", page)


def test_render_makes_the_same_report_again_without_torch(tiny, tmp_path):
    original = msgspec.json.decode((tiny[1] / "report.json").read_bytes(), type=Report)
    copy = tmp_path / tiny[1].name
    shutil.copytree(tiny[1] / "recording", copy / "recording")

    done = reportgen("render", copy / "recording", "--format", "json,html", cwd=tmp_path, torch=False)

    assert done.returncode == 0, done.stderr
    assert [Path(line) for line in done.stdout.splitlines()[-2:]] == [copy / "report.html", copy / "report.json"]
    again = read_report(copy)
    assert again.input.kind == "recording"
    assert msgspec.structs.replace(again, input=original.input) == original


def test_render_with_an_output_writes_there_under_the_same_name(tiny, tmp_path):
    done = reportgen("render", tiny[1], "-o", "elsewhere", "--format", "json", "--quiet", cwd=tmp_path, torch=False)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"elsewhere/{tiny[1].name}/report.json\n"


def test_analyze_of_a_recording_makes_a_folder_of_its_own(tiny, tmp_path):
    done = reportgen("analyze", tiny[1] / "recording", "--format", "json", cwd=tmp_path, torch=False)

    assert done.returncode == 0, done.stderr
    report = read_report(tmp_path / "reports")
    assert [case.name for case in report.cases] == ["prefill", "decode"]
    assert report.input.path == str(tiny[1] / "recording")
