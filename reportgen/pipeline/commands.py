"""What each command that makes a report does, stage by stage: record, read, analyse, judge, write."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from reportgen.errors import UsageError, did_you_mean
from reportgen.pipeline.documents import write_report
from reportgen.pipeline.folders import RECORDING_FOLDER, make_folder, name_of, new_folder, open_recording, path_from
from reportgen.pipeline.wishes import Wishes, Written, check_thresholds, stages
from reportgen.recording import MANIFEST_NAME, Recording
from reportgen.resources import DEFAULT_OUTPUT, is_folder

if TYPE_CHECKING:
    from reportgen.analysis.one_step.step_export import StepExport
    from reportgen.report.model import Report
    from reportgen.runner.exec_script import ScriptRequest, ScriptRun
    from reportgen.runner.run import RunOptions


def run_workload(workload: Path, options: RunOptions, wishes: Wishes) -> Written:
    """Profile the cases of the module `workload` and write their report beside the recording.

    A case that fails costs only itself and is one of the failures. Raises `UsageError` where nothing can run as asked.
    """
    from reportgen.runner.alternatives.attempts import try_alternatives
    from reportgen.runner.interpreters import WarmInterpreter
    from reportgen.runner.run import record

    check_thresholds(wishes)
    parent = wishes.output or DEFAULT_OUTPUT
    places: list[Path] = []

    def place(workload_name: str, device_name: str) -> Path:
        places.append(new_folder(parent, f"{workload_name}-{device_name}", wishes.now()) / RECORDING_FOLDER)
        return places[-1]

    with _saying_what_is_kept(places), WarmInterpreter() as warm:
        recording = record(workload, place, options, wishes.progress, warm)
        folder = recording.path.parent
        if options.alternatives is None:
            assembled = _assembled(recording, folder, "workload", wishes)
            wanted = _suggested(assembled[0])
        else:
            assembled, wanted = None, {case.name: options.alternatives for case in recording.manifest.cases}
        if any(wanted.values()):
            recording = try_alternatives(recording, workload, wanted, wishes.progress, options.timeout_s, warm)
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


@contextlib.contextmanager
def _saying_what_is_kept(places: Sequence[Path]) -> Iterator[None]:
    """Add to whatever ends a run early where its recording lies."""
    try:
        yield
    except BaseException as error:
        if places and (places[0] / MANIFEST_NAME).is_file():
            error.add_note(f"what was recorded is kept; the report of it: reportgen render {places[0]}")
        raise


def exec_script(request: ScriptRequest, wishes: Wishes) -> Written:
    """Run a script unchanged, capture a window of its loop, and write the report beside the recording.

    A script that fails, or of which no step was recorded, is one of the failures. Of several ranks of one job the first
    alone writes documents, of itself; the others only record. Raises `UsageError` where no step of it was seen.
    """
    from reportgen.runner.exec_script import run_script

    check_thresholds(wishes)
    _require_torch("running a script")
    run = run_script(request)
    recording = Recording.open(run.recording)
    rank = recording.manifest.cases[0].parameters.get("rank") or 0
    if rank:
        wishes = dataclasses.replace(wishes, formats=(), pdf_required=False)
    written = _report_recording(recording, run.recording.parent, wishes)
    if rank:
        remark = f"rank {rank} is recorded; rank 0 has the report; for this one's: reportgen render {run.recording}"
        written = dataclasses.replace(written, remarks=(*written.remarks, remark), is_summarized=False)
    return dataclasses.replace(written, failures=(*written.failures, *_script_failures(request, run, recording)))


def _script_failures(request: ScriptRequest, run: ScriptRun, recording: Recording) -> tuple[str, ...]:
    name = Path(request.script).name
    if run.exit_code:
        return (f"{name} ended with exit code {run.exit_code}",)
    (case,) = recording.manifest.cases
    if not any(record.outcome == "done" for record in case.passes):
        return (f"{name}: {case.reason or 'no step was recorded'}",)
    return ()


def _require_torch(doing: str) -> None:
    if importlib.util.find_spec("torch") is None:
        raise UsageError(f"{doing} needs torch, which is not installed; try: pip install 'reportgen[run]'")


def render_recording(path: Path, wishes: Wishes) -> Written:
    """Write the documents of the recording in `path`, or in `path`/recording, again."""
    check_thresholds(wishes)
    recording = open_recording(path)
    home = recording.path.resolve()
    folder = home.parent if wishes.output is None else wishes.output / name_of(home)
    make_folder(folder)
    return _report_recording(recording, folder, wishes)


def analyze_path(path: Path, snapshot: Path | None, wishes: Wishes) -> Written:
    """Write the report of a trace file from elsewhere, or of a recording, in a folder named after it.

    Raises `InputUnreadable` where `path` yields nothing.
    """
    check_thresholds(wishes)
    parent = wishes.output or DEFAULT_OUTPUT
    if is_folder(path):
        if snapshot is not None:
            raise UsageError("--memory goes with a trace file: a recording has its memory history inside")
        recording = open_recording(path)
        folder = new_folder(parent, name_of(recording.path.resolve()), wishes.now())
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
        report, _ = assemble_trace(source, None, wishes.now(), wishes.thresholds, stages(wishes), rules)
    else:
        recording = open_recording(source)
        report, _ = assemble_recording(recording, given, wishes.thresholds, stages(wishes), rules)
    return report


def _check_rules(names: Sequence[str]) -> None:
    from reportgen.findings.rules import RULES

    known = [rule.id for rule in RULES]
    for name in names:
        if name not in known:
            raise UsageError(
                f"no rule is called {name!r}.{did_you_mean(name, known) or ' There are ' + ', '.join(known)}"
            )


def _report_recording(recording: Recording, folder: Path, wishes: Wishes) -> Written:
    return _report(_assembled(recording, folder, "recording", wishes), folder, wishes)


def _assembled(
    recording: Recording, folder: Path, kind: Literal["workload", "recording"], wishes: Wishes
) -> tuple[Report, list[StepExport]]:
    from reportgen.report.assemble import assemble_recording
    from reportgen.report.model import ReportInput

    given = ReportInput(kind=kind, path=path_from(folder, recording.path), command=recording.manifest.command)
    return assemble_recording(recording, given, wishes.thresholds, stages(wishes))


def _report(assembled: tuple[Report, list[StepExport]], folder: Path, wishes: Wishes) -> Written:
    """Write a report; the cases of a run of its own that failed are failures."""
    report, steps = assembled
    failed = [case for case in report.cases if case.outcome == "failed"] if report.input.kind == "workload" else []
    failures = tuple(f"{case.name} failed: {case.reason or 'no reason was recorded'}" for case in failed)
    return write_report(report, steps, folder, failures, wishes)


def _report_trace(path: Path, snapshot: Path | None, parent: Path, wishes: Wishes) -> Written:
    from reportgen.report.anonymous import cleaner
    from reportgen.report.assemble import assemble_trace

    report, steps = assemble_trace(path, snapshot, wishes.now(), wishes.thresholds, stages(wishes))
    name = report.cases[0].name
    if wishes.anonymous:  # torch names its traces after the host
        name = cleaner(report.environment)(name)
    folder = new_folder(parent, name, wishes.now())
    words = ["python", "-m", "reportgen", "analyze", path.name, *(["--memory", snapshot.name] if snapshot else [])]
    given = msgspec.structs.replace(report.input, path=path_from(folder, path), command=shlex.join(words))
    return write_report(msgspec.structs.replace(report, input=given), steps, folder, (), wishes)
