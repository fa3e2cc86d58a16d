from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

import pytest
import tinyhtml5
from pypdf import PdfReader

from reportgen.report import pdf, templating
from reportgen.report.model import Report
from reportgen.report.view.document import refit, view
from reportgen.report.view.drawings import Drawings, draw
from reportgen.report.view.medium import page
from tests import report_builder as build
from tests.case_builder import host_bound_case

LONG = "a_very_long_name_of_a_case_" * 8


def many_cases() -> Report:
    names = [f"{LONG}{number}" for number in range(6)]
    findings = [build.finding(f"F{i}", case=name, title=f"{LONG} {i}", action=LONG) for i, name in enumerate(names, 1)]
    notices = [host_bound_case(name=name) for name in names]
    return build.report(notices, findings)


def read(report: Report) -> PdfReader:
    drawings = draw(report)
    bars = Drawings(budget=drawings.budget, budget_short=drawings.budget_short)
    return PdfReader(io.BytesIO(pdf.render_pdf(report, bars)))


def first_page(reader: PdfReader) -> str:
    return " ".join(reader.pages[0].extract_text().split())


@pytest.mark.parametrize("report", [build.report(findings=[build.finding()]), build.report([]), many_cases()])
def test_page_one_is_one_page(report: Report) -> None:
    reader = read(report)
    first, second = first_page(reader), reader.pages[1].extract_text()
    assert "How sure" in first
    assert "Appendices" in first
    assert "1 Where the time goes" in " ".join(second.split())


@pytest.mark.full
def test_page_one_is_one_page_in_the_wider_fallback_font(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(templating, "font_faces", lambda: "body, code { font-family: 'DejaVu Sans' !important }")
    monkeypatch.setattr(pdf, "_state", {})
    reader = read(many_cases())
    assert "Appendices" in first_page(reader)
    assert "1 Where the time goes" in " ".join(reader.pages[1].extract_text().split())


def test_the_pdf_is_tagged_named_and_carries_the_numbers() -> None:
    reader = read(build.report(findings=[build.finding()]))
    root = reader.root_object
    assert root["/MarkInfo"]["/Marked"]  # type: ignore[index]
    assert str(root["/Lang"]) == "en"
    assert b"pdfuaid" in root["/Metadata"].get_data()  # type: ignore[attr-defined]
    assert reader.metadata is not None
    assert reader.metadata.title == "gpt2 on one NVIDIA H200: performance report"
    assert list(reader.attachments) == ["operators.csv", "report.json"]
    assert "1 Where the time goes" in [entry.title for entry in reader.outline if not isinstance(entry, list)]


def test_every_image_has_alternative_text() -> None:
    reader = read(build.report(findings=[build.finding()]))
    found = figures(reader.root_object["/StructTreeRoot"])
    assert len(found) == 1
    assert "the device works 0.20" in str(found[0]["/Alt"])


def figures(node: Any) -> list[Any]:
    """Return the figures of the tag tree."""
    node = node.get_object() if hasattr(node, "get_object") else node
    if isinstance(node, list):
        return [found for child in node for found in figures(child)]
    if not isinstance(node, dict):
        return []
    found = [node] if node.get("/S") == "/Figure" else []
    return found + (figures(node["/K"]) if "/K" in node else [])


def test_equal_reports_give_equal_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1764431220")
    report = build.report(findings=[build.finding()])
    drawings = Drawings()
    assert pdf.render_pdf(report, drawings) == pdf.render_pdf(report, drawings)


def test_a_page_that_reaches_outside_is_not_rendered() -> None:
    with pytest.raises(Exception, match="disallowed protocol"):
        pdf._fetcher().fetch("http://example.org/pixel.png")


def test_a_list_of_words_keeps_its_heading_and_no_word_loses_its_meaning() -> None:
    words = "".join(f"<dt>word {n}</dt><dd>meaning {n}</dd>" for n in range(12))
    block = f'<div class="whole"><h3>Words</h3><dl class="words small">{words}</dl></div>'
    for above_mm in (0, 215, 230, 245):
        pages = PdfReader(io.BytesIO(pdf.print_markup(f'<div style="height: {above_mm}mm">Above</div>{block}'))).pages
        told = [page.extract_text() for page in pages if "word" in page.extract_text()]
        assert len(told) == 1
        assert "Words" in told[0]
        assert "meaning 11" in told[0]


@pytest.mark.parametrize("above_mm", [0, 150, 225, 240])
def test_two_columns_with_words_beside_them_go_to_the_next_page_where_they_do_not_fit(above_mm: int) -> None:
    # WeasyPrint 70 raises where a grid that must not break holds floats of its own and the page ends in it.
    words = "<dt>roof</dt><dd>what the device can reach at most</dd>" * 12
    columns = f'<div class="two"><div><dl class="words small">{words}</dl></div><div><p>Limits</p></div></div>'
    pages = PdfReader(io.BytesIO(pdf.print_markup(f'<div style="height: {above_mm}mm">Above</div>{columns}'))).pages

    assert ["roof" in page.extract_text() for page in pages] == ([True] if above_mm <= 150 else [False, True])


def test_the_whole_is_laid_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    laid_out = []
    pages = pdf._pages

    def counted(markup: str) -> object:
        laid_out.append('id="appendices"' in markup)
        return pages(markup)

    monkeypatch.setattr(pdf, "_pages", counted)
    report = build.report(findings=[build.finding()])
    pdf.lay_out(report, draw(report))
    assert laid_out.count(True) == 1
    assert laid_out[-1] is True


def test_a_page_one_that_changes_in_nothing_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def never_fits(markup: str) -> object:
        tried.append(markup)
        return SimpleNamespace(pages=[None, None])

    monkeypatch.setattr(pdf, "_pages", never_fits)
    report = build.report(findings=[build.finding()])
    assert pdf._first_that_fits(lambda fit: view(report, Drawings(), page(1, fit)), report) == 4
    assert len(tried) == len(set(tried)) > 1


def test_a_page_one_made_shorter_is_that_of_a_document_made_so() -> None:
    report = many_cases()
    drawings = draw(report)
    whole = view(report, drawings, page(6))
    for fit in range(5):
        assert refit(whole, report, drawings, page(6, fit)) == view(report, drawings, page(6, fit))


@pytest.mark.parametrize(
    ("sections", "is_one_page"),
    [
        (["summary", "time", "time", "memory"], True),  # a section that goes on is named on each of its pages
        (["summary", "summary", "time"], False),
        (["summary", "memory"], True),
    ],
)
def test_page_one_is_one_page_where_the_next_section_starts_on_page_two(sections: list[str], is_one_page: bool) -> None:
    pages = SimpleNamespace(pages=[SimpleNamespace(anchors={section: (0, 0)}) for section in sections])
    assert pdf._is_one_page(pages) is is_one_page


def test_no_text_of_a_page_runs_into_another_however_many_cases_it_has() -> None:
    report = many_cases()
    pages = pdf.lay_out(report, draw(report)).pages
    met = [pair for page_ in pages for pair in _meeting(page_)]
    assert met == []


def _meeting(page_: Any) -> list[tuple[str, str]]:
    """Return the texts of a page that lie on one another; those for screen readers alone lie where they belong."""
    texts = [
        (box.text, box.position_x, box.position_y, box.position_x + box.width, box.position_y + box.height)
        for box in page_._page_box.descendants()
        if hasattr(box, "text") and box.text.strip() and box.style["color"].alpha > 0
    ]
    texts.sort(key=lambda text: text[2])
    found = []
    for index, (text, left, top, right, bottom) in enumerate(texts):
        middle = (top + bottom) / 2
        for other, left2, top2, right2, bottom2 in texts[index + 1 :]:
            if top2 > middle:
                break
            if left + 0.5 < right2 and left2 + 0.5 < right and top2 < middle < bottom2:
                found.append((text, other))
    return found


def test_the_markup_is_read_as_any_reader_of_html_reads_it() -> None:
    report = build.report([host_bound_case(name="a < b & 'c' \u202e é")], [build.finding()])
    drawings = draw(report)
    markup = pdf._markup(view(report, drawings, page(1)), report, whole=True)

    def elements(tree: Any) -> list[tuple[Any, ...]]:
        return [
            (node.tag, dict(node.attrib), (node.text or "").strip(), (node.tail or "").strip()) for node in tree.iter()
        ]

    tree = pdf.as_tree(markup)
    assert tree is not None
    assert len(elements(tree)) > 200
    assert elements(tree) == elements(tinyhtml5.parse(markup, namespace_html_elements=False))


def test_markup_that_is_no_xml_is_left_to_the_reader_of_html() -> None:
    assert pdf.as_tree("<!doctype html><p>\x07</p>") is None
    assert len(pdf._pages("<!doctype html><title>t</title><p>\x07").pages) == 1
