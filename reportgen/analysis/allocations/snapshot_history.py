"""The allocator's history as a memory snapshot tells it, what was alive before the recording included."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.allocations.history import BEFORE, BlockTable, History, bound_steps, match_blocks
from reportgen.trace.memory_columns import Action, BlockState

if TYPE_CHECKING:
    from reportgen.trace.columns import Bool, Int64
    from reportgen.trace.memory_columns import MemoryHistory

# The caching allocator hands out multiples of this (c10/cuda/CUDACachingAllocator, kMinBlockSize); a history's entries
# hold what was asked for.
_GRAIN_BYTES = 512
STEP_MARK = "ProfilerStep#"


def main_device(snapshot: MemoryHistory) -> int:
    """Return the device whose allocator holds most."""
    devices = snapshot.segments.device
    if len(devices) == 0:
        return int(np.bincount(snapshot.events.device).argmax()) if len(snapshot.events.device) else 0
    return int(np.bincount(devices, weights=snapshot.segments.reserved_bytes).argmax())


def history_of_snapshot(snapshot: MemoryHistory, device: int | None = None) -> History | None:
    """Return the history of one device's allocator, of that which holds most unless said; None without any entry.

    The counters are reckoned backwards from the state at the end, so that what was alive before the first entry
    counts: blocks active at the end that no entry allocated, and frees without an allocation.
    """
    device = main_device(snapshot) if device is None else device
    events = snapshot.events
    on_device = events.device == device
    freeing = Action.FREE_REQUESTED if (events.action == Action.FREE_REQUESTED).any() else Action.FREE_COMPLETED
    row = np.flatnonzero(on_device & ((events.action == Action.ALLOC) | (events.action == freeing)))
    if len(row) == 0:
        return None
    sign = np.where(events.action[row] == Action.ALLOC, 1, -1)
    allocations, last, orphans = match_blocks(events.address[row], sign)
    is_timed = bool((events.time_us[row] >= 0).all())
    time_ns = (events.time_us[row] if is_timed else np.arange(len(row))) * 1000
    table = _blocks(snapshot, device, row, allocations, last, orphans)
    change = np.zeros(len(row), dtype=np.int64)
    seen = table.first >= 0
    change[table.first[seen]] += table.bytes[seen]
    freed = table.last < len(row)
    change[table.last[freed]] -= table.bytes[freed]
    at_end = int(snapshot.segments.allocated_bytes[snapshot.segments.device == device].sum())
    start_bytes = at_end - int(change.sum())
    return History(
        basis="snapshot",
        time_ns=time_ns,
        is_timed=is_timed,
        start_bytes=start_bytes,
        allocated=start_bytes + np.cumsum(change),
        reserved=_reserved(snapshot, device, row),
        blocks=table,
        steps=bound_steps(time_ns, *_step_times(snapshot, time_ns, is_timed=is_timed)),
        unseen_bytes=0,
        mismatch_bytes=start_bytes - int(table.bytes[~seen].sum()),
    )


def _blocks(
    snapshot: MemoryHistory, device: int, row: Int64, allocations: Int64, last: Int64, orphans: Int64
) -> BlockTable:
    events, blocks = snapshot.events, snapshot.blocks
    address = events.address[row]
    # What is still there tells its true size: a block may be larger than what was asked for.
    standing = _standing(snapshot, device)
    open_now = last == len(row)
    sizes = _rounded(events.bytes[row])
    size = sizes[allocations]
    place = _positions(blocks.address[standing], address[allocations])
    explained = open_now & (place >= 0)
    size = np.where(explained, blocks.bytes[standing][place], size)
    # Open by the history but gone at the end: its free is missing, and it must not be taken for alive.
    kept = ~open_now | explained
    allocations, last, size = allocations[kept], last[kept], size[kept]
    unexplained = np.ones(len(standing), dtype=bool)
    unexplained[place[explained]] = False
    before = standing[unexplained]
    num_before = len(orphans) + len(before)
    unknown = np.full(len(allocations) + num_before, -1, dtype=np.int32)
    return BlockTable(
        first=np.concatenate((allocations, np.full(num_before, BEFORE))),
        last=np.concatenate((last, orphans, np.full(len(before), len(row)))),
        bytes=np.concatenate((size, sizes[orphans], blocks.bytes[before])),
        address=np.concatenate((address[allocations], address[orphans], blocks.address[before])),
        operator=unknown,
        frame=unknown,
        stack=np.concatenate((events.stack[row[allocations]], np.full(len(orphans), -1), blocks.stack[before])).astype(
            np.int32
        ),
    )


def _standing(snapshot: MemoryHistory, device: int) -> Int64:
    """Return the rows of blocks that the program holds at the end on `device`."""
    blocks = snapshot.blocks
    held: Bool = blocks.state == BlockState.ACTIVE_ALLOCATED
    return np.flatnonzero(held & (snapshot.segments.device[blocks.segment] == device))


def _positions(among: Int64, wanted: Int64) -> Int64:
    """Return where each of `wanted` is in `among`, -1 where it is not."""
    if len(among) == 0:
        return np.full(len(wanted), -1, dtype=np.int64)
    order = np.argsort(among, kind="stable")
    place = np.minimum(np.searchsorted(among[order], wanted), len(among) - 1)
    return np.where(among[order][place] == wanted, order[place], -1)


def _rounded(bytes_: Int64) -> Int64:
    return -(-bytes_ // _GRAIN_BYTES) * _GRAIN_BYTES


def _reserved(snapshot: MemoryHistory, device: int, row: Int64) -> Int64:
    """Return the reserved bytes after each entry of `row`, reckoned back from the segments at the end."""
    events = snapshot.events
    grows = (events.action == Action.SEGMENT_ALLOC) | (events.action == Action.SEGMENT_MAP)
    shrinks = (events.action == Action.SEGMENT_FREE) | (events.action == Action.SEGMENT_UNMAP)
    change = np.where(grows, events.bytes, np.where(shrinks, -events.bytes, 0)) * (events.device == device)
    at_end = int(snapshot.segments.reserved_bytes[snapshot.segments.device == device].sum())
    after: Int64 = at_end - int(change.sum()) + np.cumsum(change)
    return after[row]


def _step_times(snapshot: MemoryHistory, time_ns: Int64, *, is_timed: bool) -> tuple[Int64, Int64]:
    """Return start and end of the steps in which something was allocated or freed."""
    if not is_timed:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    begun: dict[str, int] = {}
    spans: set[tuple[int, int]] = set()
    for mark in snapshot.marks:
        if not mark.name.startswith(STEP_MARK):
            continue
        if mark.stage == "start":
            begun[mark.name] = mark.time_us
        elif mark.name in begun:
            spans.add((begun[mark.name] * 1000, mark.time_us * 1000 + 999))
    starts, ends = (
        np.array(column, dtype=np.int64) for column in (zip(*sorted(spans), strict=True) if spans else ((), ()))
    )
    busy = np.searchsorted(time_ns, ends, side="right") > np.searchsorted(time_ns, starts, side="left")
    return starts[busy], ends[busy]
