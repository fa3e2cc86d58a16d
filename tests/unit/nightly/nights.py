"""Nights of which each measurement is given: the store, the pages and the verdicts are the real ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from reportgen.errors import ReportgenError
from reportgen.nightly.night import NightOptions, World, run_night
from reportgen.nightly.summary import NightSummary
from reportgen.pipeline import Wishes, Written
from reportgen.report.json import encode_report
from reportgen.report.model import Report
from reportgen.runner.run import RunOptions
from tests.night_builder import night

FIRST = datetime(2026, 1, 1, 2, 0, tzinfo=UTC)


class Nights:
    """A folder of reports and a clock; `run` lets one night pass."""

    def __init__(self, folder: Path, store: str | None = None) -> None:
        self.folder = folder / "reports"
        self.lock_folder = folder
        self.store = store
        self.day = 0
        self.asked: list[tuple[str, ...]] = []
        self.said: list[str] = []

    def run(
        self,
        *measured: Report | ReportgenError,
        workloads: Sequence[str] = ("gpt2",),
        sleep: Callable[[float], None] = lambda seconds: None,
        **options: object,
    ) -> NightSummary:
        """Run a night in which the measurements give `measured`, one after the other (an unchanged report without)."""
        summary, self.failures = run_night(self._options(workloads, **options), self._world(list(measured), sleep))
        self.day += 1
        return summary

    def _options(self, workloads: Sequence[str], **options: object) -> NightOptions:
        wishes = Wishes(output=self.folder, progress=lambda event: self.said.append(getattr(event, "text", "")))
        paths = tuple(Path(f"{name}.py") for name in workloads)
        run = RunOptions(device=str(options.pop("device", "cpu")))
        return NightOptions(workloads=paths, run=run, wishes=wishes, store=self.store, **options)  # type: ignore[arg-type]

    def _world(self, measured: list[Report | ReportgenError], sleep: Callable[[float], None]) -> World:
        now = FIRST + timedelta(days=self.day)

        def measure(workload: Path, run: RunOptions, wishes: Wishes) -> Written:
            self.asked.append((workload.stem, *run.cases))
            given = measured.pop(0) if measured else night()
            if isinstance(given, ReportgenError):
                raise given
            return write_report(given, self.folder / f"{workload.stem}-{self.day}-{len(self.asked)}")

        return World(now=lambda: now, sleep=sleep, measure=measure, host="node7", lock_folder=self.lock_folder)


def write_report(report: Report, folder: Path) -> Written:
    """Leave what a run leaves: report.json, a recording, and the paths."""
    (folder / "recording").mkdir(parents=True)
    (folder / "recording" / "recording.json").write_text("{}")
    (folder / "report.json").write_bytes(encode_report(report))
    (folder / "report.html").write_text("")
    (folder / "step.perfetto.json.gz").write_bytes(b"")
    return Written(report=report, folder=folder, paths=(folder / "report.json",))
