"""What the reader must know about a case: the traces' own notices, and the passes that are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.analysis.model import Notice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.recording import PassName, PassRecord, RecordedCase
    from reportgen.trace.columns import Trace

# What a case cannot say without a pass. The order is that in which the passes run.
_ANSWERS: dict[PassName, str] = {
    "cold": "the first step",
    "timing": "the unprofiled step time",
    "timeline": "when the device worked",
    "detail": "shapes, functions and allocations",
    "memory": "what was alive at the peak",
    "sync": "the lines that wait for the device",
}
# Without these a figure on page one is missing or takes a poorer source.
_DECISIVE: frozenset[PassName] = frozenset({"timing", "timeline", "detail"})


def collect_notices(recorded: RecordedCase | None, timeline: Trace | None, detail: Trace | None) -> tuple[Notice, ...]:
    """Gather notices of a case, each code and text once: of its passes, then of its traces."""
    found = [*_of_passes(recorded)] if recorded is not None else []
    for trace in (timeline, detail):
        if trace is not None:
            found += _of_trace(trace)
    return tuple({(notice.code, notice.text): notice for notice in found}.values())


def _of_trace(trace: Trace) -> Iterator[Notice]:
    for notice in trace.notices:
        yield Notice(
            code=notice.code,
            text=notice.text,
            count=notice.count,
            share=notice.share,
            affects_conclusions=notice.affects_conclusions,
        )


def _of_passes(recorded: RecordedCase) -> Iterator[Notice]:
    for record in recorded.passes:
        if record.outcome == "failed":
            yield _failed(record)
    reached = {record.name for record in recorded.passes}
    missing: list[PassName] = [name for name in _ANSWERS if name not in reached]
    if missing and recorded.outcome != "done":
        yield Notice(
            code="passes-missing",
            text=f"The run ended before the passes {', '.join(missing)}: "
            f"{', '.join(_ANSWERS[name] for name in missing)} cannot be said.",
            count=len(missing),
            affects_conclusions=not _DECISIVE.isdisjoint(missing),
        )


def _failed(record: PassRecord) -> Notice:
    lost = _ANSWERS.get(record.name)
    consequence = f" Without it {lost} cannot be said." if lost else ""
    reason = (record.reason or "no reason was recorded").rstrip(".")
    return Notice(
        code="pass-failed",
        text=f"The pass {record.name} failed: {reason}.{consequence}",
        affects_conclusions=record.name in _DECISIVE,
    )
