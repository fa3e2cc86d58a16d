"""All numbers of one case, section by section."""

from __future__ import annotations

from typing import Literal

import msgspec

from reportgen.analysis.model.budget import Budget
from reportgen.analysis.model.changes import Alternative, ReplaySummary
from reportgen.analysis.model.coverage import Coverage, Joining
from reportgen.analysis.model.device import Clocks, DeviceTime, Launching, Streams
from reportgen.analysis.model.memory import Memory
from reportgen.analysis.model.operators import FirstVisit, Kernel, Operator, Region, SourceRow, Utilisation
from reportgen.analysis.model.patterns import (
    AttentionChain,
    AutogradWork,
    Compilation,
    CopyChain,
    CopyRow,
    OptimizerUpdate,
    UserCopy,
)
from reportgen.analysis.model.timeline import Timeline
from reportgen.analysis.model.timing import StepRow, Timing
from reportgen.analysis.model.values import Cut, Notice
from reportgen.analysis.model.waits import Gaps, Sync
from reportgen.recording import Json, PassRecord


class CaseAnalysis(msgspec.Struct, frozen=True, kw_only=True):
    """All numbers of one case. A section that could not be computed is `None` and has a notice."""

    name: str
    phase: str | None
    parameters: dict[str, Json] = {}
    device: str | None
    rank: int | None = None
    provenance: dict[str, str] = {}
    outcome: Literal["done", "failed", "unfinished"] = "done"
    reason: str | None = None
    # "device": device activities were recorded; "host": there is no device and the host is the device;
    # "not-recorded": there was a device, but the trace holds none of its activities.
    device_kind: Literal["device", "host", "not-recorded"]
    num_steps: int = 0
    passes: tuple[PassRecord, ...] = ()
    coverage: Coverage = Coverage()
    timing: Timing | None = None
    steps: tuple[StepRow, ...] = ()
    device_time: DeviceTime | None = None
    budget: Budget | None = None
    operators: Cut[Operator] = Cut()
    kernels: Cut[Kernel] = Cut()
    sources: Cut[SourceRow] = Cut()
    # Regions nest: their times do not add up to the step.
    regions: Cut[Region] = Cut()
    gaps: Gaps | None = None
    syncs: Cut[Sync] = Cut()
    launching: Launching | None = None
    streams: Streams | None = None
    joining: Joining | None = None
    first_visits: tuple[FirstVisit, ...] = ()
    memory: Memory | None = None
    timeline: Timeline | None = None
    alternatives: tuple[Alternative, ...] = ()
    utilisation: Utilisation | None = None
    replay: ReplaySummary | None = None
    copies: tuple[CopyRow, ...] = ()
    copy_chains: tuple[CopyChain, ...] = ()
    user_copies: tuple[UserCopy, ...] = ()
    optimizer_updates: tuple[OptimizerUpdate, ...] = ()
    attention_chains: tuple[AttentionChain, ...] = ()
    compilations: tuple[Compilation, ...] = ()
    autograd: AutogradWork | None = None  # None where no operator was recorded
    clocks: Clocks | None = None
    notices: tuple[Notice, ...] = ()

    @property
    def step_us(self) -> float | None:
        """The step's time as `timing` has it, None where none is known."""
        return self.timing.step_us if self.timing else None

    @property
    def busy_us(self) -> float | None:
        """How long the device is busy in a step, µs, None where that was not recorded."""
        return self.device_time.busy_us_per_step if self.device_time else None
