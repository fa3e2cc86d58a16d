"""Fragmentation: reserved memory that no block uses, and which of it could be given back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from reportgen.analysis.allocations.snapshot_history import main_device
from reportgen.analysis.model import Fragmentation
from reportgen.trace.memory_columns import Action, BlockState

if TYPE_CHECKING:
    from reportgen.analysis.allocations.history import History
    from reportgen.trace.columns import Int64
    from reportgen.trace.memory_columns import MemoryHistory


class _Stretches(NamedTuple):
    """Stretches of addresses, sorted."""

    address: Int64
    bytes: Int64


def measure_fragmentation(snapshot: MemoryHistory, history: History | None) -> Fragmentation | None:
    """Measure the holes at the peak, without a history at the time of the snapshot; None without any segment.

    Segments as they were at the peak are those of the end, less what was taken later, plus what was given back later.
    """
    device = main_device(snapshot)
    event = history.peak_event() if history is not None else None
    segments = _segments_at(snapshot, device, history, event)
    if len(segments.address) == 0:
        return None
    if history is None or event is None:
        return _measure("snapshot", segments, _blocks_at_end(snapshot, device))
    alive = history.blocks.alive(event)
    blocks = _Stretches(history.blocks.address[alive], history.blocks.bytes[alive])
    return _measure("peak", segments, blocks)


def _blocks_at_end(snapshot: MemoryHistory, device: int) -> _Stretches:
    blocks = snapshot.blocks
    live = blocks.state != BlockState.INACTIVE
    rows = np.flatnonzero(live & (snapshot.segments.device[blocks.segment] == device))
    return _Stretches(blocks.address[rows], blocks.bytes[rows])


def _segments_at(snapshot: MemoryHistory, device: int, history: History | None, event: int | None) -> _Stretches:
    """Return the segments at an event of `history`, those of the end without one or where segments can grow."""
    segments, events = snapshot.segments, snapshot.events
    mine = segments.device == device
    address, size = segments.address[mine], segments.reserved_bytes[mine]
    if history is not None and event is not None and not segments.is_expandable.any():
        after = np.arange(len(events.action)) > _row_of(snapshot, device, event)
        later = after & (events.device == device)
        taken = np.flatnonzero(later & (events.action == Action.SEGMENT_ALLOC))
        given = np.flatnonzero(later & (events.action == Action.SEGMENT_FREE))
        # Taken and given back after the peak is neither here nor there.
        there = ~np.isin(address, events.address[taken])
        gone = given[~np.isin(events.address[given], events.address[taken])]
        address = np.concatenate((address[there], events.address[gone]))
        size = np.concatenate((size[there], events.bytes[gone]))
    order = np.argsort(address, kind="stable")
    return _Stretches(address[order], size[order])


def _row_of(snapshot: MemoryHistory, device: int, event: int) -> int:
    """Return the entry of the snapshot that event number `event` of the device's history is."""
    events = snapshot.events
    freeing = Action.FREE_REQUESTED if (events.action == Action.FREE_REQUESTED).any() else Action.FREE_COMPLETED
    chosen = (events.device == device) & ((events.action == Action.ALLOC) | (events.action == freeing))
    return int(np.flatnonzero(chosen)[event]) if event >= 0 else -1


def _measure(at: Literal["peak", "snapshot"], segments: _Stretches, blocks: _Stretches) -> Fragmentation:
    order = np.argsort(blocks.address, kind="stable")
    address, size = blocks.address[order], blocks.bytes[order]
    owner = np.searchsorted(segments.address, address, side="right") - 1
    inside = (owner >= 0) & (address < segments.address[owner] + segments.bytes[owner])
    address, size, owner = address[inside], size[inside], owner[inside]
    used = np.bincount(owner, weights=size, minlength=len(segments.address)).astype(np.int64)
    partly = used > 0
    # A hole lies before each block, back to the block before it or the segment's start, and after the last of each.
    opens = np.diff(owner, prepend=-1) != 0
    reach = np.where(opens, segments.address[owner], np.concatenate(([0], (address + size)[:-1])))
    closes = np.append(opens[1:], True) if len(opens) else opens
    tails = (segments.address + segments.bytes)[owner[closes]] - (address + size)[closes]
    holes = np.concatenate((address - reach, tails))
    return Fragmentation(
        at=at,
        reserved_bytes=int(segments.bytes.sum()),
        allocated_bytes=int(size.sum()),
        stranded_bytes=int((segments.bytes - used)[partly].clip(0).sum()),
        idle_segment_bytes=int(segments.bytes[~partly].sum()),
        largest_hole_bytes=int(holes.max(initial=0)),
        num_segments=len(segments.address),
    )
