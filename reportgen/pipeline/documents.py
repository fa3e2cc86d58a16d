"""Write the documents of a report or of a comparison, as far as this machine can."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from reportgen.errors import UsageError
from reportgen.pipeline.folders import new_folder
from reportgen.pipeline.wishes import StageStarted, Wishes, Written

if TYPE_CHECKING:
    from reportgen.analysis.one_step.step_export import StepExport
    from reportgen.history.model import ReportDifference
    from reportgen.report.model import Report


def write_report(
    report: Report, steps: Sequence[StepExport], folder: Path, failures: tuple[str, ...], wishes: Wishes
) -> Written:
    """Write a report into `folder`; where the PDF was asked for by name, its absence joins `failures`."""
    from reportgen.report.anonymous import anonymous, anonymous_step
    from reportgen.report.documents import write_documents

    if wishes.anonymous:
        steps = [anonymous_step(step, report.environment) for step in steps]
        report = anonymous(report)
    formats, lacking = _writable(wishes.formats)
    again = "analyze the trace again" if report.input.kind == "trace" else f"reportgen render {folder}"
    missing = (f"{lacking}, then {again}",) if lacking else ()
    wishes.progress(StageStarted(text="writing the documents"))
    try:
        written = write_documents(report, folder, formats, step_exports=steps)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written ({error.strerror}): choose another folder with -o") from error
    documents = {f"report.{name}" for name in formats}
    return Written(
        report=report,
        folder=folder,
        paths=tuple(path for path in written if path.name in documents),
        failures=(*failures, *missing) if wishes.pdf_required else failures,
        remarks=() if wishes.pdf_required else missing,
    )


def _writable(formats: Sequence[str]) -> tuple[tuple[str, ...], str | None]:
    """Return those of `formats` that this machine can write, and what it lacks for the PDF where that is wanted."""
    if "pdf" not in formats:
        return tuple(formats), None
    from reportgen.report.pdf import PdfUnavailable, require_pango

    try:
        require_pango()
    except PdfUnavailable as error:
        return tuple(name for name in formats if name != "pdf"), str(error)
    return tuple(formats), None


def write_comparison(
    difference: ReportDifference, parent: Path, formats: Sequence[str], now: datetime | None = None
) -> tuple[list[Path], tuple[str, ...]]:
    """Write a comparison into a folder of its own under `parent`; return its files and what could not be written."""
    from reportgen.history import comparison_files

    formats, lacking = _writable(formats)
    folder = new_folder(parent, f"compare-{difference.new.workload or 'reports'}", now or datetime.now(UTC))
    try:
        return comparison_files.write_comparison(difference, folder, formats), (lacking,) if lacking else ()
    except OSError as error:
        raise UsageError(f"{folder} cannot be written ({error.strerror}): choose another folder with -o") from error
