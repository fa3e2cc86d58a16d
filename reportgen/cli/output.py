"""What commands print, and the codes that they end with."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

GATE = 1
FAILED = 3


def complain(text: str, error: BaseException | None = None) -> None:
    """Say in one line what is wrong, and in another what an error was told on its way here."""
    for line in (text, *getattr(error, "__notes__", ())):
        print(f"reportgen: {line}", file=sys.stderr)  # noqa: T201 - the command line prints


def say(text: object) -> None:
    """Print a line on stdout."""
    print(text)  # noqa: T201 - the command line prints


def columns() -> int:
    """Return how wide the terminal is, 100 at the most."""
    import shutil

    return min(100, shutil.get_terminal_size((100, 24)).columns)


def open_first(paths: Sequence[Path]) -> None:
    """Open the first of `paths` in the browser."""
    import webbrowser

    if paths:
        webbrowser.open(paths[0].resolve().as_uri())
