"""Rest for Python's garbage collector while a document is made of a great many objects that all live to its end."""

from __future__ import annotations

import contextlib
import gc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def no_collection() -> Iterator[None]:
    """Keep the cyclic collector from going through the objects again and again: a quarter of a PDF's time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
