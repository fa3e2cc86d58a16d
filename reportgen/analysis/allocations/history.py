"""One allocator's history as blocks with a beginning and an end, whichever file tells of it.

Events are numbered in the order in which the allocator saw them: their times may be equal, their numbers are not. A
block is alive after event `p` where ``first <= p < last``.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from reportgen.trace.columns import Bool, Int32, Int64

BEFORE = -1  # `first` of a block that was alive before the recording began


@dataclasses.dataclass(frozen=True, kw_only=True)
class BlockTable:
    """Blocks of one allocator: those seen allocated in order of allocation, then those alive before the recording."""

    first: Int64  # number of the event that allocated it, BEFORE where it was there already
    last: Int64  # number of the event that freed it, the number of events where none did
    bytes: Int64
    address: Int64
    operator: Int32  # row of the detail trace's operators that asked for it, -1 where unknown
    frame: Int32  # row of the detail trace's frames around it
    stack: Int32  # index into MemoryHistory.stacks, innermost first, with lines of calls

    def alive(self, event: int) -> Bool:
        """Tell which blocks are alive after event number `event`."""
        return (self.first <= event) & (event < self.last)


@dataclasses.dataclass(frozen=True, kw_only=True)
class StepBounds:
    """The steps of a history as numbers of events: those of step i are ``start[i]:end[i]``."""

    start: Int64
    end: Int64
    start_ns: Int64
    end_ns: Int64

    def holding(self, event: int) -> int:
        """Return the step that holds an event, the last that began before it where none does."""
        return max(int(np.searchsorted(self.start, event, side="right")) - 1, 0)


@dataclasses.dataclass(frozen=True, kw_only=True)
class History:
    """What one allocator did.

    `allocated` and `reserved` are its counters after each event (bytes). `unseen_bytes` were allocated all along in
    blocks of which nothing is known. `mismatch_bytes` is what the history and the allocator's final state disagree
    by: 0 unless events are missing.
    """

    basis: Literal["trace", "snapshot"]
    time_ns: Int64
    is_timed: bool  # False: there are no times, and `time_ns` counts events by the thousand
    start_bytes: int  # allocated before the first event
    allocated: Int64
    reserved: Int64 | None
    blocks: BlockTable
    steps: StepBounds
    unseen_bytes: int = 0
    mismatch_bytes: int = 0

    @property
    def num_events(self) -> int:
        """Return the number of allocations and frees."""
        return len(self.time_ns)

    def counter(self, event: Int64) -> Int64:
        """Return the allocated bytes before each event number."""
        return np.concatenate(([self.start_bytes], self.allocated))[event]

    def peak_event(self) -> int | None:
        """Return the event after which most was allocated, within the steps where there are any; None without events.

        -1 stands for the beginning, where nothing later reached it. Of several steps that reach the same height the
        first, which settles, is passed over, and that of median length stands for the others.
        """
        if self.num_events == 0:
            return None
        inside = np.zeros(self.num_events, dtype=bool)
        for start, end in zip(self.steps.start.tolist(), self.steps.end.tolist(), strict=True):
            inside[start:end] = True
        if not inside.any():
            inside[:] = True
        reached = np.where(inside, self.allocated, -1)
        highest = int(np.argmax(reached))
        first = int(np.argmax(inside))
        if self.counter(np.array([first]))[0] > self.allocated[highest]:
            return first - 1
        return self._typical(np.flatnonzero(reached == reached[highest]))

    def _typical(self, events: Int64) -> int:
        """Return the first of `events` in the step of median length among those that hold any but the settling one."""
        settled = np.unique(np.searchsorted(self.steps.start, events, side="right") - 1)
        settled = settled[settled > 0]
        if len(settled) == 0:
            return int(events[0])
        length = (self.steps.end_ns - self.steps.start_ns)[settled]
        step = int(settled[np.argsort(length, kind="stable")[(len(settled) - 1) // 2]])
        return int(events[events >= self.steps.start[step]][0])

    @property
    def peak_bytes(self) -> int:
        """Return the most that was allocated within the steps, within the history where there are none."""
        event = self.peak_event()
        return self.start_bytes if event is None else int(self.counter(np.array([event + 1]))[0])

    @property
    def bytes_before_peak(self) -> int:
        """Return what was allocated when the step began that holds the peak, where there are no steps at the start."""
        event = self.peak_event()
        if event is None or len(self.steps.start) == 0:
            return self.start_bytes
        step = self.steps.holding(max(event, 0))
        return int(self.counter(self.steps.start[step : step + 1])[0])


def match_blocks(address: Int64, bytes_: Int64) -> tuple[Int64, Int64, Int64]:
    """Match frees (`bytes_` < 0) with the allocations (> 0) of the same address before them.

    Returns the event numbers of the allocations, of the frees that end them (the number of events where none does),
    and of frees whose allocation came before the first event.
    """
    num_events = len(address)
    order = np.lexsort((np.arange(num_events), address))
    this, following = order[:-1], order[1:]
    same = address[this] == address[following]
    freed_by = np.full(num_events, num_events, dtype=np.int64)
    pair = same & (bytes_[this] > 0) & (bytes_[following] < 0)
    freed_by[this[pair]] = following[pair]
    allocations = np.flatnonzero(bytes_ > 0)
    explained = np.zeros(num_events, dtype=bool)
    explained[following[pair]] = True
    return allocations, freed_by[allocations], np.flatnonzero((bytes_ < 0) & ~explained)


def bound_steps(time_ns: Int64, start_ns: Int64, end_ns: Int64) -> StepBounds:
    """Number the events of the steps that lie between the given times."""
    return StepBounds(
        start=np.searchsorted(time_ns, start_ns, side="left"),
        end=np.searchsorted(time_ns, end_ns, side="right"),
        start_ns=start_ns,
        end_ns=end_ns,
    )
