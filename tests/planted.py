"""Captures of known faults: small copies beside the tests, the others where `REPORTGEN_TRACES` says."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from reportgen.analysis.case import CaseInputs
from reportgen.analysis.model import Budget, BudgetPart, CaseAnalysis, Gaps, Launching
from reportgen.trace.columns import Trace
from reportgen.trace.reader import read_trace
from tests.analyzing import analyze_case

COPIES = Path(__file__).parent / "data" / "planted"


def find(name: str) -> Path:
    """Return the trace `name`: the whole one where it is at hand, else its copy; skip the test where there is none."""
    folder = os.environ.get("REPORTGEN_TRACES")
    shared = [Path(folder) / kind / f"{name}.json.gz" for kind in ("planted", "gpt2")] if folder else []
    for path in (*shared, COPIES / f"{name}.json.gz"):
        if path.is_file():
            return path
    pytest.skip(f"no copy of {name} beside the tests, and REPORTGEN_TRACES names no folder that holds it")


def find_snapshot(name: str) -> Path:
    """Return the memory snapshot beside the trace `name`; skip the test where there is none."""
    trace = find(name)
    for path in (trace.with_name(f"{name}.pickle.gz"), COPIES / f"{name}.memory.json.gz"):
        if path.is_file():
            return path
    pytest.skip(f"no memory snapshot of {name} lies beside its trace")


@cache
def read(path: Path) -> Trace:
    """Read a trace once for all tests."""
    return read_trace(path)


@cache
def _analyzed(path: Path) -> CaseAnalysis:
    return analyze_case(CaseInputs(name=path.name.removesuffix(".json.gz"), timeline=read(path), detail=read(path)))


def analyzed(name: str) -> CaseAnalysis:
    """Return the numbers of the trace `name`, as of a trace that somebody else recorded."""
    return _analyzed(find(name))


def budget_of(case: CaseAnalysis) -> Budget:
    """Return the budget, which must be there."""
    assert case.budget is not None
    return case.budget


def gaps_of(case: CaseAnalysis) -> Gaps:
    """Return the gaps, which must be there."""
    assert case.gaps is not None
    return case.gaps


def launching_of(case: CaseAnalysis) -> Launching:
    """Return the launching figures, which must be there."""
    assert case.launching is not None
    return case.launching


def parts_us(case: CaseAnalysis) -> dict[BudgetPart, float]:
    """Return the budget's parts by name."""
    return {row.name: row.us_per_step for row in budget_of(case).parts}
