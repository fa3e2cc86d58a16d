"""Every error that reportgen raises on purpose, and the exit code each one ends a command with.

::

    ReportgenError                  1 line for the user: what is wrong and what to do
    ├── UsageError                  exit 2: wrong option, key, name or workload module
    ├── RunFailed                   exit 3: a case or a requested document failed, the rest was written
    └── InputUnreadable             exit 4: a trace, recording, snapshot or report that yields nothing
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class ReportgenError(Exception):
    """Tell the user in one line what is wrong and what to do about it."""

    exit_code = 70


class UsageError(ReportgenError, ValueError):
    """A command line, a parameter or a workload module that cannot be used as it stands."""

    exit_code = 2


class RunFailed(ReportgenError):
    """A case or a document that was asked for failed; what could be written was written."""

    exit_code = 3


class InputUnreadable(ReportgenError, ValueError):
    """An input from which nothing can be read."""

    exit_code = 4


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """Return " Did you mean …?" with the choice closest to `word`, or "" where none is close."""
    close = difflib.get_close_matches(word, list(choices), n=1)
    return f" Did you mean {close[0]}?" if close else ""
