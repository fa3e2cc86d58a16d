"""report.json: the report itself, of which every other document is a view."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from reportgen.errors import InputUnreadable
from reportgen.recording import encode_json
from reportgen.report.model import ReportInput
from reportgen.resources import is_folder, is_there

if TYPE_CHECKING:
    from reportgen.report.model import Report

FILE_NAME = "report.json"


def encode_report(report: Report) -> bytes:
    """Return `report` as JSON; what is no finite number becomes null, and half a character a question mark."""
    return msgspec.json.format(encode_json(report), indent=1) + b"\n"


class _Made(msgspec.Struct):
    """The part of a report that says what it was made from."""

    input: ReportInput


def read_input(path: Path) -> tuple[ReportInput, Path]:
    """Return what the report at `path`, its folder or its report.json, was made from, and where that lies.

    A recording that was moved with its report is found beside it. Raises `InputUnreadable`.
    """
    file = path / FILE_NAME if is_folder(path) else path
    try:
        given = msgspec.json.decode(file.read_bytes(), type=_Made).input
    except OSError as error:
        raise InputUnreadable(f"{path} is no report: {file} cannot be read ({error.strerror})") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputUnreadable(f"{file} is no report of reportgen: {error}") from error
    places = [file.parent / given.path, file.parent / Path(given.path).name]
    found = next((place for place in places if is_there(place)), None)
    if found is None:
        raise InputUnreadable(f"{path} was made from {given.path}, which is not there: put it beside the report")
    return given, found
