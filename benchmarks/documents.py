"""Print what the documents of a report take: ``PYTHONPATH=. python benchmarks/documents.py RECORDING [--runs N]``.

The report lies in memory when the clock starts, and each run is a process of its own: loading fonts and WeasyPrint
counts, reading and analysing does not. A last row has the whole command ``reportgen render``.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from reportgen.errors import ReportgenError
from reportgen.pipeline import open_recording
from reportgen.report.assemble import assemble_recording
from reportgen.report.model import Report, ReportInput


class Seconds(NamedTuple):
    """Of processor, and on the clock."""

    cpu: float
    wall: float


def time_formats(report: Report, formats: tuple[str, ...]) -> Seconds:
    """Write `report` in `formats` into a folder of its own."""
    from reportgen.report.documents import write_documents

    with tempfile.TemporaryDirectory() as folder:
        cpu, wall = time.process_time(), time.perf_counter()
        write_documents(report, Path(folder), formats)
        return Seconds(time.process_time() - cpu, time.perf_counter() - wall)


def time_in_process(recording: Path, formats: tuple[str, ...]) -> Seconds:
    """Do so in a process of its own, which nothing has warmed."""
    command = [sys.executable, __file__, str(recording), "--only", ",".join(formats)]
    words = _output(command).split()
    return Seconds(float(words[0]), float(words[1]))


def time_render(recording: Path) -> Seconds:
    """Run the command itself, start and imports included."""
    before, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "reportgen", "render", str(recording), "-o", folder]
        _output(command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Seconds(cpu, time.perf_counter() - wall)


def _output(command: list[str]) -> str:
    """Return what a child prints; where it fails, end with the last line that it complained with."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"{command[2:]} ended with {done.returncode}"]
        raise SystemExit(lines[-1])
    return done.stdout


def main() -> None:
    """Print the best of several runs: other work on the machine only adds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("recording", type=Path, help="a recording, or the folder of its report")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.only:
        try:
            recording = open_recording(given.recording)
        except ReportgenError as error:
            raise SystemExit(f"documents.py: {error}") from error
        report, _ = assemble_recording(recording, ReportInput(kind="recording", path=given.recording.name))
        print(*time_formats(report, tuple(given.only.split(","))))
        return
    print("| what | seconds of processor | on the clock |\n| --- | --- | --- |")
    for formats in (("html", "json"), ("pdf",), ("html", "json", "pdf")):
        _print_row(" + ".join(formats), [time_in_process(given.recording, formats) for _ in range(given.runs)])
    _print_row("`reportgen render`", [time_render(given.recording) for _ in range(given.runs)])


def _print_row(name: str, runs: list[Seconds]) -> None:
    print(f"| {name} | {min(run.cpu for run in runs):.1f} | {min(run.wall for run in runs):.1f} |")


if __name__ == "__main__":
    main()
