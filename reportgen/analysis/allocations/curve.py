"""The curve of allocated and reserved bytes over the step that holds the peak."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.model import MemoryCurve

if TYPE_CHECKING:
    from reportgen.analysis.allocations.history import History
    from reportgen.trace.columns import Int64

CURVE_BINS = 200


def draw_curve(history: History) -> MemoryCurve | None:
    """Return the counters over the step that holds the peak, over the whole history where there are no steps.

    They begin with what was allocated when the step began, blocks alive before the recording included, and are thinned
    to the extremes of `CURVE_BINS` equal stretches of time. None where nothing was allocated or freed.
    """
    peak = history.peak_event()
    if peak is None:
        return None
    first, last, start_ns, ordinal = 0, history.num_events, int(history.time_ns[0]), None
    if len(history.steps.start):
        step = history.steps.holding(max(peak, 0))
        first, last = int(history.steps.start[step]), int(history.steps.end[step])
        start_ns, ordinal = int(history.steps.start_ns[step]), step + 1
    if last <= first:
        return None
    time_ns = np.concatenate(([min(start_ns, int(history.time_ns[first]))], history.time_ns[first:last]))
    allocated = history.counter(np.arange(first, last + 1))
    kept = thin(time_ns, allocated, CURVE_BINS)
    reserved = None
    if history.reserved is not None:
        # The counter is written after events only: what it was before the first is not known, and hardly differs.
        reserved = tuple(
            np.concatenate((history.reserved[first : first + 1], history.reserved[first:last]))[kept].tolist()
        )
    return MemoryCurve(
        time_us=tuple(((time_ns[kept] - time_ns[0]) / 1e3).tolist()),
        allocated_bytes=tuple(allocated[kept].tolist()),
        reserved_bytes=reserved,
        axis="time" if history.is_timed else "event",
        basis=history.basis,
        ordinal=ordinal,
        num_steps=len(history.steps.start),
    )


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
