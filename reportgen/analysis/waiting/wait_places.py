"""The device's waits summed per cause and per function of the user's own code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.arithmetic.grouping import combine, total
from reportgen.analysis.arithmetic.links import follow
from reportgen.analysis.model import WaitPlace
from reportgen.analysis.waiting.budget_result import part_of

if TYPE_CHECKING:
    from reportgen.analysis.attribution.case_places import CasePlaces
    from reportgen.analysis.waiting.budget_result import BudgetResult, Waits
    from reportgen.trace.columns import Int32

MOST_PLACES = 30


def list_wait_places(budget: BudgetResult, places: CasePlaces) -> tuple[WaitPlace, ...]:
    """Sum the waits of the budget by cause and innermost user function, the dearest first.

    Times are per step and on the budget's scale, so that the places of a cause add up to the cause (of places beyond
    the first thirty nothing is listed). A wait in no known function has a place without source.
    """
    waits = budget.waits
    if len(waits.start_ns) == 0:
        return ()
    frame = frames_of_waits(waits, places)
    function = follow(frame, places.attribution.frames.user_name)
    group, first = combine(waits.cause, function)
    num_intervals = max(budget.num_intervals, 1)
    cost_us = total(group, waits.true_us, len(first)) / num_intervals
    order = [int(number) for number in np.lexsort((first, -cost_us)) if cost_us[number] > 0]

    def place(number: int) -> WaitPlace:
        members = np.flatnonzero(group == number)
        longest = int(members[np.argmax((waits.end_ns - waits.start_ns)[members])])
        example = int(members[places.example(waits.start_ns[members], waits.end_ns[members])])
        # The one that is shown is the one that is named: `where` leads to it.
        operator = int(waits.operator[example])
        trace = places.attribution.timeline
        return WaitPlace(
            cause=part_of(int(waits.cause[longest])),
            operator=trace.names[trace.operators.name[operator]] if operator >= 0 else None,
            source=places.attribution.frames.source(int(frame[longest])),
            us_per_step=float(cost_us[number]),
            count_per_step=len(members) / num_intervals,
            num_steps=len(np.unique(waits.interval[members])),
            where=places.where(int(waits.start_ns[example]), int(waits.end_ns[example])),
        )

    return tuple(place(number) for number in order[:MOST_PLACES])


def frames_of_waits(waits: Waits, places: CasePlaces) -> Int32:
    """Return the row of the detail pass's frames that each wait is put down to, -1 where none is known."""
    frame = places.frames(frame=waits.frame, operator=waits.operator, call=waits.call)
    nameless = np.flatnonzero(frame < 0)
    frame[nameless] = places.frames_at((waits.start_ns[nameless] + waits.end_ns[nameless]) // 2)
    return frame
