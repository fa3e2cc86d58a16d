"""What is done to the objects of a PDF before they are written, beyond what WeasyPrint does."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import pydyf

if TYPE_CHECKING:
    from collections.abc import Mapping

_RELATIONSHIP = "/Data"


def finish(document: Any, pdf: Any) -> None:
    """Complete `pdf`, a `pydyf.PDF`; WeasyPrint calls this with the `document` that it was made from."""
    by_reference = {item.reference: item for item in pdf.objects}
    _associate_files(pdf)
    _scope_headings(by_reference)
    _free_running_lines(pdf, by_reference)
    _pack(pdf)


def _associate_files(pdf: Any) -> None:
    """Say of the embedded files that they hold the document's data; WeasyPrint says so in PDF/A alone."""
    files = [item for item in pdf.objects if _is(item, "Type", "/Filespec")]
    for file in files:
        file["AFRelationship"] = _RELATIONSHIP
    if files:
        pdf.catalog["AF"] = pydyf.Array(file.reference for file in files)


def _scope_headings(by_reference: Mapping[bytes, Any]) -> None:
    """Say of each heading cell whether it heads a column or a row: not every reader follows the cells' own lists."""
    for cell in by_reference.values():
        if _is(cell, "S", "/TH"):
            group = by_reference[by_reference[cell["P"]]["P"]]
            cell["A"]["Scope"] = "/Column" if group["S"] == "/THead" else "/Row"


def _free_running_lines(pdf: Any, by_reference: Mapping[bytes, Any]) -> None:
    """Mark the heads and feet of pages as no content: WeasyPrint tags them, but as parts of nothing."""
    root = by_reference[pdf.catalog["StructTreeRoot"]]
    told = set(_told(root, by_reference))
    numbers = by_reference[root["ParentTree"]]["Nums"]
    for page, elements in zip(pdf.page_references, numbers[1::2], strict=False):
        apart = {mark for mark, element in enumerate(elements) if element not in told}
        stream = by_reference[by_reference[page]["Contents"]].stream
        for place, item in enumerate(stream):
            if isinstance(item, pydyf.Dictionary) and item.get("MCID") in apart:
                elements[item["MCID"]] = "null"
                stream[place - 1 : place + 1] = ["/Artifact", pydyf.Dictionary({"Type": "/Pagination"})]


def _told(root: Any, by_reference: Mapping[bytes, Any]) -> list[bytes]:
    """Return the references of all elements of the tag tree."""
    found, open_ = [], [root]
    while open_:
        kids = [kid for kid in open_.pop().get("K", ()) if isinstance(kid, bytes)]
        found += kids
        open_ += [by_reference[kid] for kid in kids]
    return found


def _pack(pdf: Any) -> None:
    """Compress streams here: what is written is asked for twice, and level 9 is little smaller than 6."""
    for item in pdf.objects:
        if isinstance(item, pydyf.Stream) and item.compress:
            written = pydyf.Stream(item.stream).data
            plain = written.partition(b"stream\n")[2].removesuffix(b"\nendstream")
            item.stream = [zlib.compress(plain)]
            item.extra["Filter"] = "/FlateDecode"
            item.compress = False


def _is(item: Any, key: str, value: str) -> bool:
    return isinstance(item, dict) and item.get(key) == value
