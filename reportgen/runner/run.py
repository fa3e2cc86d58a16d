"""Record a workload: the parent of the child processes, and the only writer of the recording's manifest."""

from __future__ import annotations

import dataclasses
import importlib.util
import re
import tempfile
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from reportgen import __version__
from reportgen.errors import UsageError
from reportgen.recording import (
    Ceilings,
    Generator,
    Manifest,
    PassName,
    PassRecord,
    RecordedCase,
    Recording,
    WorkloadInfo,
    write_manifest,
)
from reportgen.runner.interpreters import WarmInterpreter
from reportgen.runner.limits import obtain_ceilings
from reportgen.runner.messages import CaseRequest, CaseState, CaseWords, PassBegan, Refused, Surveyed, SurveyRequest
from reportgen.runner.process import Child, TimedOut
from reportgen.runner.progress import CaseEnded, CaseStarted, PassEnded, PassStarted, Progress, ignore
from reportgen.workload import Case, Outline, read_outline, select_cases
from reportgen.workload.modules import NotLiteral

LOG_NAME = "log.txt"
_LONGEST_FOLDER_NAME = 100


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What a command line says about a run, by the names of its options (docs/guide.md)."""

    device: str = "auto"
    cases: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    sweeps: tuple[str, ...] = ()
    timeout_s: float | None = None
    # The alternatives to try of every case; None means those that the findings suggest.
    alternatives: tuple[str, ...] | None = None
    command: str = ""


def record(
    workload: Path,
    place: Callable[[str, str], Path],
    options: RunOptions | None = None,
    progress: Progress = ignore,
    warm: WarmInterpreter | None = None,
) -> Recording:
    """Run the cases of the module `workload` that `options` choose, each in a child process, into a recording.

    `place` is called once, when nothing can be refused any more, with the workload's name and a short name of the
    device ("cpu", "h200"); it returns the folder of the recording, which is made. A case that fails costs only itself:
    its outcome and reason are in the recording. The processes are forked from `warm` where that is given. Raises
    `UsageError` where nothing can run as asked.
    """
    options = options or RunOptions()
    if importlib.util.find_spec("torch") is None:
        raise UsageError("profiling a workload needs torch, which is not installed; try: pip install 'reportgen[run]'")
    outline = _try_outline(workload)
    if outline is not None:  # what is wrong with the options shows before anything is started
        _select(outline.cases, options)
    surveyed = _survey(SurveyRequest(device=options.device, workload=None if outline else str(workload)), warm)
    outline = outline or _outline(workload, surveyed)
    cases = _select(outline.cases, options)

    folder = place(outline.name, surveyed.device_name)
    folder.mkdir(parents=True, exist_ok=True)
    book = _Book(folder, _first_manifest(outline, cases, surveyed, options.command))
    for number, case in enumerate(cases):
        progress(CaseStarted(case=case.name, number=number + 1, total=len(cases)))
        if number == 0:
            _measure_ceilings(book, options.timeout_s, progress, warm)
        request = CaseRequest(
            workload=str(workload),
            case=_words(case),
            device=surveyed.device,
            folder=str(folder / book.case(number).folder),
            recorded=book.case(number),
            flags=surveyed.environment.flags,
        )
        _run_case(request, number, book, options.timeout_s, progress, warm)
        progress(CaseEnded(case=book.case(number)))
    return Recording(path=folder, manifest=book.manifest)


class _Book:
    """The manifest on its way to the disk: each change is written at once."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self._folder = folder
        self.manifest = manifest
        for case in manifest.cases:
            (folder / case.folder).mkdir(exist_ok=True)
        write_manifest(folder, manifest)

    def case(self, number: int) -> RecordedCase:
        return self.manifest.cases[number]

    def put_ceilings(self, ceilings: Ceilings, record: PassRecord) -> None:
        """Give the device its ceilings and the first case the pass that found them."""
        device, *others = self.manifest.devices
        devices = (msgspec.structs.replace(device, ceilings=ceilings), *others)
        self.manifest = msgspec.structs.replace(self.manifest, devices=devices)
        self.put(0, msgspec.structs.replace(self.case(0), passes=(record,)))

    def log(self, number: int) -> Path:
        return self._folder / self.case(number).folder / LOG_NAME

    def put(self, number: int, case: RecordedCase) -> None:
        cases = list(self.manifest.cases)
        cases[number] = case
        self.manifest = msgspec.structs.replace(self.manifest, cases=tuple(cases))
        write_manifest(self._folder, self.manifest)


def _measure_ceilings(book: _Book, timeout_s: float | None, progress: Progress, warm: WarmInterpreter | None) -> None:
    """Find out, once a run, what the device reaches; a host that is its own device has no ceilings."""
    first, manifest = book.case(0), book.manifest
    if not manifest.devices or first.device is None:
        return
    progress(PassStarted(case=first.name, name="ceilings"))
    device, environment = manifest.devices[0], manifest.environment
    ceilings, found = obtain_ceilings(device, first.device, environment, book.log(0), timeout_s, warm)
    book.put_ceilings(ceilings, found)
    progress(PassEnded(case=first.name, record=found))


def _run_case(
    request: CaseRequest,
    number: int,
    book: _Book,
    timeout_s: float | None,
    progress: Progress,
    warm: WarmInterpreter | None,
) -> None:
    """Run one case to its end, whatever that is, and write down what the child says of it."""
    running: PassName | None = None
    start = time.monotonic()
    with Child(request, Path(request.folder) / LOG_NAME, warm) as child:
        try:
            for message in child.messages(timeout_s):
                if isinstance(message, PassBegan):
                    running, start = message.name, time.monotonic()
                    progress(PassStarted(case=request.case.name, name=message.name))
                elif isinstance(message, CaseState):
                    book.put(number, message.case)
                    ended = running and message.case.pass_record(running)
                    if ended:
                        progress(PassEnded(case=request.case.name, record=ended))
                        running = None
            reason = child.verdict()
        except TimedOut:
            reason = f"not done after {timeout_s:g} s, the time-out"
    case = book.case(number)
    if case.outcome == "unfinished":
        reason = reason or "its process ended early"
        book.put(number, _broken_off(case, running, time.monotonic() - start, reason))


def _broken_off(case: RecordedCase, running: PassName | None, seconds: float, reason: str) -> RecordedCase:
    """Return `case` failed for `reason`, which came upon it in the pass `running`."""
    passes = case.passes
    if running is not None:
        failed = PassRecord(name=running, outcome="failed", seconds=seconds, reason=reason)
        passes = (*(record for record in passes if record.name != running), failed)
        reason = f"{running}: {reason}"
    return msgspec.structs.replace(case, passes=passes, outcome="failed", reason=reason)


def _survey(request: SurveyRequest, warm: WarmInterpreter | None) -> Surveyed:
    """Look at the machine in a child process; raise `UsageError` where it cannot do what is asked."""
    with tempfile.TemporaryDirectory(prefix="reportgen-") as scratch:
        log = Path(scratch) / LOG_NAME
        with Child(request, log, warm) as child:
            for message in child.messages():
                if isinstance(message, Refused):
                    raise UsageError(message.reason)
                if isinstance(message, Surveyed):
                    return message
            verdict = child.verdict() or "its process ended early"
        lines = log.read_text(errors="replace").strip().splitlines()
    subject = f"{request.workload} cannot be loaded" if request.workload else "torch does not start on this machine"
    raise UsageError(f"{subject}: {lines[-1] if lines else verdict}")


def _try_outline(workload: Path) -> Outline | None:
    try:
        return read_outline(workload)
    except NotLiteral:
        return None


def _outline(workload: Path, surveyed: Surveyed) -> Outline:
    return Outline(
        path=workload,
        name=surveyed.workload_name or workload.stem,
        description=surveyed.workload_description or "",
        cases=tuple(Case(words.name, phase=words.phase, **words.parameters) for words in surveyed.cases),
    )


def _select(cases: Iterable[Case], options: RunOptions) -> tuple[Case, ...]:
    return select_cases(tuple(cases), names=options.cases, settings=options.settings, sweeps=options.sweeps)


def _words(case: Case) -> CaseWords:
    return CaseWords(name=case.name, phase=case.phase, parameters=dict(case.parameters))


def _first_manifest(outline: Outline, cases: tuple[Case, ...], surveyed: Surveyed, command: str) -> Manifest:
    folders = _folder_names([case.name for case in cases])
    return Manifest(
        generator=Generator(name="reportgen", version=__version__),
        created_at=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        command=command,
        workload=WorkloadInfo(name=outline.name, description=outline.description),
        environment=surveyed.environment,
        devices=surveyed.devices,
        cases=tuple(
            RecordedCase(
                name=case.name,
                phase=case.phase,
                folder=folder,
                parameters=dict(case.parameters),
                device=surveyed.device,
            )
            for case, folder in zip(cases, folders, strict=True)
        ),
    )


def _folder_names(names: list[str]) -> list[str]:
    """Return a folder name for each of `names`: the same where it is fit for one, and no two alike."""
    folders: list[str] = []
    for name in names:
        fit = re.sub(r"[^A-Za-z0-9._=-]+", "-", name)[:_LONGEST_FOLDER_NAME].strip(".-") or "case"
        number = 2
        unique = fit
        while unique.lower() in {folder.lower() for folder in folders}:
            unique, number = f"{fit}-{number}", number + 1
        folders.append(unique)
    return folders
