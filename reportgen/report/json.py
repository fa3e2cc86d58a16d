"""report.json: the report itself, of which every other document is a view."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from reportgen.errors import InputUnreadable
from reportgen.recording import encode_json
from reportgen.report.model import SCHEMA_VERSION, ReportInput
from reportgen.resources import is_folder, is_there

if TYPE_CHECKING:
    from reportgen.report.model import Report

FILE_NAME = "report.json"
Read = TypeVar("Read")


def encode_report(report: Report) -> bytes:
    """Return `report` as JSON; what is no finite number becomes null, and half a character a question mark."""
    return msgspec.json.format(encode_json(report), indent=1) + b"\n"


class _Version(msgspec.Struct):
    """The part of a report that says how it is to be read."""

    schema_version: str


class _Made(_Version):
    """The part of a report that says what it was made from."""

    input: ReportInput


def decode_report(file: Path, type_: type[Read]) -> Read:
    """Read from the report.json `file` what `type_` holds of it; raise `InputUnreadable`, also for another version."""
    try:
        content = file.read_bytes()
        version = msgspec.json.decode(content, type=_Version).schema_version
        if version.partition(".")[0] != SCHEMA_VERSION.partition(".")[0]:
            raise InputUnreadable(
                f"{file} is of schema version {version!r}, and only {SCHEMA_VERSION.partition('.')[0]}.x can be read: "
                "use the reportgen that wrote it, or render its recording again"
            )
        return msgspec.json.decode(content, type=type_)
    except OSError as error:
        raise InputUnreadable(f"{file} cannot be read ({error.strerror}): name a report's folder") from error
    except RecursionError as error:
        raise InputUnreadable(f"{file} is no report of reportgen: it is nested too deep") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputUnreadable(f"{file} is no report of this version: {error}") from error


def read_input(path: Path) -> tuple[ReportInput, Path]:
    """Return what the report at `path`, its folder or its report.json, was made from, and where that lies.

    A recording that was moved with its report is found beside it. Raises `InputUnreadable`.
    """
    file = path / FILE_NAME if is_folder(path) else path
    given = decode_report(file, _Made).input
    places = [file.parent / given.path, file.parent / Path(given.path).name]
    found = next((place for place in places if is_there(place)), None)
    if found is None:
        raise InputUnreadable(f"{path} was made from {given.path}, which is not there: put it beside the report")
    return given, found
