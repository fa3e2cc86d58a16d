"""What starting costs, and what it must not import."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.command import ROOT, environment

HEAVY = ("torch", "pandas", "matplotlib", "transformers", "weasyprint")
_SAY_IMPORTED = f"; import sys; print(sorted(set({HEAVY!r}) & set(sys.modules)))"
_HELP = "import contextlib, reportgen.cli\nwith contextlib.suppress(SystemExit): reportgen.cli.main(['--help'])\n"


def _cpu_seconds(*words: str) -> float:
    """Return the processor time of a fresh interpreter, the least of three: a busy machine only adds to it."""
    taken = []
    for _ in range(3):
        before = os.times()
        subprocess.run([sys.executable, *words], cwd=ROOT, env=environment(), capture_output=True, check=True)
        after = os.times()
        taken.append(after.children_user + after.children_system - before.children_user - before.children_system)
    return min(taken)


@pytest.mark.parametrize("words", [("-m", "reportgen", "--help"), ("-c", "import reportgen")])
def test_help_and_import_take_less_than_three_tenths_of_a_second(words):
    assert _cpu_seconds(*words) < 0.3


@pytest.mark.parametrize("code", [_HELP, "import reportgen\n", "from reportgen import Case, Step, Workload\n"])
def test_help_and_import_leave_the_heavy_packages_alone(code, tmp_path):
    said = subprocess.run(
        [sys.executable, "-c", code + _SAY_IMPORTED.lstrip("; ")],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.splitlines()[-1] == "[]"


def test_the_folder_of_the_checkout_holds_what_resources_look_for():
    from reportgen.resources import resource_folder

    assert resource_folder("workloads") == Path(ROOT / "workloads")
    assert resource_folder("templates") == Path(ROOT / "templates")
