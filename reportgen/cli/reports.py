"""The commands that make a report or judge one anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.cli.options import make_wishes, run_options, workload_folders
from reportgen.cli.output import FAILED, columns, complain, open_first, say
from reportgen.errors import RunFailed, UsageError
from reportgen.resources import is_file

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from reportgen.pipeline import Wishes, Written


def run(parsed: argparse.Namespace) -> int:
    """Profile the cases of a workload and report."""
    from reportgen.pipeline import run_workload
    from reportgen.workload import find_workload

    options = run_options(parsed, parsed.timeout)
    workload = find_workload(parsed.workload, workload_folders())
    return _report(parsed, lambda wishes: run_workload(workload, options, wishes))


def execute(parsed: argparse.Namespace) -> int:
    """Run a script unchanged and report on a window of it."""
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


def analyze(parsed: argparse.Namespace) -> int:
    """Report on a trace or a recording."""
    from reportgen.pipeline import analyze_path

    return _report(parsed, lambda wishes: analyze_path(parsed.path, parsed.memory, wishes))


def render(parsed: argparse.Namespace) -> int:
    """Write the documents of a recording again."""
    from reportgen.pipeline import render_recording

    if is_file(parsed.recording):
        raise UsageError(f"{parsed.recording} is no recording. Did you mean reportgen analyze {parsed.recording}?")
    return _report(parsed, lambda wishes: render_recording(parsed.recording, wishes))


def whatif(parsed: argparse.Namespace) -> int:
    """Print the step after each fix in turn."""
    from reportgen.display import watching
    from reportgen.pipeline import Wishes, what_if
    from reportgen.report.whatif import render_fixes

    with watching(quiet=parsed.quiet) as progress:
        report = what_if(parsed.report, parsed.remove, Wishes(progress=progress))
    say(render_fixes(report).rstrip())
    return 0


def _report(parsed: argparse.Namespace, make: Callable[[Wishes], Written]) -> int:
    """Make a report as the options of `add_report` want it, print what it left, and return the exit code."""
    from reportgen.display import watching

    with watching(quiet=parsed.quiet) as progress:
        written = make(make_wishes(parsed, progress))
    try:
        if written.is_summarized and not parsed.quiet:
            _summarize(written)
        for line in (*written.remarks, *written.failures):
            complain(line)
        for path in written.paths:
            say(path)
    except RunFailed as error:
        error.add_note(f"the report is written all the same, in {written.folder}")
        raise
    if parsed.open:
        open_first(written.paths)
    return FAILED if written.failures else 0


def _summarize(written: Written) -> None:
    from reportgen.report.terminal import render_terminal

    say(render_terminal(written.report, width=columns()))
