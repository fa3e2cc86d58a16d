"""What a parent asks of its child process and what the child answers, one JSON line a message."""

from __future__ import annotations

from typing import Any

import msgspec

from reportgen.recording import Ceilings, Device, Environment, PassName, RecordedAlternative, RecordedCase
from reportgen.workload import Phase


class CaseWords(msgspec.Struct, frozen=True, kw_only=True):
    """A case as it travels: `workload.Case` in JSON."""

    name: str
    phase: Phase
    parameters: dict[str, Any]


class SurveyRequest(msgspec.Struct, frozen=True, kw_only=True, tag="survey"):
    """Look at the machine, and run the workload's module where its text does not tell the cases."""

    device: str  # auto, cuda, cuda:N or cpu
    workload: str | None = None  # path of a module to describe


class CaseRequest(msgspec.Struct, frozen=True, kw_only=True, tag="case"):
    """Run every pass of one case."""

    workload: str  # path of the module
    case: CaseWords
    device: str  # as the survey resolved it
    folder: str  # where the case's traces go
    recorded: RecordedCase  # what the parent knows of the case so far
    flags: dict[str, str | int | float | bool | None]  # the environment's, to tell what the case changes


class CeilingsRequest(msgspec.Struct, frozen=True, kw_only=True, tag="ceilings"):
    """Measure what a device reaches."""

    device: str  # as the survey resolved it


class CeilingsMeasured(msgspec.Struct, frozen=True, kw_only=True, tag="ceilings"):
    """What the device reached."""

    ceilings: Ceilings


class AlternativeRequest(msgspec.Struct, frozen=True, kw_only=True, tag="alternative"):
    """Try one alternative of one case."""

    workload: str  # path of the module
    case: CaseWords
    device: str
    name: str


class Refused(msgspec.Struct, frozen=True, kw_only=True, tag="refused"):
    """Nothing can run as it was asked for."""

    reason: str


class Surveyed(msgspec.Struct, frozen=True, kw_only=True, tag="surveyed"):
    """The machine, the device that was chosen, and the workload's outline where it was asked for."""

    environment: Environment
    device: str  # "cpu", "cuda:0"
    device_name: str  # "cpu", "h200": fit for a folder's name
    devices: tuple[Device, ...]
    workload_name: str | None = None
    workload_description: str | None = None
    cases: tuple[CaseWords, ...] = ()


class PassBegan(msgspec.Struct, frozen=True, kw_only=True, tag="pass"):
    """A pass begins, or goes on after another one in between."""

    name: PassName


class CaseState(msgspec.Struct, frozen=True, kw_only=True, tag="case"):
    """All that is known of the case now; takes the place of what was known before."""

    case: RecordedCase


class AlternativeTried(msgspec.Struct, frozen=True, kw_only=True, tag="tried"):
    """What became of an alternative."""

    alternative: RecordedAlternative


class ForkRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Fork a child that works on the request in the descriptor sent along; to a warm interpreter."""

    workload: str | None = None  # path of the module whose first imports are wanted


class ChildStarted(msgspec.Struct, frozen=True, kw_only=True, tag="started"):
    """A child was forked, in a session of its own."""

    process: int


class ChildEnded(msgspec.Struct, frozen=True, kw_only=True, tag="ended"):
    """The child that was forked last has ended: its exit code, negative for the signal that ended it."""

    code: int


Request = SurveyRequest | CaseRequest | CeilingsRequest | AlternativeRequest
Message = Refused | Surveyed | PassBegan | CaseState | CeilingsMeasured | AlternativeTried
