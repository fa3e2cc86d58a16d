"""memory-growth: every step leaves more memory allocated than the one before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen import formatting as fmt
from reportgen.findings.model import Evidence, Severity
from reportgen.findings.places import place_of
from reportgen.findings.rule import Context, Draft, Rule, Threshold, Verdict, fired, not_evaluated, passed

if TYPE_CHECKING:
    from reportgen.analysis.model import Growth, KeptLine

LEAST_BYTES = Threshold(
    name="least-bytes",
    value=1.0,
    unit="bytes a step",
    reason="in every clean trace the rise is exactly 0",
)
_LEAST_RISES = 2
# A job of this many steps is short; what fills the device before is sure to stop it.
_SOON = 10_000

IN_SHORT = "Look for what outlives the step"


def judge(context: Context) -> Verdict:
    """Compare the allocated bytes at the ends of at least three steps.

    Fired where they rise strictly, the last rise at least half the first, and the blocks that a step leaves behind
    are not replaced by the next: a key-value cache whose blocks are, is none.
    """
    memory = context.case.memory
    growth = memory.growth if memory is not None else None
    if growth is None or len(growth.rises_bytes) < _LEAST_RISES:
        return not_evaluated("allocated bytes were not recorded at the ends of three steps")
    limit = context.thresholds[LEAST_BYTES.name]
    measured = context.measured(LEAST_BYTES, growth.bytes_per_step)
    if growth.kind == "kept" and growth.bytes_per_step >= limit:
        return fired(_draft(context, growth), measured=measured)
    if growth.kind == "cache":
        size = fmt.size(growth.bytes_per_step)
        return passed(
            f"a cache grows by {size} a step: each step replaces its blocks by larger ones, and keeps none", measured
        )
    if growth.steadily:
        return passed("the rise is below the threshold", measured)
    return passed("allocated bytes do not rise from step to step", measured)


def _draft(context: Context, growth: Growth) -> Draft:
    case = context.case
    size = fmt.size(growth.bytes_per_step)
    first = growth.lines[0] if growth.lines else None
    return Draft(
        title=f"Each step of {fmt.shorten(case.name, 20)} leaves {size} behind",
        evidence=_evidence(growth),
        mechanism="What these lines allocated is still referenced a whole step later. A trace says who allocated it, "
        "not who keeps it.",
        short_action=IN_SHORT,
        action="Look for what outlives the step: a list of losses or outputs, a result that still has its graph. "
        "Keep `loss.detach()` or a number in its place.",
        verify=f"{context.check_command()}: allocated bytes at the ends of the steps must be equal.",
        confidence="high",
        severity=_severity(growth),
        source=first.source if first else None,
        identity=tuple(_name(line) for line in growth.lines[:1]),
    )


def _evidence(growth: Growth) -> tuple[Evidence, ...]:
    rises = fmt.listing([fmt.size(rise) for rise in growth.rises_bytes[:4]])
    steps = fmt.plural(len(growth.rises_bytes) + 1, "step")
    rows = [
        Evidence(
            text=f"allocated bytes rise by {rises} from each step's end to the next ({steps})",
            value=growth.bytes_per_step,
            unit="bytes",
        )
    ]
    for line in growth.lines[:3]:
        at = place_of(line.source)
        by = f" by {fmt.operator_name(line.operator)}" if line.operator else ""
        rows.append(
            Evidence(
                text=f"{fmt.size(line.bytes_per_step)} a step allocated{by} {at or 'in a place that is not recorded'}",
                value=line.bytes_per_step,
                unit="bytes",
            )
        )
    if growth.steps_until_full is not None:
        text = f"the device is full after {fmt.count(growth.steps_until_full)} more steps"
        rows.append(Evidence(text=text, value=growth.steps_until_full, unit="steps"))
    return tuple(rows)


def _severity(growth: Growth) -> Severity:
    left = growth.steps_until_full
    if left is None:
        return "medium"
    return "high" if left < _SOON else "medium"


def _name(line: KeptLine) -> str:
    return f"{line.source.function if line.source else ''} {line.operator or ''}"


RULE = Rule(id="memory-growth", checklist_step=3, judge=judge, thresholds=(LEAST_BYTES,))
