"""The three standard streams, made fit to be written to whatever the caller left of them."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TextIO


def steady_streams() -> None:
    """Put the null device where a standard stream is closed, and let the others take any character.

    A number left free would go to the next file that is opened: what is printed, or a library's warning, would end up
    in a report. What a terminal's encoding does not know is written as an escape.
    """
    descriptor = os.open(os.devnull, os.O_RDWR)
    while descriptor <= 2:
        os.set_inheritable(descriptor, True)
        descriptor = os.open(os.devnull, os.O_RDWR)
    os.close(descriptor)
    sys.stdout = _steady(sys.stdout)
    sys.stderr = _steady(sys.stderr)


def _steady(stream: TextIO | None) -> TextIO:
    if stream is None:
        return Path(os.devnull).open("w", encoding="utf-8")
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        # A path that is no text keeps its bytes where the encoding can: a program may read it.
        reconfigure(errors="surrogateescape" if _is_utf8(stream) else "backslashreplace")
    return stream


def _is_utf8(stream: TextIO) -> bool:
    return (stream.encoding or "").lower().replace("-", "") == "utf8"


def discard_output() -> None:
    """Forget what is still to be written on stdout, so that the interpreter does not try once more at its end."""
    _discard(1)


def settle_errors() -> None:
    """Write what is still to be said on stderr, or forget it: else the interpreter would end with code 120."""
    try:
        sys.stderr.flush()
    except OSError:
        _discard(2)


def _discard(number: int) -> None:
    descriptor = os.open(os.devnull, os.O_WRONLY)
    os.dup2(descriptor, number)
    os.close(descriptor)
