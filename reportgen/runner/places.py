"""Whose code a file is."""

from __future__ import annotations

import os
from pathlib import Path

_RUNNER = Path(__file__).parent
_STANDARD = Path(os.__file__).parent


def is_user_code(filename: str, workload: Path) -> bool:
    """Say whether `filename` is neither Python's, an installed package's, nor the runner's.

    What lies beside the module `workload` is the user's, wherever that is.
    """
    path = Path(filename)
    if not path.is_absolute():  # "<string>", "<frozen importlib._bootstrap>"
        return False
    if path.parent == workload.parent:
        return True
    installed = {"site-packages", "dist-packages"} & set(path.parts)
    return not installed and _RUNNER not in path.parents and _STANDARD not in path.parents
