"""`capture()`: profile a window of a loop that somebody else runs, and get out of its way.

with reportgen.capture("my-training", output="reports/") as session:
    for batch in loader:
        ...
        session.step()
"""

from __future__ import annotations

from reportgen.runner.capture.session import CaptureSession, capture

__all__ = ["CaptureSession", "capture"]
