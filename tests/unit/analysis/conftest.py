from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reportgen.analysis.case import CaseInputs
from reportgen.analysis.model import CaseAnalysis
from reportgen.trace.columns import Trace
from reportgen.trace.reader import read_trace
from tests.analyzing import analyze_case
from tests.trace_builder import base, write_trace

Json = dict[str, Any]


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Trace]:
    """Return a function that reads the trace of the given events."""

    def read_events(*events: Json, name: str = "trace.json") -> Trace:
        return read_trace(write_trace(tmp_path, base(*events), name))

    return read_events


@pytest.fixture
def analyze(read: Callable[..., Trace]) -> Callable[..., CaseAnalysis]:
    """Return a function that analyses the foreign trace of the given events."""

    def analyze_events(*events: Json) -> CaseAnalysis:
        trace = read(*events)
        return analyze_case(CaseInputs(name="trace", timeline=trace, detail=trace))

    return analyze_events


@pytest.fixture(scope="session")
def shared_traces() -> Path:
    """Return the folder of real traces; tests that need it skip where it is not given."""
    folder = os.environ.get("REPORTGEN_TRACES")
    if not folder:
        pytest.skip("REPORTGEN_TRACES names no folder of real traces")
    return Path(folder)
