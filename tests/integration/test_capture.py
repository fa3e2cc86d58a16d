"""Training scripts of different style, captured as a user starts them: each leaves a recording and a report."""

import importlib.util
import subprocess
import sys

import msgspec
import pytest

from reportgen.recording import Recording
from reportgen.report.model import Report
from tests.integration.command import ROOT, environment, read_report, reportgen

pytestmark = [pytest.mark.torch, pytest.mark.full]
SCRIPTS = ROOT / "tests" / "integration" / "scripts"
NUM_STEPS = "160"


def _run(folder, script, *start):
    return _python(folder, *start, str(SCRIPTS / script), NUM_STEPS, str(folder))


def _python(folder, *words):
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=environment(OMP_NUM_THREADS="1"),
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )


@pytest.mark.parametrize(
    ("script", "needs", "said"),
    [
        ("plain_loop.py", (), {"loader"}),
        ("hf_trainer.py", ("transformers", "accelerate"), {"loader", "lengths", "padding"}),
        ("lightning_module.py", ("lightning",), {"loader"}),
    ],
)
def test_a_training_script_is_captured_with_two_added_lines(tmp_path, script, needs, said):
    for package in needs:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")

    done = _run(tmp_path, script)

    assert done.returncode == 0, done.stderr
    assert "reportgen: the report is in " in done.stderr
    report = read_report(tmp_path)
    (case,) = report.cases
    assert (case.phase, case.outcome, case.timing.basis) == ("train", "done", "unprofiled")
    assert not [record for record in report.rules if record.outcome == "failed"]
    assert case.provenance.keys() == said
    assert case.provenance["loader"].startswith("in the loop's own process")


def test_two_ranks_leave_two_recordings_and_one_report(tmp_path):
    done = _run(tmp_path, "two_ranks.py", "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2")

    assert done.returncode == 0, done.stderr
    recordings = [Recording.open(path.parent) for path in sorted(tmp_path.rglob("recording.json"))]
    assert [recording.path.parent.name[:16] for recording in recordings] == ["ranks-cpu-rank0-", "ranks-cpu-rank1-"]
    (path,) = tmp_path.rglob("report.json")
    report = msgspec.json.decode(path.read_bytes(), type=Report)
    assert path.parent == recordings[0].path.parent
    assert (report.cases[0].rank, report.cases[0].parameters["num_ranks"]) == (0, 2)
    assert "rank 0 of 2" in report.workload.description


def test_exec_of_two_ranks_leaves_two_recordings_and_one_report(tmp_path):
    start = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "-m", "reportgen", "exec")
    words = ("-o", "out", "--format", "json", "--device", "cpu", str(SCRIPTS / "unchanged_ranks.py"), NUM_STEPS)
    done = _python(tmp_path, *start, *words)

    assert done.returncode == 0, done.stderr
    recordings = sorted(path.parent.parent.name[:25] for path in tmp_path.rglob("recording.json"))
    assert recordings == ["unchanged_ranks-cpu-rank0", "unchanged_ranks-cpu-rank1"]
    (path,) = tmp_path.rglob("report.json")
    assert path.parent.name.startswith("unchanged_ranks-cpu-rank0-")
    assert read_report(tmp_path).cases[0].parameters["num_ranks"] == 2
    assert done.stdout.count("report.json") == 1
    assert "rank 1 is recorded; rank 0 has the report" in done.stderr


def test_exec_profiles_a_script_unchanged(tmp_path):
    words = ("-o", "out", "--format", "json", "--device", "cpu", SCRIPTS / "unchanged.py", "--steps", NUM_STEPS)
    done = reportgen("exec", *words, cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert "the script's own last line" in done.stdout
    assert done.stdout.splitlines()[-1].endswith("report.json")
    (case,) = read_report(tmp_path).cases
    assert (case.phase, case.provenance) == ("train", {"loader": "in the loop's own process"})


def test_exec_of_a_script_without_steps_says_what_to_do(tmp_path):
    script = tmp_path / "nothing.py"
    script.write_text("import torch\n")

    done = reportgen("exec", script, cwd=tmp_path)

    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        "reportgen: no step of nothing.py was seen: name the function that is one with --step-of FUNCTION"
    )


def test_exec_of_a_script_that_is_too_short_has_failed_and_says_what_to_do(tmp_path):
    script = tmp_path / "short.py"
    script.write_text(
        "import torch\nmodel = torch.nn.Linear(2, 2)\noptimizer = torch.optim.SGD(model.parameters())\n"
        "for _ in range(5):\n    optimizer.step()\n"
    )

    done = reportgen("exec", "--format", "json", script, cwd=tmp_path)

    assert done.returncode == 3
    advice = (
        "no step was recorded, since the loop ended after 5 steps: let it run longer; a window takes 36 steps of a "
        "second each, or 126 short ones"
    )
    assert f"reportgen: short.py: {advice}" in done.stderr.splitlines()
    assert f"Notices: {advice[0].upper()}{advice[1:]}." in " ".join(done.stdout.split())
    assert done.stdout.splitlines()[-1].endswith("report.json")


def test_a_program_that_marked_no_step_ends_with_its_own_code_and_its_report_says_how_to_mark_them(tmp_path):
    script = tmp_path / "unmarked.py"
    script.write_text(
        "import sys\nimport reportgen\n"
        "with reportgen.capture('mine', output='out', device='cpu'):\n    pass\nsys.exit(5)\n"
    )

    done = _python(tmp_path, str(script))

    advice = "no step was seen: call session.step() at the end of each pass of the loop"
    assert done.returncode == 5
    assert done.stderr.splitlines()[-1].endswith(advice)
    (page,) = tmp_path.rglob("report.html")
    words = page.read_text(encoding="utf-8")
    assert f"No budget: no whole step was recorded. {advice[0].upper()}{advice[1:]}." in words
    assert "prof.step" not in words


def test_exec_with_a_step_of_no_function_says_which_was_meant_in_one_line(tmp_path):
    script = tmp_path / "train.py"
    script.write_text("def train_step():\n    pass\n\nfor _ in range(3):\n    train_step()\n")

    done = reportgen("exec", "--step-of", "trian_step", script, cwd=tmp_path)

    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "reportgen: --step-of trian_step: no function of the script, nor of a module, is called so. "
        "Did you mean train_step?"
    ]


def test_a_step_outside_the_window_costs_under_two_microseconds(tmp_path):
    # 100 000 steps before the window and as many after it; where nothing else runs it is a tenth of that.
    done = [_python(tmp_path, str(ROOT / "benchmarks" / "capture.py")) for _ in range(2)]

    assert 0 in {one.returncode for one in done}, done[-1].stdout + done[-1].stderr
