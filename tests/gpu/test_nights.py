"""Real nights on a GPU: a change of one operator's device time is told on the night it comes."""

import subprocess
import sys

import pytest

from tests.integration.command import ROOT, environment

pytestmark = [pytest.mark.gpu, pytest.mark.full]


def test_more_device_time_in_one_operator_is_told_on_its_night_with_that_operator_first(tmp_path):
    workload = ROOT / "benchmarks" / "workloads" / "gpt2_scaled.py"
    words = [workload, "-o", "nights", "--nights", "3", "--plant", "ROWS=128", "--planted-nights", "1"]

    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.real_nights", *map(str, words), "--", "--try", "none"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.replace("\u00a0", " ").splitlines()
    (told,) = [number for number, line in enumerate(lines) if "worse prefill: device time per step" in line]
    assert "mul_ (1 call)" in lines[told + 1]
