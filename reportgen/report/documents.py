"""The documents of a report: report.json, the views of it, and one step of each case for a trace viewer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from reportgen.report import perfetto
from reportgen.report.collection import no_collection
from reportgen.report.json import encode_report

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reportgen.analysis.one_step.step_export import StepExport
    from reportgen.report.model import Report


@no_collection()
def write_documents(
    report: Report, folder: Path, formats: Sequence[str], *, step_exports: Sequence[StepExport] = ()
) -> list[Path]:
    """Write `report` into `folder` in each of `formats` ("html", "pdf", "json") and return the files written.

    The step of each case goes beside them whatever the formats: ``step.perfetto.json.gz``, or with several cases
    ``step-CASE.perfetto.json.gz`` for each. The PDF comes last: where it raises `PdfUnavailable`, all else is written.
    """
    from reportgen.report.html import render_html
    from reportgen.report.view.drawings import draw

    written = []

    def write(name: str, content: bytes) -> None:
        (folder / name).write_bytes(content)
        written.append(folder / name)

    drawings = draw(report) if {"html", "pdf"} & set(formats) else None
    if "html" in formats:
        write("report.html", render_html(report, drawings, step_exports).encode("utf-8"))
    if "json" in formats:
        write("report.json", encode_report(report))
    for export, name in zip(step_exports, _step_names(report, step_exports), strict=True):
        perfetto.write_step(folder / name, export, report.findings)
        written.append(folder / name)
    if "pdf" in formats:
        from reportgen.report.pdf import render_pdf

        write("report.pdf", render_pdf(report, drawings))
        written.insert(1 if "html" in formats else 0, written.pop())
    return written


def _step_names(report: Report, exports: Sequence[StepExport]) -> list[str]:
    """Name the files of the steps after their cases, in plain words and no two alike."""
    if len(report.cases) == 1 and len(exports) == 1:
        return [perfetto.FILE_NAME]
    names: list[str] = []
    for export in exports:
        word = re.sub(r"[^A-Za-z0-9_.-]+", "-", export.case).strip("-.")[:60] or "case"
        name, number = f"step-{word}.perfetto.json.gz", 1
        while name in names:
            number += 1
            name = f"step-{word}-{number}.perfetto.json.gz"
        names.append(name)
    return names
