"""The recording of a captured loop: its folder, and a manifest that is written anew after every pass."""

from __future__ import annotations

import re
import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from reportgen import __version__
from reportgen.errors import UsageError
from reportgen.recording import Generator, Manifest, PassRecord, RecordedCase, WorkloadInfo, write_manifest
from reportgen.runner.capture.ranks import Rank
from reportgen.runner.ceilings_cache import CeilingsKey, read_cached
from reportgen.runner.messages import Refused, Surveyed, SurveyRequest
from reportgen.runner.survey import survey
from reportgen.workload import Phase

CASE_FOLDER = "loop"


class Book:
    """The manifest of one captured loop on its way to the disk; `folder` is the recording's."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder = folder
        self._manifest = manifest
        write_manifest(folder, manifest)

    @property
    def case(self) -> RecordedCase:
        """What is known of the loop so far."""
        return self._manifest.cases[0]

    @property
    def case_folder(self) -> Path:
        """Where the loop's traces go."""
        return self.folder / CASE_FOLDER

    def update(self, **changes: Any) -> None:
        """Change fields of the case and write the manifest."""
        case = msgspec.structs.replace(self.case, **changes)
        self._manifest = msgspec.structs.replace(self._manifest, cases=(case,))
        write_manifest(self.folder, self._manifest)

    def put_pass(self, record: PassRecord, **changes: Any) -> None:
        """Put down what became of a pass, which may have begun earlier."""
        passes = {**{other.name: other for other in self.case.passes}, record.name: record}
        self.update(passes=tuple(passes.values()), **changes)


def open_book(name: str, output: Path, phase: Phase, device: str, rank: Rank, fields: dict[str, Any]) -> Book:
    """Make the folder of a recording below `output`, named after the loop, the device and the rank, and begin it.

    `fields` are those of `RecordedCase` that are known already. Raises `UsageError` where the folder cannot be made or
    the device is not there.
    """
    surveyed = survey(SurveyRequest(device=device))
    if isinstance(surveyed, Refused):
        raise UsageError(surveyed.reason)
    parts = [re.sub(r"[^A-Za-z0-9._=-]+", "-", name).strip(".-") or "loop", surveyed.device_name]
    parameters = {} if rank.is_alone else {"rank": rank.number, "num_ranks": rank.size}
    if not rank.is_alone:
        parts.append(f"rank{rank.number}")
    now = datetime.now(UTC)
    folder = _make_folder(output, "-".join(parts), now)
    case = RecordedCase(
        name=phase, phase=phase, folder=CASE_FOLDER, parameters=parameters, device=surveyed.device, **fields
    )
    description = f"a loop of {Path(sys.argv[0]).name or 'Python'}, captured as it ran"
    if not rank.is_alone:
        description += f"; rank {rank.number} of {rank.size}, each of which has a recording of its own"
    manifest = Manifest(
        generator=Generator(name="reportgen", version=__version__),
        created_at=now.isoformat(timespec="seconds").replace("+00:00", "Z"),
        command=shlex.join(["python", *sys.argv]),
        workload=WorkloadInfo(name=name, description=description),
        environment=surveyed.environment,
        devices=_with_cached_ceilings(surveyed),
        cases=(case,),
    )
    return Book(folder, manifest)


def _make_folder(output: Path, name: str, now: datetime) -> Path:
    """Make the recording in ``output/name-20261129T154700Z``, which there was not before, with the loop's folder."""
    stem, number = f"{name}-{now:%Y%m%dT%H%M%SZ}", 1
    while True:
        folder = output / (stem if number == 1 else f"{stem}-{number}") / "recording"
        try:
            (folder / CASE_FOLDER).mkdir(parents=True)
        except FileExistsError:
            number += 1
        except OSError as error:
            raise UsageError(f"{folder} cannot be made ({error.strerror}): choose another output=") from error
        else:
            return folder


def _with_cached_ceilings(surveyed: Surveyed) -> tuple[Any, ...]:
    """Give devices the ceilings measured earlier: measuring them now would take from the program's own device."""
    found = []
    for device in surveyed.devices:
        key = CeilingsKey(
            device=device.name,
            multiprocessors=device.multiprocessors,
            driver=surveyed.environment.driver,
            torch=surveyed.environment.torch,
        )
        ceilings = read_cached(key)
        found.append(msgspec.structs.replace(device, ceilings=ceilings) if ceilings else device)
    return tuple(found)
