"""What the budget leaves behind for every other analysis: each covered instant with its part and its reason.

Two tables tile the covered intervals without overlap or hole: `Work`, the instants in which the device worked, and
`Waits`, the instants in which it did not. Whoever wants waits by function, by synchronization or by stretch of the
timeline groups `Waits` and sums `true_us`; no one computes a wait a second time.

For the timeline strip: take the rows of `Work` and `Waits` whose ``interval`` is the wanted one, subtract
``interval_start_ns[interval]``; the cause lane is ``part_of(cause)``. For the Perfetto export: the same rows, shifted
back by `Trace.origin_us`, one slice a row on a track of their own; `Gaps` says which rows form one gap.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from reportgen.analysis.model import BUDGET_PARTS, Budget, BudgetPart, CauseRow, Notice

if TYPE_CHECKING:
    from reportgen.trace.columns import Bool, Int8, Int32, Int64

# Codes of the columns `part` and `cause`: positions in BUDGET_PARTS.
PART_CODE: dict[BudgetPart, int] = {part: code for code, part in enumerate(BUDGET_PARTS)}


def part_of(code: int) -> BudgetPart:
    """Return the budget part that `code` of a column `part` or `cause` stands for."""
    return BUDGET_PARTS[code]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Work:
    """Disjoint stretches in which the device worked, sorted by start; neighbours differ in part or leave a hole."""

    start_ns: Int64
    end_ns: Int64
    part: Int8  # compute, communication or copy
    interval: Int32  # index into the covered intervals


@dataclasses.dataclass(frozen=True, kw_only=True)
class Waits:
    """Disjoint stretches in which the device waited, each with one cause, sorted by start.

    A gap of the timeline is split where its cause changes: the rows of one gap are neighbours and share `gap`.
    """

    start_ns: Int64
    end_ns: Int64
    cause: Int8
    interval: Int32  # index into the covered intervals
    gap: Int32  # row of Gaps
    next_activity: Int32  # row of Trace.activities that ended the wait, -1 where none did before the interval's end
    # Where the host was. `operator` and `frame` are the innermost ones open on the host thread that was waited for
    # (for the causes sync and allocator: those around `call`, also in the refill after it); -1 where there is none.
    operator: Int32
    frame: Int32
    # Row of Trace.calls that the wait is charged to: the synchronization or blocking copy that drained the queue, the
    # allocator's call, for launch-call and turnaround the launch itself; -1 for host code that is no runtime call.
    call: Int32
    # A late launch after a drained queue, rather than the wait, allocation or stall itself that drained it.
    refill: Bool
    # The wait without the profiler's share, on the scale of the budget: grouped by cause, summed and divided by the
    # number of intervals it is the budget's `us_per_step` (but for build, see `first_lap_us`). Never negative; never
    # more than the stretch is long, unless the profiled steps were faster than the unprofiled ones.
    true_us: NDArray[np.float64]


@dataclasses.dataclass(frozen=True, kw_only=True)
class GapTable:
    """Maximal stretches without device work, cut at the borders of covered intervals."""

    start_ns: Int64
    end_ns: Int64
    interval: Int32


@dataclasses.dataclass(frozen=True, kw_only=True)
class BudgetResult:
    """The budget of one device over the covered intervals of a trace, with the reason of every wait.

    `interval_*` are the stretches that the budget covers, disjoint and sorted; `interval_step` is the row of
    Trace.steps that each ends (or holds, in drained mode), -1 where the trace has no steps. `device` is the device's
    index in the trace, None where the host is the device.
    """

    budget: Budget
    device: int | None
    interval_start_ns: Int64
    interval_end_ns: Int64
    interval_step: Int32
    work: Work
    waits: Waits
    gaps: GapTable
    # The profiler's share of the profiled step, µs per step: its bounds, and the amount taken out of the waits
    # (the middle of the interval, or the known total where there is a timing pass).
    profiler_low_us: float
    profiler_high_us: float
    profiler_us: float
    causes: tuple[CauseRow, ...]  # waits by cause as the budget has them, per step, largest first
    # Part of build that no wait shows: what first visits cost in the timing pass where the profiled steps, of the same
    # shapes, had nothing left to build. µs per step.
    first_lap_us: float = 0.0
    notices: tuple[Notice, ...] = ()

    @property
    def num_intervals(self) -> int:
        """Return the divisor that makes totals per step."""
        return len(self.interval_start_ns)
