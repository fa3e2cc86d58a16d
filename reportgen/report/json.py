"""report.json: the report itself, of which every other document is a view."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from reportgen.report.model import Report


def encode_report(report: Report) -> bytes:
    """Return `report` as JSON; what is no finite number becomes null, and half a character a question mark."""
    try:
        content = msgspec.json.encode(report)
    except UnicodeEncodeError:  # a trace may hold lone surrogates, which UTF-8 cannot
        content = msgspec.json.encode(_encodable(msgspec.to_builtins(report)))
    return msgspec.json.format(content, indent=1) + b"\n"


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_encodable(item) for item in value]
    return value
