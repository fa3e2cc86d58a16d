"""Quality: what a trace lacks or got wrong, as notices.

Each check is a function from the linked trace to a notice or None. A notice says in one sentence what is missing, why
where that is known, and what would bring it. "Not recorded" is never 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.trace.columns import TraceNotice
from reportgen.trace.quality_device import DEVICE_CHECKS
from reportgen.trace.quality_host import DETAIL_CODES, HOST_CHECKS

if TYPE_CHECKING:
    from reportgen.trace.columns import Trace

__all__ = ["DETAIL_CODES", "IDLE_UNKNOWN_CODES", "find_flaws"]

# Codes by which the device did more than was recorded, so that idle time is an upper bound and proves nothing; of those
# only notices that affect conclusions count.
IDLE_UNKNOWN_CODES = frozenset(
    {
        "activities-without-time",
        "device-work-not-recorded",
        "graph-replays-incomplete",
        "graph-work-not-recorded",
        "launches-without-activity",
    }
)


def find_flaws(trace: Trace) -> tuple[TraceNotice, ...]:
    """Give what a linked trace lacks or got wrong, the device's first; a trace of nothing gets one notice only."""
    if _is_empty(trace):
        return (
            TraceNotice(
                code="nothing-recorded",
                text="The trace holds no event of the program: most likely the profiler's step() was never called, or "
                "too seldom for its schedule to begin recording.",
                affects_conclusions=True,
            ),
        )
    found = (check(trace) for check in (*DEVICE_CHECKS, *HOST_CHECKS))
    return tuple(notice for notice in found if notice is not None)


def _is_empty(trace: Trace) -> bool:
    tables = (trace.operators, trace.calls, trace.frames, trace.annotations, trace.activities)
    return not any(len(table.name) for table in tables) and not len(trace.memory.time_ns)
