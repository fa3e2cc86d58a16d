"""Where the program waits for the device: the user's line of each wait in one step."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import torch

from reportgen.recording import SyncSite
from reportgen.runner.failures import NotApplicableError
from reportgen.runner.places import is_user_code
from reportgen.runner.stepping import Stepper

# torch's words for a wait that an operator brings with it, under `set_sync_debug_mode("warn")`.
_WARNING = "called a synchronizing CUDA operation"
# Waits that the program asks for by name, of which that mode says nothing.
_EXPLICIT: tuple[tuple[Any, str], ...] = (
    (torch.cuda, "synchronize"),
    (torch.cuda.Stream, "synchronize"),
    (torch.cuda.Event, "synchronize"),
)


def watch_syncs(stepper: Stepper, device: torch.device, workload: Path) -> tuple[SyncSite, ...]:
    """Run one step and return the user's lines at which it waited for the device, most frequent first."""
    if device.type != "cuda":
        raise NotApplicableError("no device to wait for: the work is done on the host")
    stepper.prepare()
    stepper.clock.drain()
    found: Counter[tuple[str, int, str]] = Counter()

    def note() -> None:
        found[_innermost_user_line(workload)] += 1

    with _explicit_waits(note), _implied_waits(note):
        stepper.run()
    stepper.clock.drain()
    return tuple(
        SyncSite(file=file, line=line, function=function, count=count)
        for (file, line, function), count in found.most_common()
    )


@contextlib.contextmanager
def _implied_waits(note: Callable[[], None]) -> Iterator[None]:
    def show(message: Warning | str, *rest: Any, **more: Any) -> None:
        if _WARNING in str(message):
            note()
        else:
            shown_before(message, *rest, **more)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        shown_before = warnings.showwarning
        warnings.showwarning = show
        torch.cuda.set_sync_debug_mode("warn")
        try:
            yield
        finally:
            torch.cuda.set_sync_debug_mode("default")


@contextlib.contextmanager
def _explicit_waits(note: Callable[[], None]) -> Iterator[None]:
    originals = [(owner, name, getattr(owner, name)) for owner, name in _EXPLICIT]

    def noting(original: Callable[..., Any]) -> Callable[..., Any]:
        def wait(*arguments: Any, **keywords: Any) -> Any:
            note()
            return original(*arguments, **keywords)

        return wait

    for owner, name, original in originals:
        setattr(owner, name, noting(original))
    try:
        yield
    finally:
        for owner, name, original in originals:
            setattr(owner, name, original)


def _innermost_user_line(workload: Path) -> tuple[str, int, str]:
    """Return file, line and function of the innermost frame in the user's code, else of the innermost one."""
    innermost = sys._getframe(2)
    frame: FrameType | None = innermost
    while frame is not None and not is_user_code(frame.f_code.co_filename, workload):
        frame = frame.f_back
    found = frame or innermost
    return found.f_code.co_filename, found.f_lineno, found.f_code.co_qualname
