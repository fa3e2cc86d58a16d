"""The PDF of the finished example: its tags, what it carries, and how one finds the way in it."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from pypdf import PdfReader

from reportgen.report import pdf
from reportgen.report.model import Report
from tests.integration.command import ROOT

EXAMPLE = ROOT / "reports" / "example-gpt2-h200" / "report.json"
pytestmark = pytest.mark.skipif(not EXAMPLE.is_file(), reason="the example is not in this checkout")


@pytest.fixture(scope="module")
def report() -> Report:
    return msgspec.json.decode(EXAMPLE.read_bytes(), type=Report)


@pytest.fixture(scope="module")
def content(report: Report) -> bytes:
    return pdf.render_pdf(report)


@pytest.fixture(scope="module")
def reader(content: bytes) -> PdfReader:
    return PdfReader(io.BytesIO(content))


def elements(node: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[Any, tuple[str, ...]]]:
    """Yield each element of the tag tree with the kinds of those it is in."""
    node = node.get_object() if hasattr(node, "get_object") else node
    if isinstance(node, list):
        for kid in node:
            yield from elements(kid, above)
    elif isinstance(node, dict):
        if "/S" in node or "/Obj" in node:
            yield node, above
        if "/K" in node:
            yield from elements(node["/K"], (*above, str(node.get("/S"))))


@pytest.fixture(scope="module")
def tags(reader: PdfReader) -> list[tuple[Any, tuple[str, ...]]]:
    return list(elements(reader.root_object["/StructTreeRoot"]))


def of_kind(tags: list[tuple[Any, tuple[str, ...]]], kind: str) -> list[tuple[Any, tuple[str, ...]]]:
    return [(node, above) for node, above in tags if node.get("/S") == kind]


def text_of(reader: PdfReader, number: int) -> str:
    return " ".join(reader.pages[number].extract_text().split())


def test_a_validator_finds_it_to_be_pdf_ua(content: bytes) -> None:
    page = pytest.importorskip("page")
    found = page.validate_pdf_bytes(content, profile=page.ValidationProfile.PDF_UA_1)
    assert [failure.message for failure in found.failures] == []
    assert found.rules.passed > 100


def test_every_heading_cell_says_what_it_heads(tags: list[tuple[Any, tuple[str, ...]]]) -> None:
    cells = of_kind(tags, "/TH")
    assert len(cells) > 100
    assert {(above[-2], str(cell["/A"]["/Scope"])) for cell, above in cells} == {
        ("/THead", "/Column"),
        ("/TBody", "/Row"),
    }


def test_every_other_cell_names_its_headings(tags: list[tuple[Any, tuple[str, ...]]]) -> None:
    known = {str(cell["/ID"]) for cell, _ in of_kind(tags, "/TH")}
    cells = of_kind(tags, "/TD")
    assert cells
    assert all(cell["/A"]["/Headers"] and {str(name) for name in cell["/A"]["/Headers"]} <= known for cell, _ in cells)


def test_lists_hold_entries_alone_and_every_entry_is_in_a_list(tags: list[tuple[Any, tuple[str, ...]]]) -> None:
    lists = of_kind(tags, "/L")
    assert lists
    assert {str(kid.get_object()["/S"]) for node, _ in lists for kid in node["/K"]} == {"/LI"}
    assert {above[-1] for _, above in of_kind(tags, "/LI")} == {"/L"}


def test_headings_go_down_one_level_at_a_time(tags: list[tuple[Any, tuple[str, ...]]]) -> None:
    levels = [int(str(node["/S"])[2]) for node, _ in tags if re.fullmatch("/H[1-6]", str(node.get("/S")))]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_every_link_is_in_a_link_element_once(reader: PdfReader, tags: list[tuple[Any, tuple[str, ...]]]) -> None:
    annotations = _links(reader)
    assert len(annotations) > 20
    assert len(set(annotations)) == len(annotations)
    within = [above[-1] for node, above in tags if "/Obj" in node]
    assert within == ["/Link"] * len(annotations)


def _links(reader: PdfReader) -> list[tuple[int, tuple[float, ...]]]:
    """Return the page and the place of each link."""
    return [
        (number, tuple(one.get_object()["/Rect"]))
        for number, page in enumerate(reader.pages)
        for one in page.get("/Annots", [])
    ]


def test_every_chart_tells_its_figures(report: Report, tags: list[tuple[Any, tuple[str, ...]]]) -> None:
    figures = [str(node["/Alt"]) for node, _ in of_kind(tags, "/Figure")]
    # One for the step, step times and the roofline; a timeline, a memory curve and the fixes of each case.
    assert len(figures) == 3 + 3 * len(report.cases)
    assert all(re.search(r"\d", text) for text in figures)


def test_heads_and_feet_are_no_content(reader: PdfReader) -> None:
    for page in reader.pages:
        stream = page.get_contents()
        assert stream is not None
        assert b"/Artifact <</Type /Pagination>> BDC" in re.sub(rb"\s+", b" ", stream.get_data())


def test_pages_have_heads_and_feet(reader: PdfReader) -> None:
    total = len(reader.pages)
    for number in range(total):
        assert f"page {number + 1} of {total}" in text_of(reader, number)
    assert all("gpt2 on one NVIDIA H200" in text_of(reader, number) for number in range(1, total))


def test_the_head_names_the_section_that_the_page_opens_with(reader: PdfReader) -> None:
    starts = [
        (reader.get_destination_page_number(entry), float(entry.top or 0.0), str(entry.title))
        for entry in reader.outline
        if not isinstance(entry, list) and re.match(r"\d", str(entry.title))
    ]
    opened = 0
    for number, page in enumerate(reader.pages):
        if number == 0:
            continue  # page one has no head
        # A4 has 842 points, the margin 57: what begins within 40 points of it is the first on its page.
        first = [title for at, top, title in starts if at == number and top > float(page.mediabox.height) - 57 - 40]
        before = [title for at, _, title in starts if at is not None and at < number]
        assert text_of(reader, number).count([*before, *first][-1]) == (2 if first else 1), number
        opened += not first
    assert opened > 3  # pages that open in the middle of a section


def test_contents_and_bookmarks_name_the_page_a_section_is_on(reader: PdfReader) -> None:
    contents = dict(re.findall(r"(\d+ [A-Z][^\d]+?) p\. (\d+)", text_of(reader, 0)))
    marks = [entry for entry in reader.outline if not isinstance(entry, list)]
    numbered = [entry for entry in marks if re.match(r"\d", str(entry.title))]
    assert len(contents) == len(numbered) == 10
    for entry in numbered:
        number = reader.get_destination_page_number(entry)
        assert contents[str(entry.title)] == str(number + 1)  # type: ignore[operator]
        assert str(entry.title) in text_of(reader, number)  # type: ignore[arg-type]


def test_the_body_takes_ten_pages_at_most_and_none_is_nearly_empty(reader: PdfReader) -> None:
    # The last section of the body, which is never split.
    method = next(entry for entry in reader.outline if "Method" in str(getattr(entry, "title", "")))
    last = reader.get_destination_page_number(method)  # type: ignore[arg-type]
    assert last is not None
    assert last + 1 <= 10
    assert all(_filled(reader, number) > 0.5 for number in range(last + 1))


def test_names_of_kernels_have_a_wide_page(reader: PdfReader, report: Report) -> None:
    wide = [page for page in reader.pages if page.mediabox.width > page.mediabox.height]
    assert len(wide) == 1
    assert all(page.mediabox.width > page.mediabox.height for page in reader.pages[-len(wide) :])
    longest = max((kernel.name for kernel in report.cases[0].kernels.items[:7]), key=len)
    shown = re.sub(r"\s|\u200b", "", wide[0].extract_text())
    # A name of 190 characters is whole, a longer one has its beginning and its end.
    assert len(longest) > 100
    assert re.sub(r"\s", "", longest)[:80] in shown


def _filled(reader: PdfReader, number: int) -> float:
    """Return how far down a page's content goes, as a share of what stands between head and foot."""
    lowest = [1000.0]

    def visit(text: str, _: Any, matrix: Any, __: Any, ___: Any) -> None:
        if text.strip() and matrix[5] > 60:  # above the foot
            lowest[0] = min(lowest[0], matrix[5])

    reader.pages[number].extract_text(visitor_text=visit)
    height = float(reader.pages[number].mediabox.height)
    return (height - 57 - lowest[0]) / (height - 57 - 60)


def test_all_fonts_are_embedded(reader: PdfReader) -> None:
    fonts = {name: font for page in reader.pages for name, font in page["/Resources"]["/Font"].items()}  # type: ignore[index]
    assert fonts
    for font in fonts.values():
        inner = font.get_object()["/DescendantFonts"][0].get_object()
        assert "/FontFile2" in inner["/FontDescriptor"].get_object()
        assert "/ToUnicode" in font.get_object()
        assert re.match(r"/[A-Z]{6}\+Report", str(inner["/BaseFont"]))


def test_it_carries_its_numbers_and_says_what_they_are_to_it(reader: PdfReader, report: Report) -> None:
    files = [file.get_object() for file in reader.root_object["/AF"]]  # type: ignore[attr-defined]
    assert [(str(file["/UF"]), str(file["/AFRelationship"])) for file in files] == [
        ("operators.csv", "/Data"),
        ("report.json", "/Data"),
    ]
    assert all(file["/Desc"] for file in files)
    assert [str(file["/EF"]["/F"].get_object()["/Subtype"]) for file in files] == ["/text/csv", "/application/json"]
    assert msgspec.json.decode(reader.attachments["report.json"][0], type=Report) == report
    rows = list(csv.DictReader(io.StringIO(reader.attachments["operators.csv"][0].decode("utf-8"))))
    for case in report.cases:
        of_case = [row for row in rows if row["case"] == case.name]
        assert len(of_case) == len(case.operators.items)
        busy_us = sum(float(row["device_us_per_step"]) for row in of_case)
        assert busy_us == pytest.approx(sum(item.device_us_per_step or 0.0 for item in case.operators.items))


def test_the_document_says_what_it_is(reader: PdfReader, report: Report) -> None:
    told = reader.metadata
    assert told is not None
    assert told.title == "gpt2 on one NVIDIA H200: performance report"
    assert told.author == told.creator == f"reportgen {report.generator.version}"
    assert told.subject
    assert told.keywords
    assert told.creation_date is not None
    assert told.creation_date.isoformat()[:10] == report.created_at[:10]
    assert b"pdfuaid:part" in reader.root_object["/Metadata"].get_data()  # type: ignore[attr-defined]
