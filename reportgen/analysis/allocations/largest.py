"""The largest allocations of a step, equal ones of one place as one row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.allocations.phases import steps_of
from reportgen.analysis.arithmetic.grouping import combine, total
from reportgen.analysis.model import Allocation

if TYPE_CHECKING:
    from reportgen.analysis.allocations.evidence import Evidence

MOST_ALLOCATIONS = 20


def list_largest(evidence: Evidence) -> tuple[Allocation, ...]:
    """List the largest allocations of the steps, with how often a step makes them and how long they lived."""
    history, blocks = evidence.history, evidence.history.blocks
    has_steps = len(history.steps.start) > 0
    rows = np.flatnonzero((blocks.first >= 0) & ((steps_of(history) >= 0) if has_steps else True))
    if len(rows) == 0:
        return ()
    num_steps = max(len(history.steps.start), 1)
    place, group = evidence.place_codes(rows)
    size, freed = blocks.bytes[rows], blocks.last[rows] < history.num_events
    last = np.minimum(blocks.last[rows], history.num_events - 1)
    held_ns = history.time_ns[last] - history.time_ns[blocks.first[rows]]
    kind, first = combine(size, group, place)
    times = total(kind, None, len(first))
    held = total(np.where(freed, kind, -1), held_ns, len(first))
    num_freed = total(np.where(freed, kind, -1), None, len(first))

    def row(index: int) -> Allocation:
        operator, shapes, _ = evidence.operator(int(rows[first[index]]))
        return Allocation(
            bytes=int(size[first[index]]),
            operator=operator,
            input_shapes=shapes,
            count_per_step=float(times[index]) / num_steps,
            held_us=float(held[index] / num_freed[index]) / 1e3 if num_freed[index] else None,
            source=evidence.source(int(rows[first[index]])),
        )

    order = np.lexsort((-times, -size[first]))[:MOST_ALLOCATIONS]
    return tuple(row(int(index)) for index in order)
