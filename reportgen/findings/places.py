"""Places in code, as findings speak of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen import formatting as fmt

if TYPE_CHECKING:
    from reportgen.analysis.model import Source


def place_of(source: Source | None) -> str:
    """Return "in `hook` (planted.py:57)", or nothing where the place is not known."""
    return fmt.code_place(source.function, source.file, source.line, source.line_kind) if source else ""
