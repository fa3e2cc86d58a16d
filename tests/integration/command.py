"""The command line as a process of its own, as a user starts it."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import msgspec

from reportgen.report.model import Report

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"
# A workload whose run takes seconds.
STUB = """
import torch
from reportgen import Case, Step, Workload

def build(case, device):
    model = torch.nn.Linear(case.width, case.width)
    example = torch.randn(8, case.width)
    return Step(lambda: model(example), model=model)

WORKLOAD = Workload(
    name="stub", description="one layer", cases=(Case("forward", phase="forward", width=64),), build=build
)
"""
# In place of WeasyPrint, what importing it does on a machine without Pango.
_WITHOUT_PANGO = """raise OSError("cannot load library 'libpango-1.0-0': cannot open shared object file")"""
# Importing a module whose entry is None fails as if it were not installed.
_WITHOUT_TORCH = "import sys; sys.modules.update(dict.fromkeys(['torch', 'transformers', 'pynvml'])); "


def reportgen(*words: object, cwd: Path, torch: bool = True, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run ``python -m reportgen`` with `words` in `cwd`; `torch=False` as where torch is not installed."""
    start = ["-m", "reportgen"]
    if not torch:
        start = ["-c", _WITHOUT_TORCH + "from reportgen.cli import main; sys.exit(main())"]
    return subprocess.run(
        [sys.executable, *start, *map(str, words)],
        cwd=cwd,
        env=environment(**variables),
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )


def environment(**variables: str) -> dict[str, str]:
    """Return this process's variables with the checkout importable from anywhere."""
    paths = [variables.pop("PYTHONPATH", ""), str(ROOT)]
    return {**os.environ, **variables, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}


def without_pango(folder: Path, fault: str = _WITHOUT_PANGO) -> dict[str, str]:
    """Return the variables under which WeasyPrint behaves as on a machine that lacks Pango, or has another `fault`."""
    package = folder / "nopango" / "weasyprint"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(fault + "\n")
    return {"PYTHONPATH": str(package.parent)}


def write_workload(folder: Path, text: str) -> Path:
    """Write a workload module into `folder` and return its path."""
    path = folder / "workload.py"
    path.write_text(textwrap.dedent(text))
    return path


def read_report(folder: Path) -> Report:
    """Return the content of the one report.json under `folder`."""
    (path,) = folder.rglob("report.json")
    return msgspec.json.decode(path.read_bytes(), type=Report)
