"""needless-copy: data is written anew on the device although the next copy undoes or repeats it."""

from __future__ import annotations

from reportgen import formatting as fmt
from reportgen.analysis.model import CopyChain, UserCopy
from reportgen.analysis.replay.changes import Change, ChangeKind
from reportgen.findings.gain import bounded_gain
from reportgen.findings.guards import unseen_shapes
from reportgen.findings.model import Evidence
from reportgen.findings.places import place_of
from reportgen.findings.rule import Context, Draft, Rule, Threshold, Verdict, fired, passed
from reportgen.findings.samples import recorded_steps
from reportgen.findings.shape_faults import step_us_of

CHAIN = Threshold(
    name="chain",
    value=0.01,
    unit="of the step",
    reason="copies proven needless are worth removing as soon as their time stands out of the step's spread",
)
POSSIBLE = Threshold(
    name="possible",
    value=0.03,
    unit="of the step",
    reason="a copy that may be needed is worth a look only where it shows in the step",
)

# Copies by an operator at one signature that lie elsewhere, as a share of its device time, that can be passed over.
MOST_ELSEWHERE = 0.1

IN_SHORT_DROP = "Use the tensor as it is, without the copies"
IN_SHORT_ONE = "Do the casts and copies in one call"
IN_SHORT_NEED = "See whether the copy is needed"


def judge(context: Context) -> Verdict:
    """Find copies in a row that read what the one before wrote (proven), and the program's own casts and clones.

    Casts of autocast, copies of autograd and inside library operators belong there and are never counted; copies
    between host and device are `blocking-copy`.
    """
    if unseen := unseen_shapes(context.case):
        return unseen
    case, step_us, limit = context.case, step_us_of(context.case), context.thresholds
    proven = [c for c in case.copy_chains if c.removable_us_per_step >= limit[CHAIN.name] * step_us]
    chained = {chain.source for chain in proven}
    possible = [
        copy
        for copy in case.user_copies
        if copy.device_us_per_step >= limit[POSSIBLE.name] * step_us and copy.source not in chained
    ]
    most_us = max((chain.removable_us_per_step for chain in case.copy_chains), default=0.0)
    measured = context.measured(CHAIN, most_us / step_us)
    drafts = [_proven(context, chain, step_us) for chain in proven]
    drafts += [_possible(context, copy, step_us) for copy in possible]
    if drafts:
        return fired(*drafts, measured=measured)
    return passed("no copy on the device is undone or repeated by the next", measured)


def _proven(context: Context, chain: CopyChain, step_us: float) -> Draft:
    case = context.case
    busy_us = case.busy_us or 0.0
    host_us = (case.launching.host_low_us if case.launching else None) or 0.0
    function = f"`{fmt.legible(chain.source.function, 16)}`" if chain.source else "The step"
    place, cost_us = place_of(chain.source), chain.removable_us_per_step
    path = " → ".join(fmt.legible(name, 24) for name in chain.types)
    end = "ends as it began" if chain.restores else "needs one copy"
    return Draft(
        title=f"{function} copies {fmt.plural(chain.num_copies, 'time')} in a row: {fmt.duration_of(cost_us, step_us)}",
        evidence=(
            Evidence(
                text=f"{fmt.times(chain.count_per_step)} a step{f' {place}' if place else ''}: "
                f"{fmt.shapes((chain.shape,))} goes {path} with nothing between, and {end} "
                f"({recorded_steps(case)})",
                value=chain.device_us_per_step,
                unit="us",
            ),
        ),
        mechanism="Each copy reads and writes the whole tensor, and the next one reads what it wrote."
        + (" The last leaves type and layout as the first found them." if chain.restores else ""),
        short_action=IN_SHORT_DROP if chain.restores else IN_SHORT_ONE,
        action=f"Remove the casts and copies {place or 'there'}: "
        + ("use the tensor as it is." if chain.restores else "`x.to(dtype=…, memory_format=…)` does them in one."),
        verify=f"{context.check_command()}: device time must fall by {fmt.duration(cost_us)} a step.",
        confidence="medium",
        gain=bounded_gain(
            step_us=step_us,
            cost_us=cost_us,
            floor_us=max(busy_us - cost_us, min(host_us, step_us)),
            resource="device",
            edit="remove the copies in a row",
        ),
        change=_change(chain),
        kind="proven",
        source=chain.source,
        where=(chain.where,) if chain.where else (),
        identity=("proven", chain.source.function if chain.source else ""),
    )


def _change(chain: CopyChain) -> Change:
    """Return the change that drops the copies; where their operators copy elsewhere too, device time alone goes."""
    alone = max(chain.left_of_operators.values(), default=1.0) <= MOST_ELSEWHERE
    kind: ChangeKind = "drop-operators" if alone else "scale-operators"
    return Change(kind=kind, operators=chain.left_of_operators)


def _possible(context: Context, copy: UserCopy, step_us: float) -> Draft:
    place = place_of(copy.source)
    method = f"`.{fmt.legible(copy.method.rpartition('.')[2], 16)}()`"
    shape = fmt.shapes((copy.shape,)) if copy.shape else "a tensor"
    return Draft(
        title=f"{method} copies {shape}: {fmt.duration_of(copy.device_us_per_step, step_us)}",
        evidence=(
            Evidence(
                text=f"{fmt.plural(copy.count_per_step, 'call')} of {method} a step{f' {place}' if place else ''} "
                f"({recorded_steps(context.case)})",
                value=copy.device_us_per_step,
                unit="us",
            ),
        ),
        mechanism="A cast or a copy of that size reads and writes the whole tensor and computes nothing.",
        short_action=IN_SHORT_NEED,
        action=f"See whether the call {place or 'there'} is needed: keep the data in one type and layout, or let the "
        "operator before it write what the next one reads.",
        verify=f"{context.check_command()}: device time must fall by {fmt.duration(copy.device_us_per_step)} a step.",
        beware="A trace does not say whether the values need the other type: check the results.",
        confidence="low",
        severity="low",
        kind="possible",
        source=copy.source,
        identity=("possible", copy.method, copy.source.function if copy.source else ""),
    )


RULE = Rule(id="needless-copy", checklist_step=1, judge=judge, thresholds=(CHAIN, POSSIBLE), of_device=True)
