"""From the profiled step to the step without the profiler: what recording added, taken out of where it went.

Where a timing pass says how long the step is without the profiler, the total is known and only its places are inferred.
Of a foreign trace only bounds are known.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.waiting.budget_result import PART_CODE
from reportgen.analysis.waiting.profiler_share import CALLS, place_share, scale_to_total

if TYPE_CHECKING:
    from reportgen.analysis.arithmetic.grouping import Float64
    from reportgen.analysis.waiting.profiler_share import RecordingCosts
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
    was last known, and `segment` numbers the stretches over which that cost carries on. `weights_ns` are other ways to
    tell that cost apart, each as good: none where nothing but its amount is open.
    """

    cause: Int8
    room_ns: Int64
    low_ns: Int64
    high_ns: Int64
    segment: Int64
    weights_ns: tuple[Int64, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Share:
    """The profiler's share of each stretch; `unplaced_ns` of it was taken in proportion, for lack of evidence.

    `otherwise_ns` are whole shares that sum to the same and are as likely: what they differ in is not known.
    """

    low_ns: Float64
    high_ns: Float64
    taken_ns: Float64
    unplaced_ns: Float64
    otherwise_ns: tuple[Float64, ...] = ()


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
    weights = _other_weights(costs, since, end_ns, np.stack((low, high)))
    return Slots(
        cause=cause,
        weights_ns=tuple(np.where(profilers, length, 0) + np.where(paced | own, weight, 0) for weight in weights),
        room_ns=np.where(paced | own | profilers, length, 0),
        low_ns=np.where(profilers, length, 0) + np.where(paced | own, low, 0),
        high_ns=np.where(profilers, length, 0) + np.where(paced | own, high, 0),
        segment=np.cumsum(opens),
    )


def _other_weights(costs: RecordingCosts, since_ns: Int64, end_ns: Int64, bounds: Int64) -> tuple[Int64, ...]:
    """Return what was recorded before each stretch when the cost of a runtime call is told apart otherwise.

    Recording a call costs 1.2 to 3.7 µs beside the 1.0 to 1.6 of an operator, and how much of it lies inside the span
    that is written of the call and how much before it is not known. So it may be all of it or none, and calls dear
    and the rest cheap, or the other way round; `bounds` are the lower and the upper bound of all kinds together.
    """
    if not costs.kinds:
        return ()
    calls = costs.kinds[CALLS]
    inside = np.stack(calls.between(since_ns, end_ns))
    # What begins with a call is recorded at its start: seen from one ns later it lies in the stretch before.
    before = np.stack(calls.between(since_ns + 1, end_ns + 1))
    (low, high), (others_low, others_high) = (0, 1), bounds - inside
    return (
        others_low + inside[high], others_high + inside[low], others_low + before[high], others_high + before[low],
    )  # fmt: skip


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
    placed, unplaced = _placed(slots, (slots.low_ns + slots.high_ns) // 2, total_ns)
    taken = placed + unplaced
    otherwise = tuple(np.add(*_placed(slots, weight, total_ns)) for weight in slots.weights_ns)
    return Share(low_ns=taken, high_ns=taken, taken_ns=taken, unplaced_ns=unplaced, otherwise_ns=otherwise)


def _placed(slots: Slots, weight_ns: Int64, total_ns: float) -> tuple[Float64, Float64]:
    """Return what finds a place by `weight_ns`, and what of `total_ns` is left and taken in proportion."""
    placed = scale_to_total(slots.room_ns, weight_ns, slots.segment, round(total_ns)).astype(np.float64)
    unplaced = np.zeros(len(placed))
    for candidates in (np.isin(slots.cause, _PACED), np.ones(len(placed), dtype=bool)):
        missing = total_ns - float(placed.sum() + unplaced.sum())
        left = np.where(candidates, slots.room_ns - placed - unplaced, 0.0)
        if missing > 0 and left.sum() > 0:
            unplaced += left * min(missing / float(left.sum()), 1.0)
    return placed, unplaced


def _latest(times_ns: Int64, until_ns: Int64) -> Int64:
    """Return the latest of sorted `times_ns` up to each time, the smallest int64 where there is none."""
    none = np.iinfo(np.int64).min
    return np.concatenate(([none], times_ns))[np.searchsorted(times_ns, until_ns, side="right")]
