"""report.pdf: the same content on A4, tagged, with page one on one page."""

from __future__ import annotations

import atexit
import bisect
import contextlib
import ctypes.util
import importlib
import io
import logging
import os
import re
import sys
import xml.etree.ElementTree as ET
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reportgen.errors import RunFailed
from reportgen.report import json, operator_table, templating
from reportgen.report.collection import no_collection
from reportgen.report.view import medium as media
from reportgen.report.view.document import Document, refit, view
from reportgen.report.view.drawings import Drawings, draw

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reportgen.report.model import Report

_TIGHTEST = 4
_VARIANT = "pdf/ua-1"
_NOTES = re.compile(r"^::(?:footnote|note)-.*\n", re.MULTILINE)
_DOCTYPE = "<!doctype html>"
_VOID = re.compile(r"<(br|col|hr|img|link|meta)\b([^>]*)>")
_BREAK = "\u200b"  # nothing to be seen, where a line may end


class PdfUnavailable(RunFailed):
    """The PDF needs WeasyPrint and Pango, a library of the system, of which one is not there."""


def require_pango() -> None:
    """Raise `PdfUnavailable` where no PDF can be made, before anything is drawn for it."""
    _load()


@no_collection()
def render_pdf(report: Report, drawings: Drawings | None = None) -> bytes:
    """Return `report` as PDF/UA-1 with report.json and its operators attached; equal input gives equal bytes.

    The creation date is the report's own, or SOURCE_DATE_EPOCH. Raises `PdfUnavailable` where Pango is missing.
    """
    pages = lay_out(report, drawings if drawings is not None else draw(report))
    return _write(pages, _attachments(report))


@no_collection()
def print_markup(markup: str) -> bytes:
    """Return a document of its own, in the report's style, as PDF/UA-1; raise `PdfUnavailable` without Pango."""
    return _write(_pages(markup))


def _write(pages: Any, attachments: Sequence[Any] = ()) -> bytes:
    from reportgen.report.pdf_objects import finish

    content: bytes = pages.write_pdf(
        pdf_variant=_VARIANT, pdf_identifier=b"reportgen", attachments=attachments, finisher=finish
    )
    return content


def _attachments(report: Report) -> list[Any]:
    """Return what the PDF carries beside its pages: all numbers, and the operators as a table."""
    weasyprint, created = _load(), _created_at(report)
    table = operator_table.encode_operators(report)
    # In the order of their names, as a PDF keeps them.
    files = (
        (operator_table.FILE_NAME, table, "Every operator of every case, a row for each shape"),
        (json.FILE_NAME, json.encode_report(report), "All numbers of this report"),
    )
    return [
        weasyprint.Attachment(string=content, name=name, description=told, created=created, modified=created)
        for name, content, told in files
    ]


def lay_out(report: Report, drawings: Drawings) -> Any:
    """Return the pages, with page one shortened as far as it must be to take one page, and no further.

    How far is found with page one alone, and the whole is laid out once: that costs a tenth of what laying out the
    whole twice would. Should page one run over in the whole all the same, it is shortened further.
    """
    unshortened = view(report, drawings, media.page(len(report.cases)))

    def shortened(fit: int) -> Document:
        return refit(unshortened, report, drawings, media.page(len(report.cases), fit))

    for fit in range(_first_that_fits(shortened, report), _TIGHTEST + 1):
        pages = _pages(_markup(shortened(fit), report, whole=True))
        if _is_one_page(pages):
            break
    return pages


def _first_that_fits(shortened: Callable[[int], Document], report: Report) -> int:
    """Return how far page one must be shortened to be one page when it is laid out alone; each step shortens it more.

    Most steps shorten nothing of most reports, and what they leave need not be tried again.
    """
    fits = {_markup(shortened(fit), report, whole=False): fit for fit in reversed(range(_TIGHTEST))}
    pages = sorted(fits, key=fits.__getitem__)
    found = bisect.bisect_left(pages, True, key=lambda markup: len(_pages(markup).pages) == 1)
    return fits[pages[found]] if found < len(pages) else _TIGHTEST


def _is_one_page(pages: Any) -> bool:
    """Tell whether page one, as tried alone, is one page of the whole: what follows it starts on page two."""
    return next((number for number, page in enumerate(pages.pages) if "time" in page.anchors), 1) == 1


def _pages(markup: str) -> Any:
    weasyprint = _load()
    html = _reader(weasyprint)(markup)
    return html.render(stylesheets=[_style(weasyprint)], font_config=_fonts(), pdf_variant=_VARIANT)


def _markup(document: Document, report: Report, *, whole: bool) -> str:
    markup = templating.render(
        "print.html.j2",
        document=document,
        created=_created_at(report).isoformat(),
        whole=whole,
        generator=f"{report.generator.name} {report.generator.version}",
    )
    # A character in place of an element: of these there are hundreds, and each would be a box of its own.
    return markup.replace("<wbr>", _BREAK)


def _created_at(report: Report) -> datetime:
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if epoch.isdigit():
        return datetime.fromtimestamp(int(epoch), tz=UTC)
    try:
        return datetime.fromisoformat(report.created_at)
    except ValueError:
        return datetime.fromtimestamp(0, tz=UTC)


_state: dict[str, Any] = {}
# The fonts lie in a folder of their own, which goes with them: at the very end nothing could remove it any more.
atexit.register(_state.clear)


def _load() -> Any:
    """Import WeasyPrint, which opens Pango; on machines that only record, either may be missing."""
    try:
        weasyprint = _weasyprint()
    except ImportError as error:
        raise PdfUnavailable("no PDF: it needs WeasyPrint; pip install 'weasyprint>=69,<71'") from error
    except OSError as error:
        raise PdfUnavailable(
            "no PDF: it needs Pango; install libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0 (macOS: pango)"
        ) from error
    logging.getLogger("weasyprint").setLevel(logging.ERROR)
    logging.getLogger("fontTools").setLevel(logging.ERROR)
    return weasyprint


def _weasyprint() -> Any:
    """Import WeasyPrint without the search for libraries under names that Linux does not have.

    It tries several names of each, and for each that fails ctypes starts ldconfig and a compiler: fifty processes, half
    a second. Their names as files come last and need no search. Elsewhere, and where they do not do, it searches.
    """
    if "weasyprint" not in sys.modules and sys.platform == "linux":
        search = ctypes.util.find_library
        ctypes.util.find_library = lambda name: None
        try:
            with contextlib.redirect_stdout(io.StringIO()):  # where one is missing, the search below says so
                return importlib.import_module("weasyprint")
        except OSError:
            pass
        finally:
            ctypes.util.find_library = search
    return importlib.import_module("weasyprint")


def _fetcher() -> Any:
    """Allow what the document carries itself and the package's own fonts; anything else ends the rendering."""
    if "fetcher" not in _state:
        from weasyprint.urls import URLFetcher, URLFetcherResponse

        class Fetcher(URLFetcher):  # type: ignore[misc]
            def fetch(self, url: str, headers: Any = None) -> Any:
                if font := templating.font_file(url):
                    return URLFetcherResponse(url, font.read_bytes())
                return super().fetch(url, headers)

        _state["fetcher"] = Fetcher(allowed_protocols=("data",), fail_on_errors=True)
    return _state["fetcher"]


def _reader(weasyprint: Any) -> Any:
    """Return WeasyPrint's document made from markup by the parser of the standard library, and less what none needs.

    Its own parser, of any HTML, takes a twentieth of the PDF's time. Its own style sheet has rules about notes, which
    no report has: they stand for every element, five to each, and as many styles are made for nothing: a tenth of the
    layout. A release that names the method otherwise never calls it, and is as slow as it was.
    """
    if "reader" not in _state:
        file = Path(weasyprint.__file__).parent / "css" / "html5_ua.css"
        rules = file.read_text(encoding="utf-8") if file.is_file() else ""
        sheet = weasyprint.CSS(string=_NOTES.sub("", rules)) if rules else None

        class Reader(weasyprint.HTML):  # type: ignore[misc]
            def __init__(self, markup: str) -> None:
                tree = as_tree(markup)
                super().__init__(string=markup if tree is None else "", url_fetcher=_fetcher())
                if tree is not None:
                    wrap = type(vars(self)["wrapper_element"]).from_html_root
                    self.wrapper_element = wrap(tree, content_language=None)
                    self.etree_element = tree

            def _ua_stylesheets(self, forms: bool = False) -> Any:
                return [sheet] if sheet else super()._ua_stylesheets(forms)

        _state["reader"] = Reader
    return _state["reader"]


def as_tree(markup: str) -> ET.Element | None:
    """Return the elements of the templates' `markup`, which is XML but for elements without content.

    None where it is none: a name from outside may hold what XML has no place for. Without a document type of its own
    it can declare no entities, and names come into it escaped.
    """
    try:
        return ET.fromstring(_VOID.sub(r"<\1\2/>", markup.removeprefix(_DOCTYPE)))
    except ET.ParseError:
        return None


def _fonts() -> Any:
    if "fonts" not in _state:
        from weasyprint.text.fonts import FontConfiguration

        _state["fonts"] = FontConfiguration()
    return _state["fonts"]


def _style(weasyprint: Any) -> Any:
    """Parse the style sheet once, and load the fonts with it."""
    if "style" not in _state:
        text = templating.font_faces() + templating.stylesheet("shared.css", "print.css")
        _state["style"] = weasyprint.CSS(string=text, font_config=_fonts(), url_fetcher=_fetcher())
    return _state["style"]
