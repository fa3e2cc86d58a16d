"""Where the templates and the workloads are: inside an installed package, beside it in a checkout."""

from __future__ import annotations

from pathlib import Path

from reportgen.errors import ReportgenError

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
