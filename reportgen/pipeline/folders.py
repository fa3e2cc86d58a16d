"""Where reports lie: their folders, what these are called, and the recording inside."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from pathlib import Path

from reportgen.errors import UsageError
from reportgen.formatting import printable
from reportgen.recording import MANIFEST_NAME, Recording
from reportgen.resources import is_file

RECORDING_FOLDER = "recording"
_LONGEST_NAME_BYTES = 200


def open_recording(path: Path) -> Recording:
    """Open the recording in `path` or in the folder "recording" inside; raise `InputUnreadable` where there is none."""
    inside = path / RECORDING_FOLDER
    return Recording.open(inside if is_file(inside / MANIFEST_NAME) else path)


def name_of(recording: Path) -> str:
    """Return what a report of the recording in this folder is called."""
    return recording.parent.name if recording.name == RECORDING_FOLDER else recording.name


def path_from(folder: Path, path: Path) -> str:
    """Return `path` as seen from the report's folder where it lies inside, else in full."""
    path, folder = path.resolve(), folder.resolve()
    return os.path.relpath(path, folder) if path.is_relative_to(folder) else str(path)


def new_folder(parent: Path, name: str, now: datetime) -> Path:
    """Make a folder that there was not before: ``parent/name-20261129T154700Z``."""
    stem = f"{_fit_for_file(name)}-{now.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    folder, number = parent / stem, 1
    while os.path.lexists(folder):
        number += 1
        folder = parent / f"{stem}-{number}"
    make_folder(folder)
    return folder


def _fit_for_file(name: str) -> str:
    """Return `name` as a part of one path, cut where no room is left for what is put behind it (255 bytes in all)."""
    marked = "".join(character if printable(character) == character else "/" for character in name)
    fit = re.sub(r"[/\\\n]+", "-", marked).lstrip(".- ") or "report"
    return fit.encode(errors="replace")[:_LONGEST_NAME_BYTES].decode(errors="ignore")


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, where there are none."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder} cannot be made ({error.strerror}): choose another folder with -o") from error
