"""When a device worked, and at what; and the gaps that this leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.arithmetic.intervals import complement, overlaps, paint
from reportgen.analysis.arithmetic.spans import Spans, union
from reportgen.analysis.waiting.budget_result import PART_CODE, GapTable, Work
from reportgen.trace.columns import ActivityKind

if TYPE_CHECKING:
    from reportgen.analysis.model import BudgetPart
    from reportgen.analysis.steps.steps import Covered
    from reportgen.trace.columns import Bool, Trace


def device_work(trace: Trace, device: int, covered: Covered) -> Work:
    """Return what `device` did in the covered intervals.

    Where several activities run, compute is named before communication, communication before copies and fills. All
    count, whoever launched them: the device is busy with what was queued before the window as well.
    """
    activities = trace.activities
    here = activities.device == device
    kernel = activities.kind == ActivityKind.KERNEL
    groups: tuple[tuple[BudgetPart, Bool], ...] = (
        ("copy", here & ~kernel),
        ("communication", here & kernel & activities.communication),
        ("compute", here & kernel & ~activities.communication),
    )
    spans = [union(activities.start_ns[mask], activities.end_ns[mask]) for _, mask in groups]
    return layer_work([(PART_CODE[part], span) for (part, _), span in zip(groups, spans, strict=True)], covered)


def layer_work(layers: list[tuple[int, Spans]], covered: Covered) -> Work:
    """Return disjoint stretches of work from layers of (part, spans), the last on top, cut at the intervals."""
    start = np.concatenate([spans.start_ns for _, spans in layers])
    end = np.concatenate([spans.end_ns for _, spans in layers])
    level = np.repeat(np.arange(len(layers)), [len(spans.start_ns) for _, spans in layers])
    visible = paint(start, end, level)
    part = np.array([part for part, _ in layers], dtype=np.int8)
    inside = overlaps(_intervals(covered), Spans(visible.start_ns, visible.end_ns))
    return Work(
        start_ns=inside.start_ns,
        end_ns=inside.end_ns,
        part=part[level[visible.row[inside.right]]],
        interval=inside.left.astype(np.int32),
    )


def list_gaps(work: Work, covered: Covered) -> GapTable:
    """Return the stretches of the covered intervals in which the device did not work."""
    left = overlaps(_intervals(covered), complement(union(work.start_ns, work.end_ns)))
    return GapTable(start_ns=left.start_ns, end_ns=left.end_ns, interval=left.left.astype(np.int32))


def _intervals(covered: Covered) -> Spans:
    return Spans(covered.start_ns, covered.end_ns)
