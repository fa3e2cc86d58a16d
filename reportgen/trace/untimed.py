"""Device activities for which no time was taken: exporters write 0 for their start, decades before the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen import formatting as fmt
from reportgen.trace.columns import TraceNotice

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reportgen.trace.columns import Int64
    from reportgen.trace.rows import Columns

# A clock that begins with the recording has everything else near 0 too.
_FAR_NS = 3_600 * 10**9


def drop_untimed(
    activities: Columns | None, other_starts: Iterable[Int64]
) -> tuple[Columns | None, TraceNotice | None]:
    """Leave out the activities at time 0 (ns on the file's clock) if all else lies far from it, and say how many."""
    if activities is None:
        return None, None
    untimed = activities["start_ns"] == 0
    starts = [activities["start_ns"][~untimed], *other_starts]
    rest_ns = min((int(start.min()) for start in starts if len(start)), default=0)
    count = int(untimed.sum())
    if not count or rest_ns < _FAR_NS:
        return activities, None
    notice = TraceNotice(
        code="activities-without-time",
        text=f"{fmt.plural(count, 'device activity', 'device activities')} of {fmt.count(len(untimed))} "
        f"{fmt.noun(count, 'has', 'have')} no time and {fmt.noun(count, 'is', 'are')} left out: device time is a lower "
        "bound and idle time an upper one.",
        count=count,
        share=count / len(untimed),
        affects_conclusions=True,
    )
    timed = {name: column[~untimed] for name, column in activities.items()}
    return (timed if np.count_nonzero(~untimed) else None), notice
