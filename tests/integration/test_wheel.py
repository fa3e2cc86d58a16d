"""The wheel: built, installed apart from everything, and used outside the checkout."""

import subprocess
import sys

import pytest

from tests.integration.command import DATA, ROOT, environment


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder with nothing but the installed wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    _python("-m", "hatchling", "build", "-t", "wheel", "-d", folder / "dist", cwd=ROOT)
    (wheel,) = (folder / "dist").glob("*.whl")
    target = folder / "target"
    _python("-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", target, wheel, cwd=folder)
    return target


def _python(*words, cwd, **variables):
    env = {**environment(), **variables}
    done = subprocess.run(
        [sys.executable, *map(str, words)], cwd=cwd, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_holds_the_templates_and_the_workloads_and_no_tests(installed):
    assert (installed / "reportgen" / "templates").is_dir()
    assert (installed / "reportgen" / "workloads" / "gpt2.py").is_file()
    assert {path.name for path in installed.iterdir() if not path.name.endswith(".dist-info")} <= {"reportgen", "bin"}


def test_the_installed_package_writes_a_report_outside_the_checkout(installed, tmp_path):
    where = _python("-c", "import reportgen; print(reportgen.__file__)", cwd=tmp_path, PYTHONPATH=str(installed))
    assert where.startswith(str(installed))

    words = ("-m", "reportgen", "analyze", DATA / "h2d_pageable.json.gz")
    printed = _python(*words, cwd=tmp_path, PYTHONPATH=str(installed))

    names = [line.rpartition("/")[2] for line in printed.splitlines()[-3:]]
    assert names == ["report.html", "report.pdf", "report.json"]


def test_the_installed_package_lists_the_workloads_that_ship(installed, tmp_path):
    assert "gpt2" in _python("-m", "reportgen", "list", cwd=tmp_path, PYTHONPATH=str(installed))
