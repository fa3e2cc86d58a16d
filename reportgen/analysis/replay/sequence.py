"""The host's runtime calls of some steps in order, with the host time between them."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.arithmetic.spans import covered, union
from reportgen.analysis.waiting.call_kinds import classify_calls, full_queue_overheads

if TYPE_CHECKING:
    from reportgen.analysis.steps.steps import StepWindow
    from reportgen.trace.columns import Bool, Int64, Trace

# Steps are taken from the last one backwards until they have this many calls.
MOST_CALLS = 20_000
# A launch that takes this many times the median on a busy device waited for its queue.
BLOCKED_FACTOR = 10


@dataclasses.dataclass(frozen=True, kw_only=True)
class Sequence:
    """Calls that launch or wait, and the end of each step (call -1), in order; all arrays have one entry an event."""

    call: Int64
    step: Int64
    waits: Bool  # the call may wait for the device
    stretch_start_ns: Int64
    stretch_end_ns: Int64
    call_end_ns: Int64
    busy_ns: Int64  # in the call, without what a full queue held it up
    num_steps: int

    @property
    def stretch_ns(self) -> Int64:
        """Return the host time before each event."""
        return self.stretch_end_ns - self.stretch_start_ns


def list_sequence(trace: Trace, steps: StepWindow) -> Sequence:
    """List the events of the steps but the settling first, of very long ones only the last."""
    calls, kinds = trace.calls, classify_calls(trace)
    waits = kinds.synchronizes | kinds.blocks_on_copy
    chosen = np.flatnonzero(calls.is_launch | waits)
    chosen = chosen[np.argsort(calls.start_ns[chosen], kind="stable")].astype(np.int64)
    parts = _split(trace, steps, chosen)
    call, begin_ns, end_ns, last_ns = (np.concatenate(column) for column in zip(*parts, strict=True))
    # Where calls of two threads overlap, the later one begins without a stretch, and counts from the earlier one's end.
    end_ns = np.maximum(end_ns, begin_ns)
    # The end of a step, -1, is no call: what stands last in the columns.
    held_up = np.append(_held_up_ns(trace), 0)[call]
    return Sequence(
        call=call,
        step=np.repeat(np.arange(len(parts)), [len(part[0]) for part in parts]),
        waits=np.append(waits, False)[call],
        stretch_start_ns=begin_ns,
        stretch_end_ns=end_ns,
        call_end_ns=np.maximum(last_ns, end_ns),
        busy_ns=np.maximum(last_ns - end_ns - held_up, 0),
        num_steps=len(parts),
    )


def _split(trace: Trace, steps: StepWindow, chosen: Int64) -> list[tuple[Int64, Int64, Int64, Int64]]:
    """Return for each step its events: call, start and end of the stretch before, end of the call."""
    calls = trace.calls
    starts, ends = steps.host_start_ns, steps.host_end_ns
    if len(starts) > 1:
        starts, ends = starts[1:], ends[1:]
    elif len(starts) == 0:
        starts, ends = np.array([trace.window_start_ns]), np.array([_host_end(trace)])
    first, stop = (np.searchsorted(calls.start_ns[chosen], border) for border in (starts, ends))
    parts: list[tuple[Int64, Int64, Int64, Int64]] = []
    num_calls = 0
    for index in reversed(range(len(starts))):
        here = chosen[first[index] : stop[index]]
        num_calls += len(here)
        if parts and num_calls > MOST_CALLS:
            break
        done = np.minimum(np.maximum.accumulate(calls.end_ns[here]), ends[index])
        parts.append(
            (
                np.append(here, -1),
                np.concatenate((starts[index : index + 1], done)),
                np.append(calls.start_ns[here], ends[index]),
                np.append(calls.end_ns[here], ends[index]),
            )
        )
    return parts[::-1]


def _host_end(trace: Trace) -> int:
    """Return when the host had done its last call or operator of a window without step marks."""
    last = max(int(trace.calls.end_ns.max(initial=0)), int(trace.operators.end_ns.max(initial=0)))
    return min(last, trace.window_end_ns)


def _held_up_ns(trace: Trace) -> Int64:
    """Return for each call how long it waited for a full queue, which a replay makes for itself."""
    calls = trace.calls
    length = calls.end_ns - calls.start_ns
    launches = calls.is_launch
    full = full_queue_overheads(trace)
    said = covered(union(trace.overheads.start_ns[full], trace.overheads.end_ns[full]), calls.start_ns, calls.end_ns)
    ordinary = int(np.median(length[launches])) if launches.any() else 0
    busy = union(trace.activities.start_ns, trace.activities.end_ns)
    long = launches & (length > BLOCKED_FACTOR * ordinary) & (covered(busy, calls.start_ns, calls.end_ns) >= length)
    return np.maximum(said, np.where(long, length - ordinary, 0))
