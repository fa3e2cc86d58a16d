"""What the host did at each moment besides issuing work: fetching input, waiting, allocating, building, stalling.

Spans of several causes overlap: a synchronization inside a data loader, an allocation inside a compiler. On each thread
they are painted over each other in the order of the rules, input on top; what stays bare is the ordinary cost of
issuing work.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from reportgen.analysis.arithmetic.intervals import Painted, paint, subtract
from reportgen.analysis.arithmetic.spans import Spans, union
from reportgen.analysis.waiting.budget_result import PART_CODE
from reportgen.analysis.waiting.call_kinds import build_overheads, build_spans, full_queue_overheads, input_spans

if TYPE_CHECKING:
    from reportgen.analysis.waiting.call_kinds import CallKinds
    from reportgen.analysis.waiting.first_visits import SlowVisits
    from reportgen.trace.columns import Annotations, Bool, Calls, Frames, Int8, Int32, Int64, Operators, Trace

EVERY_THREAD = -1
# Later ones lie on top. The profiler's own time is known for certain, so nothing hides it.
PAINT_ORDER = tuple(PART_CODE[part] for part in ("stall", "build", "allocator", "sync", "input", "profiler"))


@dataclasses.dataclass(frozen=True, kw_only=True)
class HostCauses:
    """Spans of host time with a cause of their own, in no order; spans may overlap."""

    start_ns: Int64
    end_ns: Int64
    thread: Int32  # row of Trace.threads, EVERY_THREAD for what held up the whole process
    cause: Int8
    call: Int32  # row of Trace.calls where the span is one, else -1
    operator: Int32  # innermost operator around it, or the operator itself
    frame: Int32  # innermost frame around it, or the frame itself

    @classmethod
    def none(cls) -> HostCauses:
        """Return no spans."""
        return _rows(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), "launch")

    def joined(self, *others: HostCauses) -> HostCauses:
        """Return the spans of all."""
        names = [field.name for field in dataclasses.fields(self)]
        return HostCauses(
            **{name: np.concatenate([getattr(causes, name) for causes in (self, *others)]) for name in names}
        )

    def painted(self, rows: Int64) -> Painted:
        """Paint the spans `rows` over each other; `row` of the result is a row of this table."""
        priority = np.zeros(len(PART_CODE), dtype=np.int64)
        priority[list(PAINT_ORDER)] = np.arange(len(PAINT_ORDER))
        visible = paint(self.start_ns[rows], self.end_ns[rows], priority[self.cause[rows]])
        return Painted(visible.start_ns, visible.end_ns, rows[visible.row])


def collect_host_causes(trace: Trace, kinds: CallKinds, visits: SlowVisits) -> HostCauses:
    """Collect all spans of host time with a cause of their own, but stalls, which are told from what these leave."""
    return HostCauses.none().joined(
        _calls(trace, kinds.synchronizes | kinds.blocks_on_copy, "sync"),
        _calls(trace, kinds.allocates, "allocator"),
        _calls(trace, kinds.builds, "build"),
        *_named_spans(trace, input_spans(trace), "input"),
        *_named_spans(trace, build_spans(trace), "build"),
        _slow_visits(trace, visits),
        *_overheads(trace),
        _between_steps(trace),
    )


def paint_thread(trace: Trace, causes: HostCauses, thread: int, main: int) -> Painted:
    """Return the visible causes of one thread.

    Where a thread has nothing open, it waits for the main thread to hand it work: there the main thread's causes count.
    """
    own = np.flatnonzero((causes.thread == thread) | (causes.thread == EVERY_THREAD))
    painted = causes.painted(own)
    others = np.flatnonzero(causes.thread == main)
    if thread == main or len(others) == 0:
        return painted
    taken = union(*(np.concatenate(column) for column in zip(painted[:2], _open_on(trace, thread), strict=True)))
    behind = causes.painted(others)
    left = subtract(Spans(behind.start_ns, behind.end_ns), taken)
    row = behind.row[np.searchsorted(behind.start_ns, left.start_ns, side="right") - 1]
    start, end = np.concatenate((painted.start_ns, left.start_ns)), np.concatenate((painted.end_ns, left.end_ns))
    order = np.argsort(start, kind="stable")
    return Painted(start[order], end[order], np.concatenate((painted.row, row))[order])


def stall_causes(start_ns: Int64, end_ns: Int64, thread: Int32, operator: Int32, frame: Int32) -> HostCauses:
    """Return stalls as causes."""
    return _rows(start_ns, end_ns, "stall", thread=thread, operator=operator, frame=frame)


def _open_on(trace: Trace, thread: int) -> Spans:
    """Return when an operator or runtime call was open on a thread."""
    tables = (trace.operators, trace.calls)
    start = np.concatenate([table.start_ns[table.thread == thread] for table in tables])
    end = np.concatenate([table.end_ns[table.thread == thread] for table in tables])
    return union(start, end)


def _calls(trace: Trace, chosen: Bool, cause: str) -> HostCauses:
    calls, rows = trace.calls, np.flatnonzero(chosen)
    return _spans_of(calls, rows, cause, call=rows, operator=calls.operator[rows], frame=calls.frame[rows])


def _named_spans(trace: Trace, chosen: tuple[Bool, Bool, Bool], cause: str) -> tuple[HostCauses, ...]:
    operators, annotations, frames = trace.operators, trace.annotations, trace.frames
    of_operators, of_annotations, of_frames = (np.flatnonzero(mask) for mask in chosen)
    return (
        _spans_of(operators, of_operators, cause, operator=of_operators, frame=operators.frame[of_operators]),
        _spans_of(annotations, of_annotations, cause),
        _spans_of(frames, of_frames, cause, frame=of_frames),
    )


def _slow_visits(trace: Trace, visits: SlowVisits) -> HostCauses:
    """Return the host time that slow first visits spent themselves, outside the operators that they called."""
    operators, parts = trace.operators, []
    children = np.flatnonzero(np.isin(operators.parent, visits.operator))
    for thread in np.unique(operators.thread[visits.operator]):
        rows = visits.operator[operators.thread[visits.operator] == thread]
        below = children[operators.thread[children] == thread]
        whole = union(operators.start_ns[rows], operators.end_ns[rows])
        own = subtract(whole, union(operators.start_ns[below], operators.end_ns[below]))
        row = rows[np.searchsorted(operators.start_ns[rows], own.start_ns, side="right") - 1]
        parts.append(
            _rows(own.start_ns, own.end_ns, "build", thread=operators.thread[row], operator=row,
                  frame=operators.frame[row])
        )  # fmt: skip
    return HostCauses.none().joined(*parts)


def _overheads(trace: Trace) -> tuple[HostCauses, ...]:
    """Return the overheads: first visits' loading as build, buffers as the profiler's; a full queue is neither."""
    overheads, builds = trace.overheads, build_overheads(trace)
    profilers = ~builds & ~full_queue_overheads(trace)
    # Their recorded thread is no host thread.
    return (
        _rows(overheads.start_ns[builds], overheads.end_ns[builds], "build"),
        _rows(overheads.start_ns[profilers], overheads.end_ns[profilers], "profiler"),
    )


def _between_steps(trace: Trace) -> HostCauses:
    """Return the time between step marks, in which only the profiler's own step() runs."""
    steps = trace.steps
    return _rows(steps.end_ns[:-1], np.maximum(steps.start_ns[1:], steps.end_ns[:-1]), "profiler")


def _spans_of(table: Calls | Operators | Annotations | Frames, rows: Int64, cause: str, **links: Any) -> HostCauses:
    """Return `rows` of a table as causes, each on the thread that it was recorded on."""
    return _rows(table.start_ns[rows], table.end_ns[rows], cause, thread=table.thread[rows], **links)


def _rows(
    start_ns: Int64,
    end_ns: Int64,
    cause: str,
    *,
    thread: Int32 | None = None,
    call: Int64 | None = None,
    operator: Int64 | Int32 | None = None,
    frame: Int64 | Int32 | None = None,
) -> HostCauses:
    def links(rows: Int64 | Int32 | None) -> Int32:
        return np.full(len(start_ns), -1, dtype=np.int32) if rows is None else rows.astype(np.int32)

    return HostCauses(
        start_ns=start_ns,
        end_ns=end_ns,
        thread=links(thread),
        cause=np.full(len(start_ns), PART_CODE[cause], dtype=np.int8),  # type: ignore[index]
        call=links(call),
        operator=links(operator),
        frame=links(frame),
    )
