from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reportgen.trace.columns import Trace
from reportgen.trace.reader import read_trace
from tests.trace_builder import base, write_trace

Json = dict[str, Any]


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Trace]:
    """Return a function that reads the trace of the given events; keywords add or replace top-level keys."""

    def read_events(*events: Json, **top: Any) -> Trace:
        return read_trace(write_trace(tmp_path, base(*events, **top)))

    return read_events
