"""From the profiled step to the step without the profiler: what recording added, taken out of where it went.

Where a timing pass says how long the step is without the profiler, the total is known and only its places are inferred.
Of a foreign trace only bounds are known.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.budget_result import PART_CODE
from reportgen.analysis.profiler_share import place_share, scale_to_total

if TYPE_CHECKING:
    from reportgen.analysis.grouping import Float64
    from reportgen.analysis.profiler_share import RecordingCosts
    from reportgen.trace.columns import Bool, Int8, Int64


LAUNCH, LAUNCH_CALL, PROFILER = PART_CODE["launch"], PART_CODE["launch-call"], PART_CODE["profiler"]
# Waits that the host's pace makes: being quicker before them makes them shorter.
_PACED = (LAUNCH, LAUNCH_CALL)
# Waits that the host has no part in.
_UNTOUCHED = (PART_CODE["turnaround"], PART_CODE["unexplained"])


@dataclasses.dataclass(frozen=True, kw_only=True)
class Slots:
    """The stretches that the profiler's share may be taken from, sorted by start, with what was recorded before each.

    `room_ns` is how much a stretch can give; `low_ns` and `high_ns` bound what recording cost since the host's lead
    was last known, and `segment` numbers the stretches over which that cost carries on.
    """

    cause: Int8
    room_ns: Int64
    low_ns: Int64
    high_ns: Int64
    segment: Int64


@dataclasses.dataclass(frozen=True, kw_only=True)
class Share:
    """The profiler's share of each stretch; `unplaced_ns` of it was taken in proportion, for lack of evidence."""

    low_ns: Float64
    high_ns: Float64
    taken_ns: Float64
    unplaced_ns: Float64


def wait_slots(
    start_ns: Int64,
    end_ns: Int64,
    cause: Int8,
    refill: Bool,
    *,
    opens_ns: Int64,
    resets_ns: Int64,
    costs: RecordingCosts,
) -> Slots:
    """Describe the waits of a device.

    What recording cost before a wait makes it longer, also what was recorded while the device still worked: without it
    the host would have come that much earlier. The host's lead is lost where an interval opens (`opens_ns`, drained
    steps only) and where the host waited for the device (`resets_ns`). A wait with a cause of its own can give no more
    than was recorded within it.
    """
    paced = refill | np.isin(cause, _PACED)
    own = ~paced & ~np.isin(cause, (*_UNTOUCHED, PROFILER))
    previous_end = np.concatenate((opens_ns[:1], end_ns[:-1])) if len(start_ns) else start_ns
    reset = np.maximum(_latest(resets_ns, end_ns), _latest(opens_ns, start_ns))
    since = np.where(own, start_ns, np.maximum(previous_end, reset))
    length = end_ns - start_ns
    profilers = cause == PROFILER
    opens = own | profilers | (reset > previous_end)
    opens[1:] |= (own | profilers)[:-1]
    low, high = costs.between(since, end_ns)
    return Slots(
        cause=cause,
        room_ns=np.where(paced | own | profilers, length, 0),
        low_ns=np.where(profilers, length, 0) + np.where(paced | own, low, 0),
        high_ns=np.where(profilers, length, 0) + np.where(paced | own, high, 0),
        segment=np.cumsum(opens),
    )


def busy_slots(start_ns: Int64, end_ns: Int64, cause: Int8, costs: RecordingCosts) -> Slots:
    """Describe the stretches of a step whose host is the device: each can give what was recorded within it."""
    low, high = costs.between(start_ns, end_ns)
    length = end_ns - start_ns
    profilers = cause == PROFILER
    return Slots(
        cause=cause,
        room_ns=length,
        low_ns=np.where(profilers, length, low),
        high_ns=np.where(profilers, length, high),
        segment=np.arange(len(start_ns)),
    )


def bound_share(slots: Slots) -> Share:
    """Bound the profiler's share of each stretch by what recording costs at least and at most."""
    low = place_share(slots.room_ns, slots.low_ns, slots.segment).astype(np.float64)
    high = place_share(slots.room_ns, slots.high_ns, slots.segment).astype(np.float64)
    return Share(low_ns=low, high_ns=high, taken_ns=(low + high) / 2, unplaced_ns=np.zeros(len(low)))


def place_total(slots: Slots, total_ns: float) -> Share:
    """Distribute a known share of the profiler, in proportion to what was recorded.

    What finds no place is taken from the ordinary waits in proportion, then from any stretch that has room.
    """
    middle = (slots.low_ns + slots.high_ns) // 2
    placed = scale_to_total(slots.room_ns, middle, slots.segment, round(total_ns)).astype(np.float64)
    unplaced = np.zeros(len(placed))
    for candidates in (np.isin(slots.cause, _PACED), np.ones(len(placed), dtype=bool)):
        missing = total_ns - float(placed.sum() + unplaced.sum())
        left = np.where(candidates, slots.room_ns - placed - unplaced, 0.0)
        if missing > 0 and left.sum() > 0:
            unplaced += left * min(missing / float(left.sum()), 1.0)
    taken = placed + unplaced
    return Share(low_ns=taken, high_ns=taken, taken_ns=taken, unplaced_ns=unplaced)


def _latest(times_ns: Int64, until_ns: Int64) -> Int64:
    """Return the latest of sorted `times_ns` up to each time, the smallest int64 where there is none."""
    none = np.iinfo(np.int64).min
    return np.concatenate(([none], times_ns))[np.searchsorted(times_ns, until_ns, side="right")]
