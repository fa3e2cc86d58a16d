"""The examples of docs/schedule, executed as they stand, with a workload that takes seconds."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig

import pytest

from reportgen.history.store import open_store
from tests.integration.command import ROOT, STUB

pytestmark = pytest.mark.torch
SCHEDULE = ROOT / "docs" / "schedule"
ARGUMENTS = "stub.py --device cpu --format json --try none"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A checkout with an environment of its own, in which what is installed here can be imported."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("reportgen", "templates", "workloads", "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder / name)
    (folder / "stub.py").write_text(STUB)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / ".venv"], check=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    own = folder / ".venv" / "lib" / version / "site-packages"
    (own / "here.pth").write_text(f"{folder}\n{sysconfig.get_path('purelib')}\n")
    return folder


@pytest.fixture
def variables(checkout, tmp_path):
    """What a schedule sets, with the small workload and folders of the test."""
    (tmp_path / "reports").mkdir()
    own = {"CHECKOUT": str(checkout), "REPORTS": str(tmp_path / "reports"), "WORKLOADS": ARGUMENTS}
    summary = {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}
    # Where the tests run nothing can be fetched: what is installed must do, the build backend too.
    offline = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    return {**os.environ, **own, **summary, **offline}


def run(command, cwd, variables, shell="/bin/sh"):
    done = subprocess.run(
        [shell, "-ec", command], cwd=cwd, env=variables, capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def num_nights(variables):
    store = open_store(f"{variables['REPORTS']}/history.sqlite")
    states = [night.state for night in store.nights()]
    store.close()
    assert set(states) == {"done"}
    return len(states)


@pytest.mark.full
def test_the_line_of_the_crontab_runs_a_night(tmp_path, variables):
    (line,) = [line for line in (SCHEDULE / "crontab").read_text().splitlines() if re.match(r"[\d*]+ ", line)]
    command = line.split(maxsplit=5)[5]
    assert "%" not in command  # cron takes it for a line break

    run(command, tmp_path, variables)

    assert num_nights(variables) == 1
    assert "index.html" in (tmp_path / "reports" / "nightly.log").read_text()


@pytest.mark.full
def test_every_step_of_the_workflow_runs(checkout, variables, tmp_path):
    yaml = pytest.importorskip("yaml")
    workflow = yaml.safe_load((SCHEDULE / "github-nightly.yml").read_text())
    steps = [step["run"] for step in workflow["jobs"]["nightly"]["steps"] if "run" in step]
    assert set(workflow["jobs"]["nightly"]["env"]) <= set(variables)

    for step in steps:
        run(step, checkout, variables, shell="/bin/bash")

    assert len(steps) == 3
    assert num_nights(variables) == 1
    assert "**stub**: no change, the first night" in (tmp_path / "summary.md").read_text()


@pytest.mark.full
def test_the_batch_job_runs_a_night(tmp_path, variables):
    run(f"bash {SCHEDULE / 'nightly.sbatch'}", tmp_path, variables)

    assert num_nights(variables) == 1


@pytest.mark.full
def test_the_service_runs_a_night(checkout, variables):
    text = (SCHEDULE / "reportgen-nightly.service").read_text()
    (start,) = re.findall(r"^ExecStart=(.*)$", text, re.MULTILINE)

    run(start, checkout, variables)

    assert num_nights(variables) == 1


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_accepts_the_units(tmp_path):
    for name in ("reportgen-nightly.service", "reportgen-nightly.timer"):
        shutil.copy(SCHEDULE / name, tmp_path / name)
    done = subprocess.run(
        ["systemd-analyze", "verify", *map(str, sorted(tmp_path.iterdir()))],
        capture_output=True,
        text=True,
        check=False,
    )
    complaints = [line for line in done.stderr.splitlines() if "reportgen-nightly" in line]
    assert not complaints
