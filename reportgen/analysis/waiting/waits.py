"""Why the device waited: each gap cut where its cause changes.

What a gap waits for is the next device activity, and that is told by its launch. Until the host began the launch, the
gap is what the host did meanwhile; then it is the launch call; then turnaround, which is nobody's fault.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.analysis.arithmetic.intervals import FAR_NS, Painted, complement, overlaps
from reportgen.analysis.arithmetic.spans import Spans, covered, union
from reportgen.analysis.waiting.budget_result import PART_CODE
from reportgen.analysis.waiting.host_causes import paint_thread
from reportgen.analysis.waiting.refill import find_drains

if TYPE_CHECKING:
    from reportgen.analysis.waiting.budget_result import GapTable
    from reportgen.analysis.waiting.call_kinds import CallKinds
    from reportgen.analysis.waiting.host_causes import HostCauses
    from reportgen.analysis.waiting.refill import Launches
    from reportgen.trace.columns import Bool, Int8, Int32, Int64, Trace

LAUNCH, LAUNCH_CALL, TURNAROUND = PART_CODE["launch"], PART_CODE["launch-call"], PART_CODE["turnaround"]
SYNC, BUILD, PROFILER = PART_CODE["sync"], PART_CODE["build"], PART_CODE["profiler"]
UNEXPLAINED = PART_CODE["unexplained"]
# A synchronization returns within tens of microseconds once the device is idle, also where it sleeps while it waits.
# One that goes on longer waits for something that was not recorded.
UNRECORDED_NS = 200_000


class HostThreads(NamedTuple):
    """The threads that feed a device: those that launch, and the main one that they get their work from."""

    launching: tuple[int, ...]
    main: int

    @property
    def all(self) -> tuple[int, ...]:
        """Return every thread once, the main one last."""
        return (*(thread for thread in self.launching if thread != self.main), self.main)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Pieces:
    """Stretches of gaps with one cause each, disjoint and sorted by start; the columns are those of `Waits`."""

    start_ns: Int64
    end_ns: Int64
    gap: Int64
    cause: Int8
    next_activity: Int32
    operator: Int32
    frame: Int32
    call: Int32
    # Waits that a drained queue caused later on, rather than the cause itself while it lasted.
    refill: Bool


class _Next(NamedTuple):
    """The activity that ends each gap, the row of `Launches` that it came from, and when that launch began and ended.

    A launch of -FAR_NS is one from before the window; one of FAR_NS never came before the trace ended.
    """

    activity: Int64
    launch: Int64
    start_ns: Int64
    end_ns: Int64
    unknown: Bool  # no launch was recorded, or the clocks contradict each other


def find_host_threads(trace: Trace, launches: Launches) -> HostThreads:
    """Return the threads that launched `launches`, and the one that carries the step marks, else the busiest."""
    calls = trace.calls
    launching, count = np.unique(calls.thread[launches.call], return_counts=True)
    unmarked = len(trace.steps.number) == 0 and len(launching) > 0
    main = int(launching[np.argmax(count)]) if unmarked else main_thread(trace)
    return HostThreads(tuple(launching.tolist()), main)


def main_thread(trace: Trace) -> int:
    """Return the thread that carries the step marks, without step marks the one with most operators."""
    threads = trace.steps.thread if len(trace.steps.number) else trace.operators.thread
    return int(np.bincount(threads).argmax()) if len(threads) else 0


def host_time(trace: Trace, busy: Spans) -> Spans:
    """Return the host time of the steps; without step marks, the time from the first to the last of `busy`."""
    steps = trace.steps
    if len(steps.number):
        return union(steps.start_ns, steps.end_ns)
    return Spans(busy.start_ns[:1], busy.end_ns[-1:])


def explain_gaps(
    trace: Trace, device: int, gaps: GapTable, launches: Launches, causes: HostCauses, threads: HostThreads
) -> Pieces:
    """Cut the gaps of `device` where their cause changes."""
    following = _find_next(trace, device, gaps, launches)
    painted = {thread: paint_thread(trace, causes, thread, threads.main) for thread in threads.all}
    gap = np.arange(len(gaps.start_ns))
    known = ~following.unknown
    start, end = gaps.start_ns, gaps.end_ns
    called, returned = np.maximum(start, following.start_ns), np.maximum(start, following.end_ns)
    parts = [_plain(start, end, gap, UNEXPLAINED, ~known), _plain(returned, end, gap, TURNAROUND, known)]
    thread_of = np.full(len(gap), threads.main)
    launched = following.launch >= 0
    thread_of[launched] = trace.calls.thread[launches.call[following.launch[launched]]]
    for thread, layers in painted.items():
        here = known & (thread_of == thread)
        parts.append(_under(start, np.minimum(end, following.start_ns), gap, here, layers, LAUNCH))
        # A launch that loads its kernel, or fetches a buffer for the profiler, is held up by that.
        inner = np.isin(causes.cause[layers.row], (BUILD, PROFILER))
        layers = Painted(*(column[inner] for column in layers))
        parts.append(_under(called, np.minimum(end, following.end_ns), gap, here, layers, LAUNCH_CALL))
    whole, _ = _in_order(parts)
    whole, refill = _charge_refills(trace, launches, causes, list(painted.values()), following.launch, whole)
    return _link(trace, launches, causes, following, refill, whole)


def disown_unrecorded_waits(trace: Trace, pieces: Pieces, kinds: CallKinds, device: int) -> Pieces:
    """Call waits under a synchronization unexplained where it went on although no device had anything to do."""
    waiting = (pieces.cause == SYNC) & ~pieces.refill & (pieces.call >= 0)
    waiting[waiting] = kinds.synchronizes[pieces.call[waiting]]
    if not waiting.any():
        return pieces
    others = trace.activities.device != device
    elsewhere = union(trace.activities.start_ns[others], trace.activities.end_ns[others])
    idle_ns = pieces.end_ns - pieces.start_ns - covered(elsewhere, pieces.start_ns, pieces.end_ns)
    per_call = np.bincount(pieces.call[waiting], weights=idle_ns[waiting], minlength=len(trace.calls.start_ns))
    disowned = waiting & (per_call[np.maximum(pieces.call, 0)] > UNRECORDED_NS)
    return dataclasses.replace(pieces, cause=np.where(disowned, UNEXPLAINED, pieces.cause).astype(np.int8))


def _find_next(trace: Trace, device: int, gaps: GapTable, launches: Launches) -> _Next:
    activities, calls = trace.activities, trace.calls
    on_device = np.flatnonzero(activities.device == device)
    position = np.searchsorted(activities.start_ns[on_device], gaps.end_ns, side="left")
    found = position < len(on_device)
    activity = np.where(found, on_device[np.minimum(position, len(on_device) - 1)], -1)
    call = np.where(found, activities.call[activity], -1)
    linked = call >= 0
    queued_before = found & activities.before_window[activity]
    start = np.where(linked, calls.start_ns[call] if len(calls.start_ns) else FAR_NS, FAR_NS)
    end = np.where(linked, calls.end_ns[call] if len(calls.end_ns) else FAR_NS, FAR_NS)
    skewed = linked & ~queued_before & (activities.start_ns[activity] < start)
    return _Next(
        activity=activity,
        launch=np.where(linked, np.searchsorted(launches.call, call), -1),
        start_ns=np.where(queued_before, -FAR_NS, start),
        end_ns=np.where(queued_before, -FAR_NS, end),
        unknown=skewed | (found & ~linked & ~queued_before),
    )


class _Part(NamedTuple):
    start_ns: Int64
    end_ns: Int64
    gap: Int64
    row: Int64  # of HostCauses, -1 where the cause is the default
    default: Int64  # cause of rows of -1

    def select(self, rows: Int64) -> _Part:
        return _Part(*(column[rows] for column in self))


def _plain(start: Int64, end: Int64, gap: Int64, cause: int, chosen: Bool) -> _Part:
    """Return the stretches that have one cause whatever the host did."""
    chosen = chosen & (end > start)
    rows = np.flatnonzero(chosen)
    return _Part(start[rows], end[rows], gap[rows], np.full(len(rows), -1), np.full(len(rows), cause))


def _under(start: Int64, end: Int64, gap: Int64, chosen: Bool, painted: Painted, default: int) -> _Part:
    """Cut stretches by what is painted over them; what is bare has the default cause."""
    rows = np.flatnonzero(chosen & (end > start))
    stretches = Spans(start[rows], end[rows])
    coloured = overlaps(stretches, Spans(painted.start_ns, painted.end_ns))
    bare = overlaps(stretches, complement(union(painted.start_ns, painted.end_ns)))
    left = np.concatenate((coloured.left, bare.left))
    return _Part(
        np.concatenate((coloured.start_ns, bare.start_ns)),
        np.concatenate((coloured.end_ns, bare.end_ns)),
        gap[rows][left],
        np.concatenate((painted.row[coloured.right], np.full(len(bare.left), -1))),
        np.full(len(left), default),
    )


def _link(trace: Trace, launches: Launches, causes: HostCauses, following: _Next, refill: Bool, whole: _Part) -> Pieces:
    """Say for each part what it is charged to."""
    launch = following.launch[whole.gap]
    charged = whole.row >= 0
    caller = np.where(launch >= 0, launches.call[launch], -1) if len(launches.call) else np.full(len(launch), -1)
    known = caller >= 0
    calls = trace.calls

    def linked(of_cause: Int32, of_launch: Int32) -> Int32:
        value = np.full(len(launch), -1, dtype=np.int32)
        value[known] = of_launch[caller[known]]
        value[charged] = of_cause[whole.row[charged]]
        return value

    cause = whole.default.copy()
    cause[charged] = causes.cause[whole.row[charged]]
    call = np.where(known & np.isin(whole.default, (LAUNCH_CALL, TURNAROUND)), caller, -1)
    call[charged] = causes.call[whole.row[charged]]
    return Pieces(
        start_ns=whole.start_ns,
        end_ns=whole.end_ns,
        gap=whole.gap,
        cause=cause.astype(np.int8),
        next_activity=following.activity[whole.gap].astype(np.int32),
        operator=linked(causes.operator, calls.operator),
        frame=linked(causes.frame, calls.frame),
        call=call.astype(np.int32),
        refill=refill,
    )


def _charge_refills(
    trace: Trace, launches: Launches, causes: HostCauses, painted: list[Painted], launch: Int64, whole: _Part
) -> tuple[_Part, Bool]:
    """Charge waits for late launches to what drained the queue; returns the parts anew, and which of them are refills.

    `launch` is by gap. A wait that a drain answers for only in part is cut in two.
    """
    layers = Painted(*(np.concatenate(column) for column in zip(*painted, strict=True)))
    drainable = np.flatnonzero(causes.cause[layers.row] != PROFILER)
    drainable = drainable[np.argsort(layers.start_ns[drainable], kind="stable")]
    drains = find_drains(trace, launches, Painted(*(column[drainable] for column in layers)))
    ordinary = (whole.row < 0) & (launch[whole.gap] >= 0) & np.isin(whole.default, (LAUNCH, LAUNCH_CALL))
    drain = np.full(len(ordinary), -1)
    drain[ordinary] = drains.of_launch[launch[whole.gap[ordinary]]]
    charged_ns = drains.charge(drain, whole.end_ns - whole.start_ns)
    taken = np.flatnonzero(charged_ns > 0)
    refills = whole.select(taken)._replace(
        end_ns=whole.start_ns[taken] + charged_ns[taken], row=drains.cause[drain[taken]]
    )
    rest = whole._replace(start_ns=whole.start_ns + charged_ns)
    rest = rest.select(np.flatnonzero(rest.end_ns > rest.start_ns))
    joined, order = _in_order([refills, rest])
    return joined, order < len(taken)


def _in_order(parts: list[_Part]) -> tuple[_Part, Int64]:
    """Return all parts sorted by start, and where each came from."""
    whole = _Part(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    order = np.argsort(whole.start_ns, kind="stable")
    return whole.select(order), order
