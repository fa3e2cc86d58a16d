"""Progress on stderr: a live line where that is a terminal, plain lines in a log."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from reportgen.formatting import duration, legible
from reportgen.pipeline import StageStarted
from reportgen.runner.progress import CaseEnded, CaseStarted, Event, PassEnded, PassStarted

if TYPE_CHECKING:
    from rich.status import Status

    from reportgen.recording import PassRecord, RecordedCase

Watch = Callable[[Event | StageStarted], None]


@contextlib.contextmanager
def watching(*, quiet: bool) -> Iterator[Watch]:
    """Yield the function that shows how a command gets on, for as long as it does."""
    if quiet:
        yield lambda event: None
        return
    from rich.console import Console

    console = Console(stderr=True, highlight=False, markup=False)
    if not console.is_terminal:
        yield _plain
        return
    with console.status("starting") as status:
        yield _Live(console.print, status)


def lines_of(event: Event | StageStarted) -> list[str]:
    """Return what there is to keep of an event, a line each; a start that says nothing new has none."""
    match event:
        case CaseStarted():
            return [f"{legible(event.case)} (case {event.number} of {event.total})"]
        case PassEnded():
            return [f"  {_of_pass(event.record)}"]
        case CaseEnded(case=case) if case.outcome != "done":
            return [f"  {_of_end(case)}"]
        case StageStarted():
            return [legible(event.text)]
    return []


def _plain(event: Event | StageStarted) -> None:
    with contextlib.suppress(OSError):  # nobody can be told; the work goes on
        for line in lines_of(event):
            print(line, file=sys.stderr, flush=True)  # noqa: T201 - progress is printed


class _Live:
    """What runs now behind a spinner, what is over above it."""

    def __init__(self, say: Callable[[str], None], status: Status) -> None:
        self._say = say
        self._status = status
        self._case = ""

    def __call__(self, event: Event | StageStarted) -> None:
        match event:
            case CaseStarted():
                self._case = f"{legible(event.case)} ({event.number} of {event.total})"
                self._status.update(f"{self._case}: starting")
            case PassStarted():
                self._status.update(f"{self._case}: {event.name}")
            case StageStarted():
                self._status.update(legible(event.text))
                return
        for line in lines_of(event):
            self._say(line)


def _of_pass(record: PassRecord) -> str:
    seconds = duration(record.seconds * 1e6, "s") if record.seconds and record.outcome != "skipped" else ""
    so_far = " so far" if record.name == "timing" and record.outcome == "done" else ""
    reason = f": {legible(record.reason)}" if record.reason else ""
    return f"{record.name:<9} {record.outcome:<8} {seconds}{so_far}{reason}".rstrip()


def _of_end(case: RecordedCase) -> str:
    return f"{case.outcome}: {legible(case.reason or 'no reason was recorded')}"
