"""What lies where: the templates and the workloads, inside an installed package or beside it, and a user's paths.

Files that others may be reading are replaced in one go.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from reportgen.errors import ReportgenError

if TYPE_CHECKING:
    from collections.abc import Iterator

# Where reports go unless somebody says otherwise.
DEFAULT_OUTPUT = Path("reports")
_PACKAGE = Path(__file__).resolve().parent


def resource_folder(name: str) -> Path:
    """Return the folder `name` ("templates" or "workloads"); raise `ReportgenError` where the installation lacks it."""
    for folder in (_PACKAGE / name, _PACKAGE.parent / name):
        if folder.is_dir():
            return folder
    raise ReportgenError(f"the installation is incomplete: no folder {name} in or beside {_PACKAGE}; install it again")


def font_path(name: str) -> Path:
    """Return the font file `name` ("LiberationSans-Regular", "-Bold", "-Italic", "LiberationMono-Regular", "-Bold").

    Documents and charts use these files, never the machine's fonts, so that they look the same everywhere. Raise
    `ReportgenError` where the installation lacks it.
    """
    path = resource_folder("templates") / "fonts" / f"{name}.ttf"
    if not path.is_file():
        raise ReportgenError(f"the installation is incomplete: no font {path}; install it again")
    return path


def is_folder(path: Path) -> bool:
    """Tell whether a folder can be seen at `path`; one too long to be a path, or locked away, is none."""
    try:
        return path.is_dir()
    except OSError:
        return False


def is_there(path: Path) -> bool:
    """Tell whether anything can be seen at `path`; what is too long to be a path, or locked away, is not there."""
    try:
        return path.exists()
    except OSError:
        return False


def is_file(path: Path) -> bool:
    """Tell whether a file can be seen at `path`; one too long to be a path, or locked away, is none."""
    try:
        return path.is_file()
    except OSError:
        return False


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a file beside `path` to write, and put it in its place at the end: whole, or not at all where that fails."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
