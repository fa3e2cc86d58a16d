"""Compare reading with HolisticTraceAnalysis: ``python benchmarks/reading.py TRACE --hta-python PATH``.

All sides read the same file, taking turns in the same run. Whole processes are measured, start and imports included,
since that is what one waits for. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measure import Measurement, best

_HERE = Path(__file__).parent
OWN, OWN_REPORT = "reportgen: read and link", "reportgen: `analyze --format html,json`"
HTA, HTA_ANALYSIS = "HolisticTraceAnalysis: its parser", "HolisticTraceAnalysis: parser, temporal, idle, kernels"


def commands(trace: Path, hta_python: Path | None, output: Path, *, report: bool) -> dict[str, Sequence[str]]:
    """Return what is to be run, by what it is called."""
    chosen: dict[str, Sequence[str]] = {OWN: (sys.executable, str(_HERE / "own_reading.py"), str(trace))}
    if report:
        chosen[OWN_REPORT] = (
            sys.executable, "-m", "reportgen", "analyze", str(trace), "--format", "html,json", "--output", str(output),
        )  # fmt: skip
    if hta_python is not None:
        script = (str(hta_python), str(_HERE / "hta_reading.py"))
        chosen |= {HTA: (*script, "parse", str(trace)), HTA_ANALYSIS: (*script, "analyze", str(trace))}
    return chosen


def table(runs: dict[str, Measurement]) -> str:
    """Return the runs as a Markdown table, each compared with reading and linking."""
    base = runs[OWN]
    columns = ("what", "seconds", "of processor", "peak memory, MB", "times the processor")
    lines = [f"| {' | '.join(columns)} |", "|" + " --- |" * len(columns)]
    for name, run in runs.items():
        lines.append(
            f"| {name} | {run.seconds:.1f} | {run.processor_seconds:.1f} | {run.peak_bytes / 1e6:.0f} "
            f"| {run.processor_seconds / base.processor_seconds:.1f} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", type=Path)
    parser.add_argument("--hta-python", type=Path, help="a Python with HolisticTraceAnalysis installed")
    parser.add_argument("--report", action="store_true", help="measure the whole report too")
    parser.add_argument("--repetitions", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        chosen = commands(options.trace, options.hta_python, Path(folder), report=options.report)
        print(table(best(chosen, options.repetitions)))


if __name__ == "__main__":
    main()
