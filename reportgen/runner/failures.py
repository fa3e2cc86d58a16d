"""What went wrong in a pass, in one line."""

from __future__ import annotations

import traceback
from pathlib import Path

import torch

from reportgen.errors import UsageError
from reportgen.runner.places import is_user_code

_LONGEST_REASON = 500


class NotApplicableError(Exception):
    """The pass has nothing to do here; its text is the reason for which it is skipped."""


def is_out_of_memory(error: BaseException) -> bool:
    """Say whether the device had no memory left."""
    return isinstance(error, torch.OutOfMemoryError)


def is_device_lost(error: BaseException) -> bool:
    """Say whether the device's context is unusable after `error`, as after an illegal access."""
    return isinstance(error, torch.AcceleratorError)


def _first_line(text: str) -> str:
    """Return the first line with something on it, as text that every file and terminal takes."""
    # A message may hold a tensor of millions of elements on one line: what is far behind is nobody's reason.
    first = next((line.strip() for line in text[: 4 * _LONGEST_REASON].splitlines() if line.strip()), "")
    plain = "".join(character if character.isprintable() else "\ufffd" for character in first)
    return plain if len(plain) <= _LONGEST_REASON else plain[:_LONGEST_REASON] + "…"


def explain(error: BaseException, workload: Path) -> str:
    """Return one line: what `error` is, and where in the user's code, the module `workload` included, it came up."""
    first_line = _first_line(str(error))
    if isinstance(error, UsageError):
        return first_line
    if is_out_of_memory(error):
        # "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of …"
        wanted = first_line.partition("Tried to allocate ")[2].partition(". ")[0]
        said = "out of device memory" + (f": tried to allocate {wanted}" if wanted else "")
    else:
        said = f"{type(error).__name__}: {first_line}".removesuffix(": ")
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if is_user_code(frame.filename, workload):
            return f"{said} ({Path(frame.filename).name}:{frame.lineno})"
    return said
