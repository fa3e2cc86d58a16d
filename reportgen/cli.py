"""The command line: parse, call, print. What the commands do is in `pipeline` and `doctor`.

Nothing heavy is imported before the command that needs it runs, so ``--help`` answers at once.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from reportgen import __version__, arguments, night_arguments
from reportgen.arguments import Command
from reportgen.errors import ReportgenError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reportgen.display import Watch
    from reportgen.history.compare import KnownSpread
    from reportgen.pipeline import Wishes, Written
    from reportgen.report.model import Report
    from reportgen.runner.run import RunOptions

GATE = 1
FAILED = 3
DEFECT = 70
INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; whatever is raised becomes one line on stderr."""
    words = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in words
    try:
        return _run(words)
    except ReportgenError as error:
        if debug:
            traceback.print_exc()
        _complain(str(error), error)
        return error.exit_code
    except KeyboardInterrupt as error:
        _complain("interrupted", error)
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has seen enough; a traceback at the interpreter's exit would be noise.
        sys.stdout = None
        return 0
    except Exception as error:  # noqa: BLE001 - a boundary named in the design: a defect is one line and a log
        if debug:
            traceback.print_exc()
        _complain(f"a defect in reportgen: {type(error).__name__}: {error}; {_write_log(words)}", error)
        return DEFECT


def _run(words: list[str]) -> int:
    words = arguments.with_command(words, COMMANDS, _workload_names)
    parsed = arguments.make_parser(COMMANDS).parse_args(words)
    # What the report repeats as the way to make it again; how it was watched is no part of that.
    repeated = [word for word in words if word not in ("--quiet", "--open", "--debug")]
    parsed.command_line = shlex.join(["python", "-m", "reportgen", *repeated])
    code: int = parsed.call(parsed)
    return code


def _complain(text: str, error: BaseException | None = None) -> None:
    """Say in one line what is wrong, and in another what an error was told on its way here."""
    for line in (text, *getattr(error, "__notes__", ())):
        print(f"reportgen: {line}", file=sys.stderr)  # noqa: T201 - the command line prints


def _print(text: object) -> None:
    print(text)  # noqa: T201 - the command line prints


def _write_log(words: Sequence[str]) -> str:
    """Keep the current traceback in a file of its own, and say where."""
    log = Path(tempfile.gettempdir()) / f"reportgen-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}.log"
    content = f"reportgen {__version__}, Python {sys.version}\narguments: {list(words)}\n\n{traceback.format_exc()}"
    try:
        log.write_text(content, encoding="utf-8")
    except OSError:
        return "run it again with --debug to see where"
    return f"the log is {log}"


# The commands


def _run_workload(parsed: argparse.Namespace) -> int:
    from reportgen.pipeline import run_workload
    from reportgen.workload import find_workload

    options = _run_options(parsed, parsed.timeout)
    workload = find_workload(parsed.workload, _workload_folders())
    return _report(parsed, lambda wishes: run_workload(workload, options, wishes))


def _run_options(parsed: argparse.Namespace, timeout_s: float | None) -> RunOptions:
    from reportgen.runner.run import RunOptions

    return RunOptions(
        device=parsed.device,
        cases=tuple(parsed.cases),
        settings=tuple(parsed.settings),
        sweeps=tuple(parsed.sweeps),
        timeout_s=timeout_s,
        alternatives=parsed.alternatives,
        command=parsed.command_line,
    )


def _exec_script(parsed: argparse.Namespace) -> int:
    from reportgen.pipeline import exec_script
    from reportgen.runner.exec_script import ScriptRequest

    request = ScriptRequest(
        script=parsed.script,
        arguments=tuple(parsed.script_arguments),
        output=str(parsed.output),
        device=parsed.device,
        step_of=parsed.step_of,
    )
    return _report(parsed, lambda wishes: exec_script(request, wishes))


def _analyze(parsed: argparse.Namespace) -> int:
    from reportgen.pipeline import analyze_path

    return _report(parsed, lambda wishes: analyze_path(parsed.path, parsed.memory, wishes))


def _render(parsed: argparse.Namespace) -> int:
    from reportgen.pipeline import render_recording

    if parsed.recording.is_file():
        raise UsageError(f"{parsed.recording} is no recording. Did you mean reportgen analyze {parsed.recording}?")
    return _report(parsed, lambda wishes: render_recording(parsed.recording, wishes))


def _whatif(parsed: argparse.Namespace) -> int:
    from reportgen.display import watching
    from reportgen.pipeline import Wishes, what_if
    from reportgen.report.whatif import render_fixes

    with watching(quiet=parsed.quiet) as progress:
        report = what_if(parsed.report, parsed.remove, Wishes(progress=progress))
    _print(render_fixes(report).rstrip())
    return 0


def _report(parsed: argparse.Namespace, make: Callable[[Wishes], Written]) -> int:
    """Make a report as the options of `add_report` want it, print what it left, and return the exit code."""
    from reportgen.display import watching

    with watching(quiet=parsed.quiet) as progress:
        written = make(_wishes(parsed, progress))
    if not parsed.quiet:
        _summarize(written)
    for line in (*written.remarks, *written.failures):
        _complain(line)
    for path in written.paths:
        _print(path)
    if parsed.open:
        _open(written.paths)
    return FAILED if written.failures else 0


def _wishes(parsed: argparse.Namespace, progress: Watch) -> Wishes:
    from reportgen.pipeline import FORMATS, Wishes

    return Wishes(
        output=parsed.output,
        formats=parsed.formats or FORMATS,
        pdf_required="pdf" in (parsed.formats or ()),
        thresholds=dict(parsed.thresholds),
        anonymous=parsed.anonymous,
        progress=progress,
    )


def _summarize(written: Written) -> None:
    from reportgen.report.terminal import render_terminal

    _print(render_terminal(written.report, width=_columns()))


def _columns() -> int:
    import shutil

    return min(100, shutil.get_terminal_size((100, 24)).columns)


def _open(paths: Sequence[Path]) -> None:
    import webbrowser

    if paths:
        webbrowser.open(paths[0].resolve().as_uri())


def _compare(parsed: argparse.Namespace) -> int:
    from reportgen.history.compare import compare_reports, read_report
    from reportgen.history.text import render_text
    from reportgen.pipeline import write_comparison

    new = read_report(parsed.new)
    paths = (str(parsed.base), str(parsed.new))
    spreads = _known_spreads(parsed.store, new) if parsed.store else None
    difference = compare_reports(read_report(parsed.base), new, paths, spreads)
    formats = parsed.formats or night_arguments.COMPARISON_FORMATS
    written, missing = write_comparison(difference, parsed.output, formats)
    if not parsed.quiet:
        _print(render_text(difference, width=_columns()))
    for line in missing:
        _complain(line)
    for path in written:
        _print(path)
    if parsed.open:
        _open(written)
    if missing and "pdf" in (parsed.formats or ()):
        return FAILED
    return GATE if night_arguments.fails(difference, parsed.gates) else 0


def _known_spreads(store: str, report: Report) -> dict[str, KnownSpread]:
    from reportgen.history.spread import known_spreads
    from reportgen.history.store import open_store

    history = open_store(store, create=False)
    try:
        return known_spreads(history, report)
    finally:
        history.close()


def _nightly(parsed: argparse.Namespace) -> int:
    from reportgen.display import watching
    from reportgen.nightly.night import NightOptions, run_night
    from reportgen.nightly.summary import lines
    from reportgen.workload import find_workload, list_workloads

    folders = _workload_folders()
    named = [find_workload(name, folders) for name in parsed.workloads]
    with watching(quiet=parsed.quiet) as progress:
        options = NightOptions(
            workloads=tuple(named or (outline.path for outline in list_workloads(folders))),
            run=_run_options(parsed, parsed.timeout or night_arguments.CASE_LIMIT_S),
            wishes=_wishes(parsed, progress),
            store=parsed.store,
            gates=tuple(parsed.gates),
            notify=parsed.notify,
            wait_s=parsed.wait,
            trace_days=parsed.keep_traces,
            history_days=parsed.keep_history,
        )
        summary, failures = run_night(options)
    if not parsed.quiet:
        _print("\n".join(lines(summary)))
    for line in failures:
        _complain(line)
    _print(summary.index)
    if parsed.open:
        _open([Path(summary.index)])
    return FAILED if failures else GATE if summary.gate_failed else 0


def _list(parsed: argparse.Namespace) -> int:
    from reportgen.workload import list_workloads

    outlines = list_workloads(_workload_folders())
    width = max((len(outline.name) for outline in outlines), default=0)
    for outline in outlines:
        cases = ", ".join(case.name for case in outline.cases)
        _print(f"{outline.name:<{width}}  {outline.description}{f' [{cases}]' if cases else ''}")
    return 0


def _doctor(parsed: argparse.Namespace) -> int:
    from reportgen import doctor

    ready = True
    for check in doctor.examine(parsed.output):
        _print(f"{check.state:<8} {check.subject:<13} {check.text}")
        ready = ready and check.state != "missing"
    return 0 if ready else 1


def _workload_folders() -> list[Path]:
    """Return where workloads are looked for: the folder of that name here, and those that ship."""
    from reportgen.resources import resource_folder

    here, shipped = Path("workloads").resolve(), resource_folder("workloads")
    return [here, shipped] if here.is_dir() and here != shipped else [shipped]


def _workload_names() -> list[str]:
    from reportgen.workload import list_workloads

    return [name for outline in list_workloads(_workload_folders()) for name in (outline.name, outline.path.stem)]


COMMANDS: dict[str, Command] = {
    "run": Command(
        summary="profile every case of a workload, analyse, write the report",
        options=(arguments.add_workload, arguments.add_output, arguments.add_selection, arguments.add_report),
        call=_run_workload,
    ),
    "exec": Command(
        summary="run a script unchanged and profile a window of it",
        options=(arguments.add_output, arguments.add_report, arguments.add_script),
        call=_exec_script,
    ),
    "analyze": Command(
        summary="write the report of an existing torch.profiler trace or of a recording",
        options=(arguments.add_trace, arguments.add_output, arguments.add_report),
        call=_analyze,
    ),
    "render": Command(
        summary="write the documents of a recording again; needs no GPU and no torch",
        options=(arguments.add_recording, arguments.add_output_beside, arguments.add_report),
        call=_render,
    ),
    "whatif": Command(
        summary="the step after each fix in turn, and what limits next",
        options=(arguments.add_whatif,),
        call=_whatif,
    ),
    "compare": Command(
        summary="what changed between two reports, with noise taken into account",
        options=(night_arguments.add_two_reports, arguments.add_output, night_arguments.add_comparison),
        call=_compare,
    ),
    "nightly": Command(
        summary="run workloads unattended, remember, compare with the nights before, write the index and the trend",
        options=(
            night_arguments.add_workloads,
            arguments.add_output,
            arguments.add_selection,
            arguments.add_report,
            night_arguments.add_night,
        ),
        call=_nightly,
    ),
    "list": Command(summary="list the workloads found, without importing them", options=(), call=_list),
    "doctor": Command(
        summary="is this machine ready: each line says what to do", options=(arguments.add_output,), call=_doctor
    ),
}
