"""host-stall: one place in the program's own code holds the host up while the device has nothing to do."""

from __future__ import annotations

from reportgen import formatting as fmt
from reportgen.analysis.model import Source, WaitPlace
from reportgen.analysis.replay.changes import Change, place_key
from reportgen.findings.gain import bounded_gain
from reportgen.findings.guards import unseen_device
from reportgen.findings.model import Evidence
from reportgen.findings.places import are_same_function, place_of
from reportgen.findings.rule import Context, Draft, Rule, Threshold, Verdict, fired, not_evaluated, passed

SHARE = Threshold(
    name="share",
    value=0.03,
    unit="of the step",
    reason="under 3 % a stretch of host code is within what the host's time wanders from step to step",
)

IN_SHORT_CALL = "Choose a call that does less on the host"
IN_SHORT_MOVE = "Move this work out of the step"
IN_SHORT_RECORD = "Record with `with_stack=True` to see the function"


def judge(context: Context) -> Verdict:
    """Find stretches of host time without launches, synchronizations, allocator or loader that the device waits for.

    A stall is the budget's part of that name, summed per function; it must recur in more than half of the steps.
    """
    case = context.case
    if unseen := unseen_device(case, "the host is the device"):
        return unseen
    step_us = case.step_us
    if case.gaps is None or not step_us:
        return not_evaluated("the step's waits are not known")
    limit = context.thresholds[SHARE.name]
    stalls = [place for place in case.gaps.places if place.cause == "stall"]
    recurring = [place for place in stalls if 2 * place.num_steps > max(1, len(case.steps) - 1)]
    worst = max((place.us_per_step for place in recurring), default=0.0) / step_us
    measured = context.measured(SHARE, worst)
    drafts = [_draft(context, place, step_us) for place in recurring if place.us_per_step >= limit * step_us]
    if drafts:
        return fired(*drafts, measured=measured)
    return passed(
        "besides what builds, allocates or waits, no function holds the host up while the device is idle", measured
    )


def _draft(context: Context, place: WaitPlace, step_us: float) -> Draft:
    case = context.case
    busy_us = case.busy_us or 0.0
    library = _library_function(place.source)
    function = f"`{fmt.legible(place.source.function, 24)}`" if place.source else "One stretch of code"
    if library:
        function = f"`{fmt.legible(library, 24)}` under {function}"
    at = f"in `{fmt.legible(library, 40)}`, called {place_of(place.source)}" if library else place_of(place.source)
    steps = fmt.plural(place.num_steps, "step")
    return Draft(
        title=f"{function} holds the host for {fmt.duration_of(place.us_per_step, step_us)}",
        evidence=(
            Evidence(
                text=f"the device waits {fmt.duration(place.us_per_step)} a step while the host is "
                f"{at or 'in a stretch of code without a name'}, in {steps}; nothing is launched meanwhile",
                value=place.us_per_step,
                unit="us",
            ),
            *_drained(context, place),
        ),
        mechanism="The host issues no work during this stretch, and the queue has nothing left for the device.",
        short_action=IN_SHORT_CALL if library else IN_SHORT_MOVE if at else IN_SHORT_RECORD,
        action=_action(at, library),
        verify=f"{context.check_command()}: the part stall must fall by {fmt.duration(place.us_per_step)}.",
        confidence="low",
        gain=bounded_gain(
            step_us=step_us,
            cost_us=place.us_per_step,
            floor_us=busy_us,
            resource="host",
            edit="remove the stretch of host code",
        ),
        change=Change(kind="remove-stall", place=place_key(place.source)),
        source=place.source,
        where=(place.where,) if place.where else (),
        identity=(place.source.function if place.source else "", place.operator or ""),
        merged=("sync-point",) if _drained(context, place) else (),
    )


def _library_function(source: Source | None) -> str | None:
    """Return the library's Python function that the user's was in, None where the stretch is the user's own code."""
    if source is None or source.beneath is None or ": " not in source.beneath:
        return None
    return source.beneath.rpartition(": ")[2]


def _action(at: str, library: str | None) -> str:
    if library:
        return f"Choose a variant of the call that does less on the host (fused, batched, prepared once): {at}."
    if at:
        elsewhere = "to another thread or process, or behind the launches of the next step"
        return f"Move the work {at} out of the step, {elsewhere}."
    return (
        "Record the trace with `with_stack=True` to see which function this is, then move its work out of the step or "
        "behind the launches of the next one."
    )


def _drained(context: Context, place: WaitPlace) -> tuple[Evidence, ...]:
    """Say what emptied the queue before the stall: a wait for the device in the same function."""
    source = place.source
    waits = [sync for sync in context.case.syncs.items if are_same_function(sync.source, source)]
    if not waits:
        return ()
    first = max(waits, key=lambda sync: sync.count_per_step)
    text = f"the same function waits for the device {fmt.times(first.count_per_step)} a step "
    return (
        Evidence(
            text=f"{text}({fmt.legible(first.call)}), so nothing is queued meanwhile",
            value=first.count_per_step,
            unit="per step",
        ),
    )


RULE = Rule(id="host-stall", checklist_step=2, judge=judge, thresholds=(SHARE,))
