"""The allocator's history as the `[memory]` events of a trace tell it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.allocations.history import BEFORE, BlockTable, History, bound_steps, match_blocks
from reportgen.analysis.arithmetic.links import first_known, follow
from reportgen.trace.calltree import nearest_with

if TYPE_CHECKING:
    from reportgen.analysis.attribution.attribution import Attribution
    from reportgen.trace.columns import Int32, Int64, Trace

HOST_TYPE = 0  # torch's DeviceType::CPU
# Operators that only make room for another's result: the allocation is named after the one around them.
_MAKES_ROOM = ("aten::empty", "aten::new_empty", "aten::resize_")


def history_of_trace(attribution: Attribution) -> History | None:
    """Return the history that the detail trace holds; None where it recorded no memory.

    The counter is the allocator's own (``Total Allocated``): what an operator allocated may be freed by another, so
    nothing is summed.
    """
    trace = attribution.detail
    row = select_events(trace)
    if len(row) == 0:
        return None
    memory = trace.memory
    time_ns, bytes_, allocated = memory.time_ns[row], memory.bytes[row], memory.total_allocated[row]
    reserved = memory.total_reserved[row]
    address = memory.address[row]
    allocations, last, orphans = match_blocks(address, bytes_)
    start_bytes = int(allocated[0] - bytes_[0])
    starts, ends = _step_times(trace, int(time_ns[-1]))
    operator = asked_by(trace, row[allocations])
    before = np.full(len(orphans), -1, dtype=np.int32)
    return History(
        basis="trace",
        time_ns=time_ns,
        is_timed=True,
        start_bytes=start_bytes,
        allocated=allocated,
        # A host's allocator reserves nothing, and its counter is always 0.
        reserved=reserved if reserved.max() > 0 else None,
        blocks=BlockTable(
            first=np.concatenate((allocations, np.full(len(orphans), BEFORE))),
            last=np.concatenate((last, orphans)),
            bytes=np.concatenate((bytes_[allocations], -bytes_[orphans])),
            address=np.concatenate((address[allocations], address[orphans])),
            operator=np.concatenate((operator, before)),
            frame=np.concatenate((_frames(attribution, row[allocations], operator), before)),
            stack=np.full(len(allocations) + len(orphans), -1, dtype=np.int32),
        ),
        steps=bound_steps(time_ns, starts, ends),
        unseen_bytes=max(start_bytes + int(bytes_[orphans].sum()), 0),
    )


def select_events(trace: Trace) -> Int64:
    """Return the rows of Trace.memory, in order, of the allocator that the report is about.

    That is the device's with the highest peak, on a run without any device the host's.
    """
    memory = trace.memory
    of_device = memory.device_type != HOST_TYPE
    chosen = of_device if of_device.any() else ~of_device & (not trace.device_expected)
    chosen &= memory.total_allocated >= 0
    if not chosen.any():
        return np.zeros(0, dtype=np.int64)
    highest = np.argmax(np.where(chosen, memory.total_allocated, -1))
    chosen &= (memory.device_type == memory.device_type[highest]) & (memory.device == memory.device[highest])
    row = np.flatnonzero(chosen)
    return row[np.argsort(memory.time_ns[row], kind="stable")]


def asked_by(trace: Trace, rows: Int64) -> Int32:
    """Return the operator that asked for each allocation: the innermost that does more than make room."""
    names = np.array([name.startswith(_MAKES_ROOM) for name in trace.names] + [False])
    asking = nearest_with(trace.operators.parent, ~names[trace.operators.name])
    asking = np.where(asking >= 0, asking, np.arange(len(asking))).astype(np.int32)
    return follow(trace.memory.operator[rows], asking)


def _frames(attribution: Attribution, rows: Int64, operator: Int32) -> Int32:
    return first_known(attribution.detail.memory.frame[rows], follow(operator, attribution.detail_frame))


def _step_times(trace: Trace, last_ns: int) -> tuple[Int64, Int64]:
    """Return the steps' times; without step marks the window is one step."""
    if len(trace.steps.number):
        return trace.steps.start_ns, trace.steps.end_ns
    return np.array([trace.window_start_ns]), np.array([max(trace.window_end_ns, last_ns)])
