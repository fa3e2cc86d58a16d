"""Automated profiling reports for PyTorch workloads.

The public names are imported when they are first asked for, so that ``import reportgen`` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reportgen.errors import ReportgenError
    from reportgen.runner.capture import capture
    from reportgen.workload import Case, Step, Workload

__version__ = "0.1.0"
__all__ = ["Case", "ReportgenError", "Step", "Workload", "__version__", "capture"]

_HOMES = {
    "Case": "reportgen.workload",
    "ReportgenError": "reportgen.errors",
    "Step": "reportgen.workload",
    "Workload": "reportgen.workload",
    "capture": "reportgen.runner.capture",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
