"""A case from its first step to its last pass, inside the child process."""

from __future__ import annotations

import gc
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec
import torch

from reportgen.errors import UsageError
from reportgen.recording import MemoryMarks, PassName, PassRecord
from reportgen.runner import schedule
from reportgen.runner.clocks import clock_of
from reportgen.runner.failures import NotApplicableError, explain, is_device_lost
from reportgen.runner.flags import StepFlags, process_flags
from reportgen.runner.history import record_history
from reportgen.runner.messages import CaseRequest, CaseState, Message, PassBegan
from reportgen.runner.nvml import Conditions
from reportgen.runner.profiling import record_window, start_profiler_once
from reportgen.runner.stepping import Stepper, time_step
from reportgen.runner.syncs import watch_syncs
from reportgen.runner.timing import Timekeeper
from reportgen.workload import Case, Step, load_workload

Result = TypeVar("Result")
# What a pass found out: fields of `RecordedCase`.
Findings = dict[str, Any]


class Session:
    """One case: its passes in order, each told to the parent with its outcome as soon as it is over."""

    def __init__(self, request: CaseRequest, say: Callable[[Message], None]) -> None:
        self._say = say
        self._workload = Path(request.workload)
        self._words = request.case
        self._folder = Path(request.folder)
        self._device = torch.device(request.device)
        self._process_flags = request.flags
        self._case = request.recorded
        self._stop_reason: str | None = None
        self._conditions = Conditions(self._device)
        self._stepper: Stepper
        self._timekeeper: Timekeeper

    def run(self) -> None:
        """Run every pass, the blocks of timing between the profiled ones."""
        if self._device.type == "cuda":
            torch.cuda.set_device(self._device)
        # Without a first step, or a time for it, nothing that follows can mean anything.
        self.run_pass("cold", self._cold, essential=True)
        self.run_pass("timing", self._first_block, essential=True)
        self.run_pass("timeline", lambda: self._profile("timeline"))
        self.run_pass("timing", self._next_block)
        self.run_pass("detail", lambda: self._profile("detail"))
        self.run_pass("timing", self._last_blocks)
        self.run_pass("sync", self._watch_syncs)
        self.run_pass("memory", self._record_history)
        # Ceilings were measured before the case, and cost it nothing where that failed.
        own = [record for record in self._case.passes if record.name != "ceilings"]
        failed = next((record for record in own if record.outcome == "failed"), None)
        self._update(
            outcome="failed" if failed else "done", reason=f"{failed.name}: {failed.reason}" if failed else None
        )

    def run_pass(self, name: PassName, work: Callable[[], Findings], *, essential: bool = False) -> None:
        """Run one pass and record its outcome; whatever it raises is shown as its failure and costs only it.

        After an `essential` pass that failed, or when the device is lost, the others are skipped.
        """
        earlier = self._case.pass_record(name)
        if earlier is not None and earlier.outcome != "done":
            return
        if self._stop_reason is not None:
            if earlier is None:
                self._record(PassRecord(name=name, outcome="skipped", reason=self._stop_reason))
            return
        self._say(PassBegan(name=name))
        start = time.perf_counter()
        findings: Findings = {}
        record = PassRecord(name=name, outcome="done")
        try:
            findings = work()
        except NotApplicableError as error:
            record = PassRecord(name=name, outcome="skipped", reason=str(error))
        except Exception as error:  # noqa: BLE001 (a boundary, docs/design.md: what a pass raises is its outcome)
            traceback.print_exc()
            record = PassRecord(name=name, outcome="failed", reason=explain(error, self._workload))
            if essential or is_device_lost(error):
                self._stop_reason = f"the {name} pass failed"
        if record.outcome == "failed":
            self._tidy_up()
        seconds = time.perf_counter() - start + ((earlier and earlier.seconds) or 0.0)
        lap = findings.pop("lap", None)
        self._record(msgspec.structs.replace(record, seconds=seconds, lap=lap), **findings)

    def _cold(self) -> Findings:
        workload = load_workload(self._workload)
        case = Case(self._words.name, phase=self._words.phase, **self._words.parameters)
        clock = clock_of(self._device)
        start = clock.now_us()
        step = workload.build(case, self._device)
        if not isinstance(step, Step):
            raise UsageError(f"build() of workload {workload.name!r} returned {type(step).__name__}, not a Step")
        clock.drain()
        build_us = clock.now_us() - start
        self._stepper = Stepper(step, clock)
        self._timekeeper = Timekeeper(self._stepper, self._conditions.sample)
        with StepFlags(step.model, self._device) as noted:
            first_step_us, marks = self._with_marks(lambda: time_step(self._stepper))
        flags = {**process_flags(), **noted.flags}
        return {
            "build_us": build_us,
            "first_step_us": first_step_us,
            "first_step_memory": marks,
            "provenance": dict(step.provenance),
            "tokens_per_step": None if step.tokens is None else float(step.tokens),
            "samples_per_step": None if step.samples is None else float(step.samples),
            "flags": {name: value for name, value in flags.items() if self._process_flags.get(name) != value},
        }

    def _first_block(self) -> Findings:
        self._timekeeper.settle()
        _, marks = self._with_marks(self._timekeeper.measure_block)
        return {"memory": marks, **self._timing()}

    def _next_block(self) -> Findings:
        self._timekeeper.measure_block()
        return self._timing()

    def _last_blocks(self) -> Findings:
        self._timekeeper.measure_until_settled()
        self._timekeeper.measure_revisits()
        return self._timing()

    def _timing(self) -> Findings:
        return {"timing": self._timekeeper.timing(self._conditions.columns)}

    def _profile(self, kind: Literal["timeline", "detail"]) -> Findings:
        step_us = self._timekeeper.step_us
        if kind == "timeline":
            start_profiler_once(self._device)
            window = schedule.timeline_window(step_us)
        else:
            window = schedule.detail_window(step_us)
        record_window(self._stepper, self._device, window, kind, self._folder / f"{kind}.json.gz")
        return self._lap()

    def _watch_syncs(self) -> Findings:
        return {"sync_sites": watch_syncs(self._stepper, self._device, self._workload), **self._lap()}

    def _record_history(self) -> Findings:
        record_history(self._stepper, self._device, self._folder / "memory.json.gz")
        return self._lap()

    def _lap(self) -> Findings:
        """Return which visit the steps were that have just been run."""
        if self._stepper.step.before is None:
            return {}
        return {"lap": "first" if self._stepper.is_first_lap else "later"}

    def _with_marks(self, work: Callable[[], Result]) -> tuple[Result, MemoryMarks | None]:
        """Do `work` and return, beside its result, the allocator's counters around it; None on the host."""
        if self._device.type != "cuda":
            return work(), None
        torch.cuda.reset_peak_memory_stats(self._device)
        start_bytes = torch.cuda.memory_allocated(self._device)
        retries = _allocator_retries(self._device)
        result = work()
        free, total = torch.cuda.mem_get_info(self._device)
        return result, MemoryMarks(
            start_bytes=start_bytes,
            peak_allocated_bytes=torch.cuda.max_memory_allocated(self._device),
            peak_reserved_bytes=torch.cuda.max_memory_reserved(self._device),
            in_use_on_device_bytes=total - free,
            retries=_allocator_retries(self._device) - retries,
        )

    def _tidy_up(self) -> None:
        """After a failure, let go of the memory it held, and start a lap anew: a step may have been left half done."""
        gc.collect()
        if self._device.type == "cuda" and self._stop_reason is None:
            torch.cuda.empty_cache()
        if hasattr(self, "_stepper"):
            self._stepper.start_lap()

    def _record(self, record: PassRecord, **changes: Any) -> None:
        # A dictionary keeps the place of a pass that goes on after others.
        passes = {**{other.name: other for other in self._case.passes}, record.name: record}
        self._update(passes=tuple(passes.values()), **changes)

    def _update(self, **changes: Any) -> None:
        self._case = msgspec.structs.replace(self._case, **changes)
        self._say(CaseState(case=self._case))


def _allocator_retries(device: torch.device) -> int:
    return int(torch.cuda.memory_stats(device).get("num_alloc_retries", 0))
