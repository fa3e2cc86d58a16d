"""What the reader must know about a case: the traces' own notices, and the passes that are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.analysis.model import Notice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.recording import PassName, PassRecord, RecordedCase
    from reportgen.trace.columns import Trace, TraceNotice
    from reportgen.trace.memory_columns import MemoryHistory

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


# What only the detail pass records: that the timeline pass lacks it is no news.
_ASKED_OF_DETAIL = ("stacks-", "shapes-", "memory-", "flops-")

# Shares of device time that are the same to a reader.
_SAME_SHARE = 0.01
# What a trace and a history without an allocation are taken for, and what they are where there was none to record.
_OF_NO_ALLOCATION = frozenset({"memory-not-recorded", "memory-history-missing"})
_NO_ALLOCATION = Notice(
    code="no-allocations",
    text="The steps allocate no device memory beyond what they start with, as replays of a graph do: there are no "
    "allocations to show.",
)


def collect_notices(
    recorded: RecordedCase | None, timeline: Trace | None, detail: Trace | None, snapshot: MemoryHistory | None = None
) -> tuple[Notice, ...]:
    """Gather notices of a case: of its passes, of its traces, of its memory history.

    Of two passes each is heard on what is taken from it. What else the detail pass lacks is said only where it can
    make a conclusion wrong.
    """
    found = [*_of_passes(recorded)] if recorded is not None else []
    if timeline is None or detail is None or timeline is detail:
        found += [_notice(notice) for trace in (timeline or detail,) if trace is not None for notice in trace.notices]
    else:
        found += [_notice(said) for said in timeline.notices if not said.code.startswith(_ASKED_OF_DETAIL)]
        for said in detail.notices:
            if said.code.startswith(_ASKED_OF_DETAIL):
                found.append(_notice(said))
            elif said.affects_conclusions and not _is_repeated(said, timeline):
                found.append(_notice(said, prefix="Detail pass: "))
    if snapshot is not None:
        found += [_notice(said) for said in snapshot.notices]
    if recorded is not None and _allocates_nothing(recorded):
        missed = len(found)
        found = [notice for notice in found if notice.code not in _OF_NO_ALLOCATION]
        found += [_NO_ALLOCATION] if len(found) < missed else []
    return tuple(found)


def _allocates_nothing(recorded: RecordedCase) -> bool:
    """Say whether the allocator's counters, read around steps without the profiler, never rose above their start."""
    marks = recorded.memory
    return marks is not None and marks.peak_allocated_bytes == marks.start_bytes


def _is_repeated(said: TraceNotice, other: Trace) -> bool:
    """Say whether the other pass says the same of as large a share: both replay the same graphs."""
    return said.share is not None and any(
        said.code == notice.code and notice.share is not None and abs(said.share - notice.share) < _SAME_SHARE
        for notice in other.notices
    )


def _notice(said: TraceNotice, prefix: str = "") -> Notice:
    return Notice(
        code=said.code,
        text=prefix + said.text,
        count=said.count,
        share=said.share,
        affects_conclusions=said.affects_conclusions,
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
