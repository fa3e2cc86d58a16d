"""The session of a captured loop: what happens at the end of which step.

The passes are a generator that yields once a step: code between two yields runs at a step's end, and once it is
exhausted a step costs what resuming a finished generator costs.
"""

from __future__ import annotations

import atexit
import statistics
import sys
import time
from collections.abc import Generator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

import torch

from reportgen.recording import PassName, PassRecord, RecordedTiming, Samples
from reportgen.runner import schedule
from reportgen.runner.capture.book import Book, open_book
from reportgen.runner.capture.lengths import SequenceLengths
from reportgen.runner.capture.ranks import Rank, own_rank
from reportgen.runner.capture.reporting import start_report
from reportgen.runner.capture.shortfall import BY_HAND, SETTLING_STEPS, Entry, describe_shortfall
from reportgen.runner.capture.window import profile_steps, time_steps
from reportgen.runner.clocks import clock_of
from reportgen.runner.failures import explain
from reportgen.runner.flags import StepFlags
from reportgen.runner.profiling import start_profiler_once
from reportgen.workload import Phase
from reportgen.workload.provenance import describe_loader

SKIPPED_STEPS = 10
_NOT_POSSIBLE: dict[PassName, str] = {
    "cold": "a captured loop is built before it is captured",
    "sync": "a captured loop is watched from outside: no step can be repeated",
    "memory": "a captured loop keeps the allocator as it is; the detail pass has its allocations",
    "alternatives": "a captured loop cannot be changed",
}
# A generator that yields once a step and returns fields of `RecordedCase`.
Steps = Generator[None, None, dict[str, Any]]


def capture(
    name: str,
    *,
    output: str | Path = "reports/",
    phase: Phase = "train",
    skip: int = SKIPPED_STEPS,
    device: str = "auto",
    model: Any = None,
    loader: Any = None,
    tokens: float | None = None,
    samples: float | None = None,
    provenance: Mapping[str, str] | None = None,
    report: bool = True,
) -> CaptureSession:
    """Profile a window of the loop in the ``with`` block, which calls ``session.step()`` at the end of each step.

    `skip` steps are let pass; then some are timed without the profiler, a few recorded with it, lightly and in detail,
    and some more timed: 35 steps of a second each, 125 short ones. After that a step costs under a microsecond. The
    report is written beside its recording, below `output`, by a process of its own that starts when the block ends.
    An exception in the block is raised unchanged; what was recorded before it is kept.

    `model` lets the modes be seen that are set inside the step (autocast, grad mode), and the lengths of the sequences
    where it is called with an ``attention_mask``; `loader` is described in the report; `tokens` or `samples` per step
    give the throughput; `provenance` says what of the work is real. Under torchrun each rank records into a folder
    named after it, and rank 0 makes the report, of itself.
    """
    words = {**(describe_loader(loader) if loader is not None else {}), **(provenance or {})}
    fields = {"provenance": words, "tokens_per_step": tokens, "samples_per_step": samples}
    return CaptureSession(name, Path(output), phase, max(0, skip), device, model, fields, makes_report=report)


class CaptureSession:
    """A loop being captured; made by `capture`, entered with ``with``.

    Who opens it for a user sets `entry`, so that the user is told what fits the way that was taken.
    """

    entry: Entry = BY_HAND

    def __init__(
        self,
        name: str,
        output: Path,
        phase: Phase,
        skip: int,
        device: str,
        model: Any,
        fields: dict[str, Any],
        *,
        makes_report: bool,
    ) -> None:
        self._opening = (name, output, phase, device)
        self._fields = fields
        self._skip = skip
        self._model = model
        self._makes_report = makes_report
        self._rank = Rank()
        self._book: Book
        self._device: torch.device
        self._blocks: list[tuple[float, ...]] = []
        self._passes: Generator[None] = iter_nothing()
        self.num_steps = 0

    @property
    def recording(self) -> Path:
        """The folder of the recording."""
        return self._book.folder

    def step(self) -> None:
        """Say that a step of the loop has ended."""
        self.num_steps += 1
        next(self._passes, None)

    def __enter__(self) -> CaptureSession:
        name, output, phase, device = self._opening
        self._rank = own_rank()
        self._book = open_book(name, output, phase, device, self._rank, self._fields)
        self._device = torch.device(self._book.case.device or "cpu")
        for pass_name, reason in _NOT_POSSIBLE.items():
            self._book.put_pass(PassRecord(name=pass_name, outcome="skipped", reason=reason))
        atexit.register(self._close_late)
        self._passes = self._run()
        next(self._passes)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        atexit.unregister(self._close_late)
        self._passes.close()
        failed = error is not None and not isinstance(error, GeneratorExit) and not _ends_well(error)
        reason = explain(error, Path(sys.argv[0])) if failed and error else self._shortfall()
        self._book.update(outcome="failed" if failed else "done", reason=reason)
        if self._makes_report and self._rank.number == 0:
            start_report(self._book.folder, None if failed else reason)
        return False

    def _close_late(self) -> None:
        """Close where the program ends without leaving the block, as a callback of a trainer that broke off does."""
        self.__exit__(None, None, None)

    def _shortfall(self) -> str | None:
        done = [record.name for record in self._book.case.passes if record.outcome == "done"]
        return describe_shortfall(self.entry, self.num_steps, self._skip, done)

    def _run(self) -> Generator[None]:
        for _ in range(self._skip):
            yield
        with SequenceLengths(self._model) as lengths:
            with StepFlags(self._model, self._device) as step_flags:
                yield
            settling = yield from time_steps(clock_of(self._device), SETTLING_STEPS)
        self._book.update(flags=step_flags.flags, provenance={**lengths.words(), **self._fields["provenance"]})
        step_us = statistics.median(settling)
        yield from self._pass("timing", self._time(step_us))
        yield from self._pass("timeline", self._profile("timeline", schedule.timeline_window(step_us)))
        yield from self._pass("detail", self._profile("detail", schedule.detail_window(step_us)))
        yield from self._pass("timing", self._time(step_us))

    def _pass(self, name: PassName, steps: Steps) -> Generator[None]:
        """Run a pass and put down its outcome: what goes wrong in it, the loop's end included, costs only it."""
        earlier = self._book.case.pass_record(name)
        start = time.perf_counter()
        outcome: Literal["done", "failed"] = "failed"
        reason: str | None = f"the loop ended within it, after {self.num_steps} steps"
        findings: dict[str, Any] = {}
        try:
            findings = yield from steps
            outcome, reason = "done", None
        except (RuntimeError, OSError) as error:  # the program profiles itself, the disk is full, the device is lost
            reason = explain(error, Path(sys.argv[0]))
        finally:
            if outcome == "done" or earlier is None:  # timing goes on after other passes; its first block counts
                seconds = time.perf_counter() - start + ((earlier and earlier.seconds) or 0.0)
                self._book.put_pass(PassRecord(name=name, outcome=outcome, seconds=seconds, reason=reason), **findings)

    def _time(self, step_us: float) -> Steps:
        block = yield from time_steps(clock_of(self._device), schedule.block_steps(step_us))
        self._blocks.append(block)
        samples = Samples(
            samples_us=tuple(value for one in self._blocks for value in one),
            blocks=tuple(number for number, one in enumerate(self._blocks) for _ in one),
        )
        return {"timing": RecordedTiming(mode="pipelined", pipelined=samples)}

    def _profile(self, kind: Literal["timeline", "detail"], window: schedule.Window) -> Steps:
        if torch.autograd._profiler_enabled():  # starting a second one would end it
            raise RuntimeError("the program's own profiler is at work: capture without it")
        if kind == "timeline":
            start_profiler_once(self._device)
        path = self._book.case_folder / f"{kind}.json.gz"
        yield from profile_steps(self._device, window, kind, path, self.num_steps)
        return {}


def _ends_well(error: BaseException) -> bool:
    """Say whether `error` is only the program's way to end in order."""
    return isinstance(error, SystemExit) and error.code in (None, 0)


def iter_nothing() -> Generator[None]:
    """Return a generator that has nothing to do."""
    yield from ()
