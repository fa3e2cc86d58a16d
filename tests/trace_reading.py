"""What tests ask of a linked trace, by name rather than by row."""

from __future__ import annotations

from reportgen.trace.columns import Trace, TraceNotice


def notices(trace: Trace) -> dict[str, TraceNotice]:
    """Return the notices by code; a code occurs once."""
    by_code = {notice.code: notice for notice in trace.notices}
    assert len(by_code) == len(trace.notices)
    return by_code


def operator_of_each_activity(trace: Trace) -> list[str | None]:
    """Return the name of the operator that each activity belongs to, in order of their start."""
    return [None if row < 0 else trace.names[trace.operators.name[row]] for row in trace.activities.operator.tolist()]


def device_us_by_operator(trace: Trace) -> dict[str, float]:
    """Return the device time of each operator name; what has no operator is left out."""
    times = dict.fromkeys((trace.names[code] for code in trace.operators.name.tolist()), 0.0)
    activities = trace.activities
    for name, duration in zip(
        operator_of_each_activity(trace), (activities.end_ns - activities.start_ns).tolist(), strict=True
    ):
        if name is not None:
            times[name] += duration / 1000
    return times


def busy_us(trace: Trace) -> float:
    """Return the union of all activities' spans, one by one."""
    spans = sorted(zip(trace.activities.start_ns.tolist(), trace.activities.end_ns.tolist(), strict=True))
    busy, reached = 0, None
    for start, end in spans:
        begin = start if reached is None else max(start, reached)
        busy += max(end - begin, 0)
        reached = end if reached is None else max(reached, end)
    return busy / 1000


def plain(text: str) -> str:
    """Return text with ordinary spaces, as one types it."""
    return text.replace("\u00a0", " ").replace("\u202f", " ")
