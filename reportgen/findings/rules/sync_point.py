"""sync-point: the program waits for the device, and afterwards the device waits for the program."""

from __future__ import annotations

from reportgen import formatting as fmt
from reportgen.analysis.model import Sync
from reportgen.analysis.replay.changes import Change, place_key
from reportgen.findings.gain import bounded_gain
from reportgen.findings.guards import STEP_UNKNOWN, unseen_device
from reportgen.findings.model import Evidence
from reportgen.findings.places import place_of
from reportgen.findings.rule import Context, Draft, Rule, Threshold, Verdict, fired, passed
from reportgen.findings.samples import recorded_steps

COST = Threshold(
    name="cost",
    value=0.01,
    unit="of the step",
    reason="a synchronization under 1 % of the step is lost in its spread, however often it is called",
)

IN_SHORT = "Keep the value on the device, or read it later"


def judge(context: Context) -> Verdict:
    """Sum the cost of the program's own synchronizations, drain and refill, by the function that asks for them.

    As recorded it decides and bounds the gain; what is said is the cost with the profiler's share taken out. The
    threshold is on the cost, not on the count: one wait at the end of a step that the device fills is harmless.
    """
    case = context.case
    if unseen := unseen_device(case, "there is no device to wait for"):
        return unseen
    step_us = case.step_us
    if not step_us or case.device_time is None:
        return STEP_UNKNOWN
    groups = _by_place(case.syncs.items)
    if not groups:
        return passed("the program never waits for the device inside a step")
    limit = context.thresholds[COST.name]
    costs = [(sum(sync.cost_us_per_step for sync in group), group) for group in groups]
    worst = context.measured(COST, max(cost for cost, _ in costs) / step_us)
    drafts = [_draft(context, group, cost, step_us) for cost, group in costs if cost >= limit * step_us]
    if drafts:
        return fired(*drafts, measured=worst)
    return passed(f"the dearest synchronization costs {fmt.share(worst.value)} of the step", worst)


def _by_place(syncs: tuple[Sync, ...]) -> list[list[Sync]]:
    """Group by the function that one edit would change, else by the call."""
    groups: dict[str, list[Sync]] = {}
    for sync in syncs:
        groups.setdefault(place_key(sync.source, sync.call, sync.operator), []).append(sync)
    return list(groups.values())


def _draft(context: Context, group: list[Sync], recorded_us: float, step_us: float) -> Draft:
    case = context.case
    dearest = max(group, key=lambda sync: sync.best_cost_us)
    cost_us = sum(sync.best_cost_us for sync in group)
    count = sum(sync.count_per_step for sync in group)
    blocked_us = sum(sync.blocked_us_per_step for sync in group)
    busy_us = case.busy_us or 0.0
    caller = f"`{fmt.legible(dearest.source.function, 24)}`" if dearest.source else fmt.legible(dearest.call, 24)
    place = place_of(dearest.source)
    through = f" through {fmt.operator_name(dearest.operator)}" if dearest.operator else ""
    return Draft(
        title=f"{caller} waits for the device {fmt.plural(count, 'time')} a step: {fmt.duration_of(cost_us, step_us)}",
        evidence=(
            Evidence(
                text=f"{fmt.plural(count, 'synchronization')} a step{f' {place}' if place else ''}{through} "
                f"({fmt.legible(dearest.call)}), over {recorded_steps(case)}",
                value=count,
                unit="per step",
            ),
            Evidence(
                text=f"the host is blocked {fmt.duration(blocked_us)} a step; the device then waits "
                f"{fmt.duration(cost_us)} until the queue is refilled{_as_recorded(recorded_us, cost_us)}",
                value=cost_us,
                unit="us",
            ),
        ),
        mechanism="A wait empties the queue. The device idles from its last activity until the host, which only then "
        "goes on, has issued new work, and every launch is late until the lead is regained.",
        short_action=IN_SHORT,
        action=f"Keep the value on the device{f' {place}' if place else ''}, or read it once after the step: "
        "each `.item()`, `.cpu()`, `print` or `if` on a tensor waits.",
        verify=f"{context.check_command()}: the synchronizations of this function must be gone from their table and "
        f"the part sync must fall by {fmt.duration(cost_us)}.",
        beware="A loop that must read a value each step (an early exit, a sampled token) has to wait once.",
        confidence="low",
        gain=bounded_gain(
            step_us=step_us, cost_us=recorded_us, floor_us=busy_us, resource="host", edit="remove the synchronizations"
        ),
        change=Change(kind="remove-syncs", place=place_key(dearest.source, dearest.call, dearest.operator)),
        source=dearest.source,
        where=tuple(sync.where for sync in group if sync.where is not None)[:3],
        identity=(dearest.source.function if dearest.source else dearest.call, dearest.operator or ""),
    )


def _as_recorded(recorded_us: float, cost_us: float) -> str:
    """Say what the wait was under the profiler, where recording made part of it."""
    if cost_us >= 0.95 * recorded_us:
        return ""
    return f", the profiler's share taken out; {fmt.duration(recorded_us)} as recorded"


RULE = Rule(id="sync-point", checklist_step=2, judge=judge, thresholds=(COST,))
