"""report.json: the report itself, of which every other document is a view."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from reportgen.report.model import Report


def encode_report(report: Report) -> bytes:
    """Return `report` as JSON; what is no finite number becomes null, as the format asks."""
    return msgspec.json.format(msgspec.json.encode(report), indent=1) + b"\n"
