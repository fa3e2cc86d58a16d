"""allocator-churn: the caching allocator takes memory from the device and gives it back in every step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen import formatting as fmt
from reportgen.analysis.replay.changes import Change
from reportgen.findings.gain import bounded_gain
from reportgen.findings.model import Evidence
from reportgen.findings.places import longest_wait, place_of
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
    from reportgen.analysis.model import Allocator
    from reportgen.findings.model import Gain

STEPS = Threshold(
    name="steps",
    value=2.0,
    unit="steps",
    reason="one step with both may be the one in which the allocator still settles",
)

IN_SHORT = "Remove `torch.cuda.empty_cache()` from the step"


def judge(context: Context) -> Verdict:
    """Count the recorded steps that both took memory from the device and gave some back.

    Growth allocates without giving back, and is no churn. The cost is what the device waits for these calls, and for
    the launches that come late after them.
    """
    case = context.case
    if case.device_kind == "host":
        return not_applicable("there is no device to take memory from")
    allocator = case.memory.allocator if case.memory is not None else None
    if allocator is None or allocator.churning_steps is None:
        return not_evaluated("runtime calls were not recorded")
    limit = context.thresholds[STEPS.name]
    measured = context.measured(STEPS, float(allocator.churning_steps))
    if allocator.churning_steps >= limit:
        return fired(_draft(context, allocator), measured=measured)
    if not allocator.device_mallocs_per_step and not allocator.device_frees_per_step:
        return passed("no step calls the device's allocator", measured)
    return passed("no two steps both take memory from the device and give it back", measured)


def _draft(context: Context, allocator: Allocator) -> Draft:
    case = context.case
    mallocs, frees = allocator.device_mallocs_per_step or 0.0, allocator.device_frees_per_step or 0.0
    calls = f"{fmt.number(mallocs)} allocations and {fmt.number(frees)} frees on the device a step"
    rows = [
        Evidence(
            text=f"{calls}, both in {fmt.plural(allocator.churning_steps, 'step')} of {case.num_steps}",
            value=mallocs + frees,
            unit="calls",
        )
    ]
    if allocator.cost_us_per_step is not None:
        cost = fmt.duration(allocator.cost_us_per_step)
        text = f"the device waits {cost} a step for them and for the launches that come late after them"
        rows.append(Evidence(text=text, value=allocator.cost_us_per_step, unit="us"))
    if allocator.retries:
        text = f"the allocator ran out of memory and emptied its cache {fmt.times(allocator.retries)}"
        rows.append(Evidence(text=text, value=allocator.retries, unit="retries"))
    return Draft(
        title=f"{fmt.sentence_start(fmt.shorten(case.name, 20))} frees and reallocates device memory every step",
        evidence=tuple(rows),
        mechanism="Giving memory back waits for all work on the device; the queue is empty afterwards.",
        short_action=IN_SHORT,
        action="Remove `torch.cuda.empty_cache()` from the step; where the cache is emptied for lack of memory, lower "
        "the peak or set `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`.",
        verify=f"{context.check_command()}: allocations and frees on the device a step must be 0.",
        confidence="high",
        gain=_gain(context, allocator),
        severity=None if allocator.cost_us_per_step is not None else "medium",
        change=Change(kind="keep-memory"),
        source=allocator.source,
        where=longest_wait(context.case, "allocator"),
        beware=f"The longest call lies {place_of(allocator.source)}." if allocator.source else None,
    )


def _gain(context: Context, allocator: Allocator) -> Gain | None:
    case = context.case
    step_us = case.step_us
    if not step_us or allocator.cost_us_per_step is None:
        return None
    busy_us = case.busy_us or 0.0
    return bounded_gain(
        step_us=step_us,
        cost_us=allocator.cost_us_per_step,
        floor_us=busy_us,
        resource="both",
        edit="keep the memory in the allocator's cache",
    )


RULE = Rule(id="allocator-churn", checklist_step=3, judge=judge, thresholds=(STEPS,))
