"""fragmentation: reserved memory that no request can use, where memory is short."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen import formatting as fmt
from reportgen.findings.model import Evidence, Gain
from reportgen.findings.rule import (
    Context,
    Draft,
    Rule,
    Threshold,
    Verdict,
    fired,
    not_applicable,
    not_evaluated,
    passed,
)

if TYPE_CHECKING:
    from reportgen.analysis.model import Fragmentation, Memory

SHARE = Threshold(
    name="share",
    value=0.15,
    unit="of reserved",
    reason="the allocator's rounding and its pools of 2 and 20 MiB leave up to a tenth unused in healthy programs",
)
CAPACITY = Threshold(
    name="capacity",
    value=0.9,
    unit="of the device in use",
    reason="holes cost nothing while memory is left; in the last tenth the allocator empties its cache",
)

IN_SHORT = "Let segments grow: `expandable_segments:True`"


def judge(context: Context) -> Verdict:
    """Compare the holes in partly used segments with all that is reserved, at the peak.

    They matter only where memory is short: with retries, or with the device nearly full. Reserved memory far above
    what is allocated, right after a warm-up, is the cache at work.
    """
    case = context.case
    if case.device_kind == "host":
        return not_applicable("a host's allocator reserves nothing")
    memory = case.memory
    holes = memory.fragmentation if memory is not None else None
    if memory is None or holes is None:
        return not_evaluated("no memory snapshot was recorded")
    limit = context.thresholds[SHARE.name]
    share = holes.stranded_bytes / holes.reserved_bytes if holes.reserved_bytes else 0.0
    measured = context.measured(SHARE, share)
    if share < limit:
        return passed(f"{fmt.share(share)} of the reserved memory lies in holes", measured)
    if not _is_short(memory, context.thresholds[CAPACITY.name]):
        return passed("the holes cost nothing: there is memory left, and no allocation had to be repeated", measured)
    return fired(_draft(context, memory, holes), measured=measured)


def _is_short(memory: Memory, capacity: float) -> bool:
    if memory.allocator is not None and memory.allocator.retries:
        return True
    headroom = memory.headroom
    return headroom is not None and headroom.share >= capacity


def _draft(context: Context, memory: Memory, holes: Fragmentation) -> Draft:
    when = "at the peak" if holes.at == "peak" else "when the snapshot was taken"
    rows = [
        Evidence(
            text=f"{fmt.size(holes.stranded_bytes)} of {fmt.size(holes.reserved_bytes)} reserved lie in holes {when}, "
            f"the largest of {fmt.size(holes.largest_hole_bytes)}",
            value=holes.stranded_bytes,
            unit="bytes",
        )
    ]
    retries = memory.allocator.retries if memory.allocator else None
    if retries:
        text = f"the allocator ran out of memory and emptied its cache {fmt.times(retries)}"
        rows.append(Evidence(text=text, value=retries, unit="retries"))
    return Draft(
        title=f"{fmt.size(holes.stranded_bytes)} of reserved memory lie in holes",
        evidence=tuple(rows),
        mechanism="A segment goes back to the device only when none of its blocks is in use; a request larger than "
        "every hole takes a new segment.",
        short_action=IN_SHORT,
        action="Set `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`, and allocate what lives long before what does "
        "not.",
        verify=f"{context.check_command()}: reserved at the peak must come closer to allocated.",
        confidence="high" if holes.at == "peak" else "medium",
        severity="medium",
        gain=Gain(bytes=holes.stranded_bytes, resource="memory", method="bound", edit="close the holes"),
    )


RULE = Rule(id="fragmentation", checklist_step=3, judge=judge, thresholds=(SHARE, CAPACITY))
