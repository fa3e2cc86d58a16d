"""One night: each workload measured, stored, judged, measured again where it looks worse, and reported."""

from __future__ import annotations

import dataclasses
import os
import socket
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from reportgen import __version__
from reportgen.errors import ReportgenError
from reportgen.history.judge import judge_case
from reportgen.history.pages.index import render_index
from reportgen.history.pages.trend import render_trend
from reportgen.history.store import DEFAULT_NAME, History, open_store
from reportgen.history.store.rows import Judgement, is_first_night
from reportgen.nightly import device
from reportgen.nightly.environment import commit_of, is_alive, notify
from reportgen.nightly.keeping import iso, prune
from reportgen.nightly.summary import NightSummary, WorkloadSummary, gate_fails, joint_verdict, verdict_of
from reportgen.nightly.telling import began, tell, waiting, write_what_changed
from reportgen.pipeline import StageStarted, Wishes, Written, run_workload
from reportgen.resources import DEFAULT_OUTPUT, replacing
from reportgen.runner.run import RunOptions

INDEX_NAME, TREND_NAME = "index.html", "trend.html"
_TREND_DAYS = 365
Measure = Callable[[Path, RunOptions, Wishes], Written]


@dataclasses.dataclass(frozen=True, kw_only=True)
class NightOptions:
    """How a night is wanted. `wait_s` is for another night to end and for other processes to leave the device."""

    workloads: tuple[Path, ...]
    run: RunOptions
    wishes: Wishes
    store: str | None = None
    gates: tuple[str, ...] = ()
    # How often each workload is measured: a night's step time is the mean, which moves less from night to night.
    repeats: int = 1
    notify: str | None = None
    wait_s: float = 600.0
    trace_days: int = 14
    history_days: int = 730


@dataclasses.dataclass(frozen=True, kw_only=True)
class World:
    """What a night needs from outside; tests give their own clock, sleep and measurements."""

    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    sleep: Callable[[float], None] = time.sleep
    measure: Measure = run_workload
    host: str = dataclasses.field(default_factory=socket.gethostname)
    lock_folder: Path | None = None


def run_night(options: NightOptions, world: World | None = None) -> tuple[NightSummary, list[str]]:
    """Run a night and return what it has to say, and what failed, a line each.

    What fails of a workload costs only that workload. Raises `RunFailed` where another night does not leave the device,
    `InputUnreadable` and `UsageError` where the store cannot be used.
    """
    world = world or World()
    parent = options.wishes.output or DEFAULT_OUTPUT
    parent.mkdir(parents=True, exist_ok=True)

    def say(text: str) -> None:
        options.wishes.progress(StageStarted(text=text))

    with device.alone_on(
        options.run.device, wait_s=options.wait_s, sleep=world.sleep, say=say, folder=world.lock_folder
    ):
        history = open_store(options.store or parent / DEFAULT_NAME)
        try:
            return _Night(options, world, history, parent, say).run()
        finally:
            history.close()


class _Night:
    def __init__(
        self, options: NightOptions, world: World, history: History, parent: Path, say: Callable[[str], None]
    ) -> None:
        self._options, self._world, self._history, self._parent, self._say = options, world, history, parent, say
        self._started = world.now()
        self._commit = commit_of(Path.cwd())
        self._failures: list[str] = []
        self._remarks: list[str] = []
        self._id = 0
        # What is left of the wait for other processes: a device that is never free must not cost it a workload.
        self._wait_s = options.wait_s

    def run(self) -> tuple[NightSummary, list[str]]:
        self._close_interrupted()
        self._id = self._history.begin_night(
            iso(self._started), host=self._world.host, pid=os.getpid(), version=__version__, commit=self._commit
        )
        found = []
        for workload in self._options.workloads:
            found.append(self._run_workload(workload))
            self._write_pages()
        ended = self._world.now()
        self._history.end_night(self._id, iso(ended))
        days = {"trace_days": self._options.trace_days, "history_days": self._options.history_days}
        prune(self._history, self._parent, ended, **days)
        self._write_pages()
        summary = self._summary(found, ended)
        if self._options.notify and (failure := notify(self._options.notify, summary)):
            self._failures.append(failure)
        return summary, self._failures

    def _close_interrupted(self) -> None:
        """A night of this host whose process is gone was killed: nobody else will end it."""
        for night in self._history.running_nights(self._world.host):
            if night.pid == os.getpid() or not is_alive(night.pid):
                self._history.interrupt_night(night.id)

    def _run_workload(self, workload: Path) -> WorkloadSummary:
        name = workload.stem
        self._say(f"workload {name}")
        self._look_at_device()
        try:
            written = self._world.measure(workload, self._options.run, self._options.wishes)
        except ReportgenError as error:
            return self._failed(name, str(error))
        return self._judge(workload, written)

    def _look_at_device(self) -> None:
        remark, self._wait_s = device.quiet_device(
            self._options.run.device, wait_s=self._wait_s, sleep=self._world.sleep, say=self._say
        )
        if remark and remark not in self._remarks:
            self._remarks.append(remark)
            self._history.remark(self._id, "; ".join(self._remarks))

    def _failed(self, name: str, failure: str) -> WorkloadSummary:
        self._failures.append(f"{name}: {failure}")
        self._history.add_failure(self._id, name, iso(self._world.now()), failure)
        return WorkloadSummary(workload=name, verdict="failed", failure=failure)

    def _judge(self, workload: Path, written: Written) -> WorkloadSummary:
        report = written.report
        folder = self._folder(written)
        numbers = self._history.add_report(self._id, report, folder=folder)
        for repeat in range(1, self._options.repeats):
            self._measure_again(workload, repeat, self._options.run.cases)
        judged = self._judgements(written)
        suspects = [name for name, rows in judged.items() if any(_is_suspicious(row) for row in rows)]
        again = bool(suspects) and self._confirm(workload, suspects)
        if again:
            judged |= self._judgements(written)
        for name, rows in judged.items():
            self._history.add_judgements(numbers[name], rows)
        before = began(judged, iso(self._started))
        difference = write_what_changed(self._history, before, report, self._parent, written.folder)
        told = tell(judged, report, difference)
        failure = "; ".join(written.failures) or None
        self._failures += written.failures
        return WorkloadSummary(
            workload=report.workload.name if report.workload else workload.stem,
            verdict=verdict_of(told, failure),
            folder=folder,
            failure=failure,
            measured_again=again,
            told=told,
            waiting=waiting(judged),
            first_night=is_first_night([row for rows in judged.values() for row in rows]),
        )

    def _folder(self, written: Written) -> str:
        return os.path.relpath(written.folder, self._parent)

    def _judgements(self, written: Written) -> dict[str, list[Judgement]]:
        report = written.report
        done = [case for case in report.cases if case.outcome == "done"]
        return {case.name: judge_case(self._history, self._id, report, case) for case in done}

    def _confirm(self, workload: Path, cases: Sequence[str]) -> bool:
        """Measure the cases that look worse once more; tell whether that worked."""
        self._say(f"measuring {', '.join(cases)} again: {'it looks' if len(cases) == 1 else 'they look'} worse")
        return self._measure_again(workload, self._options.repeats, tuple(cases))

    def _measure_again(self, workload: Path, repeat: int, cases: tuple[str, ...]) -> bool:
        run = dataclasses.replace(self._options.run, cases=cases, alternatives=())
        try:
            written = self._world.measure(workload, run, self._options.wishes)
        except ReportgenError as error:
            self._failures.append(f"{workload.stem}, measured again: {error}")
            return False
        self._history.add_report(self._id, written.report, repeat=repeat, folder=self._folder(written))
        return True

    def _write_pages(self) -> None:
        since = iso(self._started - timedelta(days=_TREND_DAYS))
        for name, content in (
            (INDEX_NAME, render_index(self._history, self._parent)),
            (TREND_NAME, render_trend(self._history, since)),
        ):
            with replacing(self._parent / name) as partial:
                partial.write_text(content, encoding="utf-8", errors="replace")

    def _summary(self, found: Sequence[WorkloadSummary], ended: datetime) -> NightSummary:
        return NightSummary(
            started_at=iso(self._started),
            ended_at=iso(ended),
            host=self._world.host,
            commit=self._commit,
            verdict=joint_verdict([workload.verdict for workload in found]),
            gate_failed=gate_fails(found, self._options.gates),
            remark="; ".join(self._remarks) or None,
            index=str(self._parent / INDEX_NAME),
            workloads=tuple(found),
        )


def _is_suspicious(row: Judgement) -> bool:
    """Tell whether a second measurement should confirm a judgement, or what may become one in a few nights."""
    if row.is_alarm or row.verdict == "changed":
        return True
    return row.needs_nights is not None and row.base is not None and row.value is not None and row.value > row.base
