"""The commands about many reports: what changed between two, and a night of all workloads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from reportgen import night_arguments
from reportgen.cli.options import make_wishes, run_options, workload_folders
from reportgen.cli.output import FAILED, GATE, columns, complain, open_first, say

if TYPE_CHECKING:
    import argparse

    from reportgen.history.compare import KnownSpread
    from reportgen.report.model import Report


def compare(parsed: argparse.Namespace) -> int:
    """Print and write what changed between two reports; the exit code tells whether a gate failed."""
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
        say(render_text(difference, width=columns()))
    for line in missing:
        complain(line)
    for path in written:
        say(path)
    if parsed.open:
        open_first(written)
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


def nightly(parsed: argparse.Namespace) -> int:
    """Run a night; the exit code tells whether a gate failed."""
    from reportgen.display import watching
    from reportgen.nightly.night import NightOptions, run_night
    from reportgen.nightly.summary import lines
    from reportgen.workload import find_workload, list_workloads

    folders = workload_folders()
    named = [find_workload(name, folders) for name in parsed.workloads]
    with watching(quiet=parsed.quiet) as progress:
        options = NightOptions(
            workloads=tuple(named or (outline.path for outline in list_workloads(folders))),
            run=run_options(parsed, parsed.timeout or night_arguments.CASE_LIMIT_S),
            wishes=make_wishes(parsed, progress),
            store=parsed.store,
            gates=tuple(parsed.gates),
            repeats=parsed.repeats,
            notify=parsed.notify,
            wait_s=parsed.wait,
            trace_days=parsed.keep_traces,
            history_days=parsed.keep_history,
        )
        summary, failures = run_night(options)
    if not parsed.quiet:
        say("\n".join(lines(summary)))
    for line in failures:
        complain(line)
    say(Path(summary.index))
    if parsed.open:
        open_first([Path(summary.index)])
    return FAILED if failures else GATE if summary.gate_failed else 0
