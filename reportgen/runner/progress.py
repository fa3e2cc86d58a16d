"""What a run tells whoever watches it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from reportgen.recording import PassName, PassRecord, RecordedCase


@dataclasses.dataclass(frozen=True, kw_only=True)
class CaseStarted:
    """The child process of a case starts; `number` counts from 1 to `total`."""

    case: str
    number: int
    total: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class PassStarted:
    """A pass starts. Timing starts and ends several times: its blocks lie between the other passes."""

    case: str
    name: PassName


@dataclasses.dataclass(frozen=True, kw_only=True)
class PassEnded:
    """A pass ended; the seconds of timing are those of its blocks so far."""

    case: str
    record: PassRecord


@dataclasses.dataclass(frozen=True, kw_only=True)
class CaseEnded:
    """A case ended, one way or the other."""

    case: RecordedCase


Event = CaseStarted | PassStarted | PassEnded | CaseEnded
Progress = Callable[[Event], None]


def ignore(event: Event) -> None:
    """Watch a run without a word."""
