"""report.pdf: the same content on A4, tagged, with page one on one page."""

from __future__ import annotations

import logging
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from reportgen.errors import RunFailed
from reportgen.report import templating
from reportgen.report.json import encode_report
from reportgen.report.view import medium as media
from reportgen.report.view.document import Document, view
from reportgen.report.view.drawings import Drawings, draw

if TYPE_CHECKING:
    from reportgen.report.model import Report

_TIGHTEST = 3


class PdfUnavailable(RunFailed):
    """The PDF needs Pango, a library of the system, which is not there."""


def require_pango() -> None:
    """Raise `PdfUnavailable` where no PDF can be made, before anything is drawn for it."""
    _load()


def render_pdf(report: Report, drawings: Drawings | None = None) -> bytes:
    """Return `report` as PDF/UA-1 with report.json attached; equal input gives equal bytes.

    The creation date is the report's own, or SOURCE_DATE_EPOCH. Raises `PdfUnavailable` where Pango is missing.
    """
    weasyprint = _load()
    drawings = drawings if drawings is not None else draw(report)
    document = fit_page_one(report, drawings)
    created = _created_at(report)
    attachment = weasyprint.Attachment(
        string=encode_report(report),
        name="report.json",
        description="All numbers of this report",
        created=created,
        modified=created,
        relationship="Data",
    )
    html = weasyprint.HTML(string=_markup(document, report, whole=True), url_fetcher=_fetcher(weasyprint))
    content: bytes = html.write_pdf(
        pdf_variant="pdf/ua-1",
        pdf_identifier=b"reportgen",
        attachments=[attachment],
        stylesheets=[_style(weasyprint)],
        font_config=_fonts(weasyprint),
    )
    return content


def fit_page_one(report: Report, drawings: Drawings) -> Document:
    """Return the document with page one shortened as far as it must be to take one page, and no further."""
    weasyprint = _load()
    for fit in range(_TIGHTEST + 1):
        document = view(report, drawings, media.page(len(report.cases), fit))
        if fit == _TIGHTEST:
            break
        html = weasyprint.HTML(string=_markup(document, report, whole=False), url_fetcher=_fetcher(weasyprint))
        pages = html.render(stylesheets=[_style(weasyprint)], font_config=_fonts(weasyprint)).pages
        if len(pages) == 1:
            break
    return document


def _markup(document: Document, report: Report, *, whole: bool) -> str:
    return templating.render(
        "print.html.j2",
        document=document,
        created=_created_at(report).isoformat(),
        whole=whole,
        generator=f"{report.generator.name} {report.generator.version}",
    )


def _created_at(report: Report) -> datetime:
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if epoch.isdigit():
        return datetime.fromtimestamp(int(epoch), tz=UTC)
    try:
        return datetime.fromisoformat(report.created_at)
    except ValueError:
        return datetime.fromtimestamp(0, tz=UTC)


_state: dict[str, Any] = {}


def _load() -> Any:
    """Import WeasyPrint, which opens Pango."""
    try:
        import weasyprint
    except OSError as error:
        raise PdfUnavailable(
            "no PDF: it needs Pango; install libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0 (macOS: pango)"
        ) from error
    logging.getLogger("weasyprint").setLevel(logging.ERROR)
    logging.getLogger("fontTools").setLevel(logging.ERROR)
    return weasyprint


def _fetcher(weasyprint: Any) -> Any:
    """Allow what the document carries itself; anything else ends the rendering."""
    from weasyprint.urls import URLFetcher

    return URLFetcher(allowed_protocols=("data",), fail_on_errors=True)


def _fonts(weasyprint: Any) -> Any:
    if "fonts" not in _state:
        from weasyprint.text.fonts import FontConfiguration

        _state["fonts"] = FontConfiguration()
    return _state["fonts"]


def _style(weasyprint: Any) -> Any:
    """Parse the style sheet once: with it come two megabytes of fonts."""
    if "style" not in _state:
        text = templating.font_faces() + templating.stylesheet("shared.css", "print.css")
        _state["style"] = weasyprint.CSS(string=text, font_config=_fonts(weasyprint), url_fetcher=_fetcher(weasyprint))
    return _state["style"]
