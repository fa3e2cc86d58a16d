"""The documents of a report: report.json, and the views of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reportgen.analysis.step_export import StepExport
    from reportgen.report.model import Report


def write_documents(
    report: Report, folder: Path, formats: Sequence[str], *, step_exports: Sequence[StepExport] = ()
) -> list[Path]:
    """Write `report` into `folder` in each of `formats` ("html", "pdf", "json") and return the files written."""
    written = []
    if "json" in formats:
        path = folder / "report.json"
        path.write_bytes(msgspec.json.format(msgspec.json.encode(report), indent=1))
        written.append(path)
    return written
