"""Write a comparison: comparison.json and its views."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from reportgen.history.model import ReportDifference
from reportgen.history.text import render_markdown
from reportgen.recording import encode_json

NAME = "comparison"


def write_comparison(difference: ReportDifference, folder: Path, formats: Sequence[str]) -> list[Path]:
    """Write `difference` into `folder` in each of `formats` ("html", "pdf", "json", "md"); return the files written.

    Raises `PdfUnavailable`, last of all, where the PDF needs what is not there.
    """
    from reportgen.history.comparison_page import render_html, render_pdf

    contents: dict[str, Callable[[], bytes]] = {
        "html": lambda: render_html(difference).encode("utf-8"),
        "json": lambda: encode(difference),
        "md": lambda: render_markdown(difference).encode("utf-8", "replace"),
        "pdf": lambda: render_pdf(difference),
    }
    written = []
    for name, content in contents.items():
        if name in formats:
            path = folder / f"{NAME}.{name}"
            path.write_bytes(content())
            written.append(path)
    return written


def encode(difference: ReportDifference) -> bytes:
    """Return `difference` as JSON."""
    return msgspec.json.format(encode_json(difference), indent=1) + b"\n"
