"""All commands: what each is for, its options, what it calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen import arguments, night_arguments
from reportgen.arguments import Command
from reportgen.cli.nights import compare, nightly
from reportgen.cli.options import workload_folders
from reportgen.cli.output import say
from reportgen.cli.reports import analyze, execute, render, run, whatif

if TYPE_CHECKING:
    import argparse


def _list(parsed: argparse.Namespace) -> int:
    from reportgen.formatting import legible
    from reportgen.workload import list_workloads

    outlines = list_workloads(workload_folders())
    names = [legible(outline.name) for outline in outlines]
    width = max(map(len, names), default=0)
    for name, outline in zip(names, outlines, strict=True):
        cases = ", ".join(case.name for case in outline.cases)
        say(f"{name:<{width}}  {legible(outline.description)}{f' [{legible(cases)}]' if cases else ''}")
    return 0


def _doctor(parsed: argparse.Namespace) -> int:
    from reportgen import doctor

    ready = True
    for check in doctor.examine(parsed.output):
        say(f"{check.state:<8} {check.subject:<13} {check.text}")
        ready = ready and check.state != "missing"
    return 0 if ready else 1


COMMANDS: dict[str, Command] = {
    "run": Command(
        summary="profile every case of a workload, analyse, write the report",
        options=(arguments.add_workload, arguments.add_output, arguments.add_selection, arguments.add_report),
        call=run,
    ),
    "exec": Command(
        summary="run a script unchanged and profile a window of it",
        options=(arguments.add_output, arguments.add_report, arguments.add_script),
        call=execute,
    ),
    "analyze": Command(
        summary="write the report of an existing torch.profiler trace or of a recording",
        options=(arguments.add_trace, arguments.add_output, arguments.add_report),
        call=analyze,
    ),
    "render": Command(
        summary="write the documents of a recording again; needs no GPU and no torch",
        options=(arguments.add_recording, arguments.add_output_beside, arguments.add_report),
        call=render,
    ),
    "whatif": Command(
        summary="the step after each fix in turn, and what limits next",
        options=(arguments.add_whatif,),
        call=whatif,
    ),
    "compare": Command(
        summary="what changed between two reports, with noise taken into account",
        options=(night_arguments.add_two_reports, arguments.add_output, night_arguments.add_comparison),
        call=compare,
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
        call=nightly,
    ),
    "list": Command(summary="list the workloads found, without importing them", options=(), call=_list),
    "doctor": Command(
        summary="is this machine ready: each line says what to do", options=(arguments.add_output,), call=_doctor
    ),
}
