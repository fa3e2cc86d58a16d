"""The high-water mark of a step, what it grew from and the allocations under it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.grouping import combine, total
from reportgen.analysis.links import first_known, follow
from reportgen.analysis.model import Allocation, Allocator, Memory, MemoryCurve
from reportgen.analysis.window import count
from reportgen.trace.calltree import nearest_with

if TYPE_CHECKING:
    from reportgen.analysis.attribution import Attribution
    from reportgen.analysis.window import Counted
    from reportgen.recording import MemoryMarks
    from reportgen.trace.columns import Bool, Int32, Int64, Trace

MOST_ALLOCATIONS = 20
CURVE_BINS = 200
_HOST_TYPE = 0  # torch's DeviceType::CPU
# Operators that only make room for another's result: the allocation is named after the one around them.
_MAKES_ROOM = ("aten::empty", "aten::new_empty", "aten::resize_")
_DEVICE_MALLOCS = ("cudaMalloc", "cuMemAlloc", "cuMemCreate", "cuMemMap", "hipMalloc", "hipMemCreate", "hipMemMap")
_DEVICE_FREES = ("cudaFree", "cuMemFree", "cuMemUnmap", "cuMemRelease", "hipFree", "hipMemUnmap", "hipMemRelease")
# The same families on pinned or plain host memory.
_HOST_MEMORY = ("Host", "Array")


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Events:
    """The memory events of one allocator, in order; `row` points into Trace.memory."""

    row: Int64
    time_ns: Int64
    bytes: Int64
    allocated: Int64  # the allocator's counter after the event, -1 where it was not written
    reserved: Int64


def measure_memory(attribution: Attribution, marks: MemoryMarks | None) -> Memory | None:
    """Measure peaks, growth and the largest allocations; None where nothing recorded memory.

    Peaks and start come from the counters of an unprofiled run (`marks`) where there are any, else from the trace's
    own `[memory]` events: of the device's allocator, on a run without a device of the host's. What an operator
    allocated may be freed by another, so nothing is summed: the curve is the allocator's own counter.
    """
    trace = attribution.detail
    events = _select(trace)
    if events is None:
        return None if marks is None else _from_marks(marks)
    counted = count(trace)
    at_starts, at_ends = _at_step_borders(trace, events)
    return Memory(
        peak_allocated_bytes=marks.peak_allocated_bytes if marks else _peak(events.allocated),
        peak_reserved_bytes=marks.peak_reserved_bytes if marks else _peak(events.reserved),
        start_bytes=marks.start_bytes if marks else at_starts[0],
        growth_bytes_per_step=(at_ends[-1] - at_ends[0]) / (len(at_ends) - 1) if len(at_ends) > 1 else None,
        basis="unprofiled" if marks else "trace",
        step_end_bytes=tuple(at_ends),
        largest=_largest(attribution, events, counted),
        allocator=_driver_calls(trace, counted),
        curve=_curve(trace, events),
    )


def _from_marks(marks: MemoryMarks) -> Memory:
    return Memory(
        peak_allocated_bytes=marks.peak_allocated_bytes,
        peak_reserved_bytes=marks.peak_reserved_bytes,
        start_bytes=marks.start_bytes,
        growth_bytes_per_step=None,
        basis="unprofiled",
    )


def _select(trace: Trace) -> _Events | None:
    """Select the allocator that the report is about: the device's with the highest peak, without any the host's."""
    memory = trace.memory
    of_device = memory.device_type != _HOST_TYPE
    chosen = of_device if of_device.any() else ~of_device & (not trace.device_expected)
    chosen &= memory.total_allocated >= 0
    if not chosen.any():
        return None
    highest = np.argmax(np.where(chosen, memory.total_allocated, -1))
    chosen &= (memory.device_type == memory.device_type[highest]) & (memory.device == memory.device[highest])
    row = np.flatnonzero(chosen)
    row = row[np.argsort(memory.time_ns[row], kind="stable")]
    return _Events(
        row=row,
        time_ns=memory.time_ns[row],
        bytes=memory.bytes[row],
        allocated=memory.total_allocated[row],
        reserved=memory.total_reserved[row],
    )


def _peak(counter: Int64) -> int | None:
    """Return the highest value; None for a counter that was never written (a host's reserved bytes are always 0)."""
    highest = int(counter.max())
    return highest if highest > 0 else None


def _at_step_borders(trace: Trace, events: _Events) -> tuple[list[int], list[int]]:
    """Return the allocated bytes at the start and at the end of each step; without step marks of the window."""
    steps = trace.steps
    starts = steps.start_ns if len(steps.number) else np.array([trace.window_start_ns])
    ends = steps.end_ns if len(steps.number) else np.array([max(trace.window_end_ns, int(events.time_ns[-1]))])
    # Before the first event stands what the counter showed after it, less what it did.
    counter = np.concatenate(([events.allocated[0] - events.bytes[0]], events.allocated))

    def at(time_ns: Int64) -> list[int]:
        return [int(value) for value in counter[np.searchsorted(events.time_ns, time_ns, side="left")]]

    return at(starts), at(ends)


def _held_ns(trace: Trace, events: _Events) -> Int64:
    """Return for each event how long the block it allocated lived, -1 where it was not freed or is no allocation."""
    address = trace.memory.address[events.row]
    order = np.lexsort((np.arange(len(address)), address))
    held = np.full(len(address), -1, dtype=np.int64)
    this, following = order[:-1], order[1:]
    pair = (address[this] == address[following]) & (events.bytes[this] > 0) & (events.bytes[following] < 0)
    held[this[pair]] = (events.time_ns[following] - events.time_ns[this])[pair]
    return held


def _largest(attribution: Attribution, events: _Events, counted: Counted) -> tuple[Allocation, ...]:
    """List the largest allocations of the steps, equal ones of one operator and function as one row."""
    trace = attribution.detail
    memory = trace.memory
    inside = (events.bytes > 0) & counted.memory[events.row]
    if not inside.any():
        return ()
    rows = events.row[inside]
    operator = follow(memory.operator[rows], _asking_operator(trace))
    group = follow(operator, attribution.detail_group)
    frame = first_known(memory.frame[rows], follow(operator, attribution.detail_frame))
    source = follow(frame, attribution.frames.source_code)
    size, held = events.bytes[inside], _held_ns(trace, events)[inside]
    kind, first = combine(size, group, source)
    times = total(kind, None, len(first))
    freed = total(np.where(held >= 0, kind, -1), held, len(first))
    num_freed = total(np.where(held >= 0, kind, -1), None, len(first))
    order = np.lexsort((-times, -size[first]))[:MOST_ALLOCATIONS]

    def row(index: int) -> Allocation:
        known = attribution.groups[group[first[index]]] if group[first[index]] >= 0 else None
        code = int(source[first[index]])
        return Allocation(
            bytes=int(size[first[index]]),
            operator=known.name if known else None,
            input_shapes=known.signature.shapes if known and known.signature else None,
            count_per_step=float(times[index]) / counted.num_steps,
            held_us=float(freed[index] / num_freed[index]) / 1e3 if num_freed[index] else None,
            source=attribution.frames.sources[code] if code >= 0 else None,
        )

    return tuple(row(int(index)) for index in order)


def _asking_operator(trace: Trace) -> Int32:
    """Return for each operator the innermost around it, itself included, that does more than make room."""
    makes_room = np.array([name.startswith(_MAKES_ROOM) for name in trace.names] + [False])[trace.operators.name]
    asking = nearest_with(trace.operators.parent, ~makes_room)
    return np.where(asking >= 0, asking, np.arange(len(asking))).astype(np.int32)


def _driver_calls(trace: Trace, counted: Counted) -> Allocator | None:
    """Count the caching allocator's calls into the driver; None where no runtime call was recorded."""
    if len(trace.calls.start_ns) == 0:
        return None

    def per_step(prefixes: tuple[str, ...]) -> float:
        matches = [name.startswith(prefixes) and not any(word in name for word in _HOST_MEMORY) for name in trace.names]
        chosen: Bool = np.array([*matches, False])[trace.calls.name] & counted.calls
        return int(chosen.sum()) / counted.num_steps

    return Allocator(device_mallocs_per_step=per_step(_DEVICE_MALLOCS), device_frees_per_step=per_step(_DEVICE_FREES))


def _curve(trace: Trace, events: _Events) -> MemoryCurve | None:
    """Return the counter over the step that holds the peak, thinned to the extremes of equal stretches of time."""
    start_ns, end_ns = _step_around(trace, int(events.time_ns[np.argmax(events.allocated)]))
    inside = np.flatnonzero((events.time_ns >= start_ns) & (events.time_ns <= end_ns))
    if len(inside) == 0:
        return None
    kept = inside[thin(events.time_ns[inside], events.allocated[inside], CURVE_BINS)]
    return MemoryCurve(
        time_us=tuple(((events.time_ns[kept] - start_ns) / 1e3).tolist()),
        allocated_bytes=tuple(events.allocated[kept].tolist()),
        reserved_bytes=tuple(events.reserved[kept].tolist()) if _peak(events.reserved) is not None else None,
    )


def _step_around(trace: Trace, time_ns: int) -> tuple[int, int]:
    """Return the bounds of the step that holds `time_ns`, of the window where there are no steps or none does."""
    holds = np.flatnonzero((trace.steps.start_ns <= time_ns) & (time_ns <= trace.steps.end_ns))
    if len(holds) == 0:
        return trace.window_start_ns, max(trace.window_end_ns, time_ns)
    return int(trace.steps.start_ns[holds[0]]), int(trace.steps.end_ns[holds[0]])


def thin(time_ns: Int64, value: Int64, num_bins: int) -> Int64:
    """Return positions that keep the first, lowest, highest and last value of each of `num_bins` stretches of time."""
    span = max(int(time_ns[-1] - time_ns[0]), 1)
    stretch = np.minimum((time_ns - time_ns[0]) * num_bins // span, num_bins - 1)
    by_value = np.lexsort((value, stretch))
    opens = np.concatenate(([True], np.diff(stretch) > 0))
    closes = np.append(opens[1:], True)
    # Sorted by stretch first, both orders share the borders of stretches.
    kept = np.concatenate((np.flatnonzero(opens), np.flatnonzero(closes), by_value[opens], by_value[closes]))
    return np.unique(kept)
