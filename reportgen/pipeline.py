"""The stages in a row: record, read, analyse, judge, write. The only module that knows runner and report both."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from reportgen.errors import UsageError, did_you_mean
from reportgen.recording import MANIFEST_NAME, Recording

if TYPE_CHECKING:
    from reportgen.analysis.step_export import StepExport
    from reportgen.history.model import ReportDifference
    from reportgen.report.model import Report
    from reportgen.runner.exec_script import ScriptRequest
    from reportgen.runner.progress import Event
    from reportgen.runner.run import RunOptions

FORMATS = ("html", "pdf", "json")
RECORDING_FOLDER = "recording"
_LONGEST_NAME_BYTES = 200


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

    output: Path | None = Path("reports")
    formats: tuple[str, ...] = FORMATS
    pdf_required: bool = False
    thresholds: Mapping[str, float] = dataclasses.field(default_factory=dict)
    anonymous: bool = False
    progress: Callable[[Event | StageStarted], None] = _ignore
    now: Callable[[], datetime] = _now


@dataclasses.dataclass(frozen=True, kw_only=True)
class Written:
    """What a command leaves: the report, its files, what failed and what else is to be said, a line each."""

    report: Report
    folder: Path
    paths: tuple[Path, ...]
    failures: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def run_workload(workload: Path, options: RunOptions, wishes: Wishes) -> Written:
    """Profile the cases of the module `workload` and write their report beside the recording.

    A case that fails costs only itself and is one of the failures. Raises `UsageError` where nothing can run as asked.
    """
    from reportgen.runner.alternatives.attempts import try_alternatives
    from reportgen.runner.run import record

    _check_thresholds(wishes)
    parent = wishes.output or Path("reports")
    places: list[Path] = []

    def place(workload_name: str, device_name: str) -> Path:
        places.append(_new_folder(parent, f"{workload_name}-{device_name}", wishes.now()) / RECORDING_FOLDER)
        return places[-1]

    with _saying_what_is_kept(places):
        recording = record(workload, place, options, wishes.progress)
        folder = recording.path.parent
        if options.alternatives is None:
            assembled = _assembled(recording, folder, "workload", wishes)
            wanted = _suggested(assembled[0])
        else:
            assembled, wanted = None, {case.name: options.alternatives for case in recording.manifest.cases}
        if any(wanted.values()):
            recording = try_alternatives(recording, workload, wanted, wishes.progress, options.timeout_s)
            assembled = None
        # What was analysed to see what to try is the report, where there was nothing to try.
        return _report(assembled or _assembled(recording, folder, "workload", wishes), folder, wishes)


def _suggested(report: Report) -> dict[str, tuple[str, ...]]:
    """Return for each case the alternatives by which its findings can be measured."""
    names: dict[str, tuple[str, ...]] = {case.name: () for case in report.cases}
    for finding in report.findings:
        if finding.case is not None:
            names[finding.case] = tuple(dict.fromkeys((*names[finding.case], *finding.tries)))
    return names


def exec_script(request: ScriptRequest, wishes: Wishes) -> Written:
    """Run a script unchanged, capture a window of its loop, and write the report beside the recording.

    A script that fails is one of the failures. Raises `UsageError` where no step of it was seen.
    """
    from reportgen.runner.exec_script import run_script

    _check_thresholds(wishes)
    _require_torch("running a script")
    run = run_script(request)
    written = _report_recording(Recording.open(run.recording), run.recording.parent, wishes)
    failed = (f"{Path(request.script).name} ended with exit code {run.exit_code}",) if run.exit_code else ()
    return dataclasses.replace(written, failures=(*written.failures, *failed))


def _require_torch(doing: str) -> None:
    if importlib.util.find_spec("torch") is None:
        raise UsageError(f"{doing} needs torch, which is not installed; try: pip install 'reportgen[run]'")


def render_recording(path: Path, wishes: Wishes) -> Written:
    """Write the documents of the recording in `path`, or in `path`/recording, again."""
    _check_thresholds(wishes)
    recording = open_recording(path)
    home = recording.path.resolve()
    folder = home.parent if wishes.output is None else wishes.output / _name_of(home)
    _make_folder(folder)
    return _report_recording(recording, folder, wishes)


def analyze_path(path: Path, snapshot: Path | None, wishes: Wishes) -> Written:
    """Write the report of a trace file from elsewhere, or of a recording, in a folder named after it.

    Raises `InputUnreadable` where `path` yields nothing.
    """
    _check_thresholds(wishes)
    parent = wishes.output or Path("reports")
    if path.is_dir():
        if snapshot is not None:
            raise UsageError("--memory goes with a trace file: a recording has its memory history inside")
        recording = open_recording(path)
        folder = _new_folder(parent, _name_of(recording.path.resolve()), wishes.now())
        return _report_recording(recording, folder, wishes)
    return _report_trace(path, snapshot, parent, wishes)


def what_if(path: Path, rules: Sequence[str], wishes: Wishes) -> Report:
    """Return the report in `path` judged anew, the fixes of `rules` put one after the other in that order; none: all.

    Raises `InputUnreadable` where the recording or the trace that the report was made from does not lie where the
    report says, `UsageError` for a rule that there is not.
    """
    from reportgen.report.assemble import assemble_recording, assemble_trace
    from reportgen.report.json import read_input

    _check_rules(rules)
    given, source = read_input(path)
    if given.kind == "trace":
        report, _ = assemble_trace(source, None, wishes.now(), wishes.thresholds, _stages(wishes), rules)
    else:
        recording = open_recording(source)
        report, _ = assemble_recording(recording, given, wishes.thresholds, _stages(wishes), rules)
    return report


def _check_rules(names: Sequence[str]) -> None:
    from reportgen.findings.rules import RULES

    known = [rule.id for rule in RULES]
    for name in names:
        if name not in known:
            raise UsageError(
                f"no rule is called {name!r}.{did_you_mean(name, known) or ' There are ' + ', '.join(known)}"
            )


def open_recording(path: Path) -> Recording:
    """Open the recording in `path` or in the folder "recording" inside; raise `InputUnreadable` where there is none."""
    inside = path / RECORDING_FOLDER
    return Recording.open(inside if (inside / MANIFEST_NAME).is_file() else path)


def _stages(wishes: Wishes) -> Callable[[str], None]:
    """Return what tells whoever watches that a stage starts."""
    return lambda text: wishes.progress(StageStarted(text=text))


def _report_recording(recording: Recording, folder: Path, wishes: Wishes) -> Written:
    return _report(_assembled(recording, folder, "recording", wishes), folder, wishes)


def _assembled(
    recording: Recording, folder: Path, kind: Literal["workload", "recording"], wishes: Wishes
) -> tuple[Report, list[StepExport]]:
    from reportgen.report.assemble import assemble_recording
    from reportgen.report.model import ReportInput

    given = ReportInput(kind=kind, path=_path_from(folder, recording.path), command=recording.manifest.command)
    return assemble_recording(recording, given, wishes.thresholds, _stages(wishes))


def _report(assembled: tuple[Report, list[StepExport]], folder: Path, wishes: Wishes) -> Written:
    """Write a report; the cases of a run of its own that failed are failures."""
    report, steps = assembled
    failed = [case for case in report.cases if case.outcome == "failed"] if report.input.kind == "workload" else []
    failures = tuple(f"{case.name} failed: {case.reason or 'no reason was recorded'}" for case in failed)
    return _write(report, steps, folder, failures, wishes)


def _report_trace(path: Path, snapshot: Path | None, parent: Path, wishes: Wishes) -> Written:
    from reportgen.report.anonymous import cleaner
    from reportgen.report.assemble import assemble_trace

    report, steps = assemble_trace(path, snapshot, wishes.now(), wishes.thresholds, _stages(wishes))
    name = report.cases[0].name
    if wishes.anonymous:  # torch names its traces after the host
        name = cleaner(report.environment)(name)
    folder = _new_folder(parent, name, wishes.now())
    words = ["python", "-m", "reportgen", "analyze", path.name, *(["--memory", snapshot.name] if snapshot else [])]
    given = msgspec.structs.replace(report.input, path=_path_from(folder, path), command=shlex.join(words))
    return _write(msgspec.structs.replace(report, input=given), steps, folder, (), wishes)


def _write(
    report: Report, steps: Sequence[StepExport], folder: Path, failures: tuple[str, ...], wishes: Wishes
) -> Written:
    from reportgen.report.anonymous import anonymous, anonymous_step
    from reportgen.report.documents import write_documents

    if wishes.anonymous:
        steps = [anonymous_step(step, report.environment) for step in steps]
        report = anonymous(report)
    formats, missing = _possible(wishes, report, folder)
    wishes.progress(StageStarted(text="writing the documents"))
    try:
        written = write_documents(report, folder, formats, step_exports=steps)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written ({error.strerror}): choose another folder with -o") from error
    documents = {f"report.{name}" for name in formats}
    return Written(
        report=report,
        folder=folder,
        paths=tuple(path for path in written if path.name in documents),
        failures=(*failures, *missing) if wishes.pdf_required else failures,
        remarks=() if wishes.pdf_required else missing,
    )


def _possible(wishes: Wishes, report: Report, folder: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the wished formats that this machine can write, and what to say of the one that it cannot."""
    if "pdf" not in wishes.formats:
        return wishes.formats, ()
    from reportgen.report.pdf import PdfUnavailable, require_pango

    try:
        require_pango()
    except PdfUnavailable as error:
        again = "analyze the trace again" if report.input.kind == "trace" else f"reportgen render {folder}"
        return tuple(name for name in wishes.formats if name != "pdf"), (f"{error}, then {again}",)
    return wishes.formats, ()


def write_comparison(
    difference: ReportDifference, parent: Path, formats: Sequence[str], now: datetime | None = None
) -> tuple[list[Path], tuple[str, ...]]:
    """Write a comparison into a folder of its own under `parent`; return its files and what could not be written."""
    from reportgen.history import comparison_files
    from reportgen.report.pdf import PdfUnavailable, require_pango

    missing: tuple[str, ...] = ()
    if "pdf" in formats:
        try:
            require_pango()
        except PdfUnavailable as error:
            formats, missing = [name for name in formats if name != "pdf"], (str(error),)
    folder = _new_folder(parent, f"compare-{difference.new.workload or 'reports'}", now or _now())
    return comparison_files.write_comparison(difference, folder, formats), missing


def _check_thresholds(wishes: Wishes) -> None:
    """Refuse an unknown threshold at once, not after minutes of profiling."""
    if wishes.thresholds:
        from reportgen.findings.evaluate import evaluate
        from reportgen.recording import Environment

        evaluate((), Environment(), thresholds=wishes.thresholds)


@contextlib.contextmanager
def _saying_what_is_kept(places: Sequence[Path]) -> Iterator[None]:
    """Add to whatever ends a run early where its recording lies."""
    try:
        yield
    except BaseException as error:
        if places and (places[0] / MANIFEST_NAME).is_file():
            error.add_note(f"what was recorded is kept; the report of it: reportgen render {places[0]}")
        raise


def _name_of(recording: Path) -> str:
    """Return what a report of the recording in this folder is called."""
    return recording.parent.name if recording.name == RECORDING_FOLDER else recording.name


def _path_from(folder: Path, path: Path) -> str:
    """Return `path` as seen from the report's folder where it lies inside, else in full."""
    path, folder = path.resolve(), folder.resolve()
    return os.path.relpath(path, folder) if path.is_relative_to(folder) else str(path)


def _new_folder(parent: Path, name: str, now: datetime) -> Path:
    """Make a folder that there was not before: ``parent/name-20261129T154700Z``."""
    stem = f"{_fit_for_file(name)}-{now.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    folder, number = parent / stem, 1
    while os.path.lexists(folder):
        number += 1
        folder = parent / f"{stem}-{number}"
    _make_folder(folder)
    return folder


def _fit_for_file(name: str) -> str:
    """Return `name` as a part of one path, cut where no room is left for what is put behind it (255 bytes in all)."""
    fit = re.sub(r"[/\\\x00-\x1f\x7f]+", "-", name).lstrip(".-") or "report"
    return fit.encode(errors="replace")[:_LONGEST_NAME_BYTES].decode(errors="ignore")


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder} cannot be made ({error.strerror}): choose another folder with -o") from error
