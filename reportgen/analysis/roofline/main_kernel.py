"""The kernel of an operator that does its work, told from those that prepare and finish it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.arithmetic.grouping import Float64, combine, total

if TYPE_CHECKING:
    from reportgen.trace.columns import Activities, Bool, Int32, Int64


def main_kernel_us(activities: Activities, group: Int64, roof_us: Float64, num_calls: Float64) -> Float64:
    """Return for each group the device time, over all its calls, of the kernel that does the work.

    That is the heaviest by name; but where the heaviest opens the calls, and one between first and last takes at
    least `roof_us` a call, it is that one: a conversion of a large input can take longer than the work itself, and
    no kernel does the work in less than its roof. `group` is the group of each activity, -1 for those not looked at;
    `roof_us` is nan where it is not known.
    """
    duration = activities.end_ns - activities.start_ns
    first, last = _ends(activities.operator, group)
    heaviest, heaviest_name = _heaviest(group, activities.name, duration, len(roof_us))
    inner, _ = _heaviest(np.where(first | last, -1, group), activities.name, duration, len(roof_us))
    opens = np.zeros(len(roof_us), dtype=bool)
    openers = np.flatnonzero(first & (group >= 0))
    opens[group[openers]] = activities.name[openers] == heaviest_name[group[openers]]
    with np.errstate(invalid="ignore"):
        does_it = opens & (inner >= roof_us * num_calls) & (inner > 0)
    return np.where(does_it, inner, heaviest)


def _ends(operator: Int32, group: Int64) -> tuple[Bool, Bool]:
    """Return which activities are the first and which the last that their operator launched."""
    rows = np.flatnonzero((group >= 0) & (operator >= 0))
    first, last = np.zeros(len(operator), dtype=bool), np.zeros(len(operator), dtype=bool)
    if len(rows):
        _, opening = np.unique(operator[rows], return_index=True)
        _, closing = np.unique(operator[rows][::-1], return_index=True)
        first[rows[opening]] = True
        last[rows[::-1][closing]] = True
    return first, last


def _heaviest(group: Int64, name: Int32, duration_ns: Int64, num_groups: int) -> tuple[Float64, Int64]:
    """Return for each group the largest time of one name, in µs, and that name's code (-1: none)."""
    most, code = np.zeros(num_groups), np.full(num_groups, -1, dtype=np.int64)
    inside = group >= 0
    if inside.any():
        pair, example = combine(group[inside], name[inside])
        sums = total(pair, duration_ns[inside], len(example)) / 1e3
        order = np.argsort(sums, kind="stable")
        owner = group[inside][example][order]
        most[owner] = sums[order]  # the largest is written last
        code[owner] = name[inside][example][order]
    return most, code
