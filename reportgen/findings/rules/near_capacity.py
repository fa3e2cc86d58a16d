"""near-capacity: at its peak the program leaves the device almost no memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen import formatting as fmt
from reportgen.findings.model import Evidence
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
    from reportgen.analysis.model import Headroom, Memory

SHARE = Threshold(
    name="share",
    value=0.9,
    unit="of the device",
    reason="a longer input or another process takes the last tenth, and the allocator starts to empty its cache",
)

IN_SHORT = "Lower the peak, or leave room for longer inputs"


def judge(context: Context) -> Verdict:
    """Compare what is reserved at the peak, and what others use beside it, with the device's memory."""
    case = context.case
    if case.device_kind == "host":
        return not_applicable("there is no device")
    memory = case.memory
    headroom = memory.headroom if memory is not None else None
    if memory is None or headroom is None:
        return not_evaluated("the device's memory or what is reserved of it was not recorded")
    limit = context.thresholds[SHARE.name]
    share = headroom.share
    measured = context.measured(SHARE, share)
    if share <= limit:
        return passed(f"{fmt.share(share)} of the device's memory is in use at the peak", measured)
    return fired(_draft(context, memory, headroom, share), measured=measured)


def _draft(context: Context, memory: Memory, headroom: Headroom, share: float) -> Draft:
    rows = [
        Evidence(
            text=f"{fmt.size(memory.peak_reserved_bytes)} reserved at the peak, of {fmt.size(headroom.device_bytes)}",
            value=memory.peak_reserved_bytes,
            unit="bytes",
        )
    ]
    if memory.peak_allocated_bytes is not None:
        text = f"{fmt.size(memory.peak_allocated_bytes)} of it allocated"
        rows.append(Evidence(text=text, value=memory.peak_allocated_bytes, unit="bytes"))
    if headroom.others_bytes is not None:
        text = f"{fmt.size(headroom.others_bytes)} in use beside it: the runtime's own, and other processes'"
        rows.append(Evidence(text=text, value=headroom.others_bytes, unit="bytes"))
    return Draft(
        title=f"{fmt.sentence_start(fmt.shorten(context.case.name, 20))} fills {fmt.share(share)} of the device",
        evidence=tuple(rows),
        mechanism="When nothing is left, the allocator empties its cache and waits for the device, and then fails.",
        short_action=IN_SHORT,
        action="Lower the peak, or leave room for the longest input that may come.",
        verify=f"{context.check_command()}: memory in use at the peak must stay under "
        f"{fmt.share(context.thresholds[SHARE.name], 0)}.",
        confidence="high",
        severity="medium",
    )


RULE = Rule(id="near-capacity", checklist_step=3, judge=judge, thresholds=(SHARE,))
