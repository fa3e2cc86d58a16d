"""What commands print, and the codes that they end with."""

from __future__ import annotations

import contextlib
import sys
from pathlib import PurePath
from typing import TYPE_CHECKING

from reportgen.cli.streams import discard_output
from reportgen.errors import RunFailed
from reportgen.formatting import legible, printable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

GATE = 1
FAILED = 3
_LONGEST_COMPLAINT = 2000


def complain(text: str, error: BaseException | None = None) -> None:
    """Say in one line what is wrong, and in another what an error was told on its way here."""
    for line in (text, *getattr(error, "__notes__", ())):
        with contextlib.suppress(OSError):  # where nobody can be told, the exit code still tells
            print(legible(f"reportgen: {line}", _LONGEST_COMPLAINT), file=sys.stderr)  # noqa: T201 - the command line


def say(text: object) -> None:
    """Print lines on stdout: a path as it is, for programs, any other text without what a terminal would act on.

    Raises `RunFailed` where they cannot be written.
    """
    try:
        print(text if isinstance(text, PurePath) else printable(str(text)), flush=True)  # noqa: T201 - it prints
    except BrokenPipeError:
        raise
    except OSError as error:
        discard_output()
        raise RunFailed(
            f"the output cannot be written ({error.strerror}): give standard output room, or send it elsewhere"
        ) from error


def columns() -> int:
    """Return how wide the terminal is, 100 at the most; 80 where the output is none, as logs are read."""
    import shutil

    return min(100, shutil.get_terminal_size((80, 24)).columns)


def open_first(paths: Sequence[Path]) -> None:
    """Open the first of `paths` in the browser."""
    import webbrowser

    if paths:
        webbrowser.open(paths[0].resolve().as_uri())
