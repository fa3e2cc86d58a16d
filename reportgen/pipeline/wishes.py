"""How a report is wanted, what a command leaves, and what whoever watches is told."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from reportgen.resources import DEFAULT_OUTPUT

if TYPE_CHECKING:
    from reportgen.report.model import Report
    from reportgen.runner.progress import Event

FORMATS = ("html", "pdf", "json")


@dataclasses.dataclass(frozen=True, kw_only=True)
class StageStarted:
    """A stage other than a pass starts: `text` says what is done, "analysing prefill"."""

    text: str


def _now() -> datetime:
    return datetime.now(UTC)


def _ignore(event: Event | StageStarted) -> None:
    """Watch a command without a word."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Wishes:
    """How the report is wanted, whatever it is made from.

    `output` is the folder in which the report's own folder is made; None means beside its recording, for `render`.
    `pdf_required` is True where the PDF was asked for by name, so that its absence is a failure.
    """

    output: Path | None = DEFAULT_OUTPUT
    formats: tuple[str, ...] = FORMATS
    pdf_required: bool = False
    thresholds: Mapping[str, float] = dataclasses.field(default_factory=dict)
    anonymous: bool = False
    progress: Callable[[Event | StageStarted], None] = _ignore
    now: Callable[[], datetime] = _now


@dataclasses.dataclass(frozen=True, kw_only=True)
class Written:
    """What a command leaves: the report, its files, what failed and what else is to be said, a line each.

    Of several ranks of one job only the first shows a summary.
    """

    report: Report
    folder: Path
    paths: tuple[Path, ...]
    failures: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    is_summarized: bool = True


def stages(wishes: Wishes) -> Callable[[str], None]:
    """Return what tells whoever watches that a stage starts."""
    return lambda text: wishes.progress(StageStarted(text=text))


def check_thresholds(wishes: Wishes) -> None:
    """Refuse an unknown threshold at once, not after minutes of profiling."""
    if wishes.thresholds:
        from reportgen.findings.evaluate import evaluate
        from reportgen.recording import Environment

        evaluate((), Environment(), thresholds=wishes.thresholds)
