"""optimizer-unfused: the optimizer updates one parameter and one operation at a time."""

from __future__ import annotations

from reportgen import formatting as fmt
from reportgen.analysis.model import CaseAnalysis, OptimizerUpdate
from reportgen.analysis.replay.changes import Change
from reportgen.findings.gain import bounded_gain
from reportgen.findings.guards import STEP_UNKNOWN, unseen_device
from reportgen.findings.model import Evidence
from reportgen.findings.places import place_of
from reportgen.findings.rule import Context, Draft, Rule, Threshold, Verdict, fired, not_applicable, passed
from reportgen.findings.samples import recorded_steps

PER_PARAMETER = Threshold(
    name="per-parameter",
    value=1.0,
    unit="activities",
    reason="a fused or list-wise update takes a few activities for all parameters together (8 for 74 measured), a loop "
    "over parameters several for each (592)",
)
ACTIVITIES = Threshold(
    name="activities",
    value=32,
    unit="per step",
    reason="fewer launches than these take under 0.2 ms together: there is little to fuse",
)
SHARE = Threshold(
    name="share",
    value=0.01,
    unit="of the step",
    reason="an update under 1 % of the step is lost in its spread, however it is written",
)
# Optimizers of torch.optim that take `fused=True`.
_FUSED = frozenset({"Adam", "AdamW", "SGD", "Adagrad"})

IN_SHORT_FUSED = "Make the optimizer with `fused=True`"
IN_SHORT_FOREACH = "Make the optimizer with `foreach=True`"


def judge(context: Context) -> Verdict:
    """Divide the activities launched inside the optimizer's own span by the number of parameters it updates.

    Cost: device work under the span and the device's waits in it, the profiler's share taken out. Names of kernels are
    not asked: they prove fusion, not its absence.
    """
    case = context.case
    if unseen := unseen_device(case, "there is no device to launch on"):
        return unseen
    updates = [update for update in case.optimizer_updates if update.parameters_per_step]
    if not updates:
        return not_applicable("no optimizer's step was recorded")
    step_us = case.step_us
    if not step_us:
        return STEP_UNKNOWN
    limit = context.thresholds
    worst = max(updates, key=lambda update: update.activities_per_step / update.parameters_per_step)
    measured = context.measured(PER_PARAMETER, worst.activities_per_step / worst.parameters_per_step)
    unfused = [
        update
        for update in updates
        if update.activities_per_step >= limit[PER_PARAMETER.name] * update.parameters_per_step
        and update.activities_per_step >= limit[ACTIVITIES.name]
        and update.extent_us_per_step >= limit[SHARE.name] * step_us
    ]
    if unfused:
        longest = max(unfused, key=lambda update: update.extent_us_per_step)
        return fired(_draft(context, longest, step_us), measured=measured)
    return passed(
        f"{fmt.plural(worst.activities_per_step, 'activity', 'activities')} update "
        f"{fmt.plural(worst.parameters_per_step, 'parameter')} in {fmt.duration(worst.extent_us_per_step)}",
        measured,
    )


def _draft(context: Context, update: OptimizerUpdate, step_us: float) -> Draft:
    case = context.case
    name, place = fmt.legible(update.name, 24), place_of(update.source)
    busy_us = case.busy_us or 0.0
    launches = fmt.plural(update.activities_per_step, "launch", "launches")
    fused = update.name in _FUSED
    return Draft(
        title=_title(case, f"{name} takes {launches}", update.extent_us_per_step, step_us),
        evidence=(
            Evidence(
                text=f"{fmt.plural(update.activities_per_step, 'activity', 'activities')} a step update "
                f"{fmt.plural(update.parameters_per_step, 'parameter')}{f' {place}' if place else ''} "
                f"({recorded_steps(case)})",
                value=update.activities_per_step,
                unit="per step",
            ),
            Evidence(
                text=f"under the optimizer's step the device works {fmt.duration(update.device_us_per_step)} and waits "
                f"{fmt.duration(max(0.0, update.extent_us_per_step - update.device_us_per_step))}; the host is in it "
                f"for {fmt.duration(update.host_us_per_step)}, the profiler's share in it",
                value=update.extent_us_per_step,
                unit="us",
            ),
        ),
        mechanism="The update runs one operation on one parameter at a time, so the host issues several launches for "
        "each parameter and the device waits for most of them.",
        short_action=IN_SHORT_FUSED if fused else IN_SHORT_FOREACH,
        action=_action(name, place, fused),
        verify=f"{context.check_command()}: {fmt.count(update.activities_per_step)} activities under "
        f"`Optimizer.step#{name}` must become a few.",
        beware="The fused update rounds differently in the last digits." if fused else None,
        confidence="low",
        gain=bounded_gain(
            step_us=step_us,
            cost_us=update.extent_us_per_step,
            floor_us=busy_us - update.device_us_per_step,
            resource="both",
            edit="fuse the optimizer's update",
        ),
        change=Change(kind="fuse-optimizer"),
        source=update.source,
        where=(update.where,) if update.where else (),
        identity=(update.name,),
        tries=("fused-optimizer",),
    )


def _title(case: CaseAnalysis, subject: str, extent_us: float, step_us: float) -> str:
    # A step timed under the profiler holds its share, the update's extent does not: one is no part of the other.
    if case.timing is not None and case.timing.basis == "unprofiled":
        return f"{subject}: {fmt.duration_of(extent_us, step_us)}"
    return f"{subject}: {fmt.duration(extent_us)} a step without the profiler"


def _action(name: str, place: str, fused: bool) -> str:
    where = f" The step is taken {place}." if place else ""
    if fused:
        call = f"`torch.optim.{name}(parameters, …, fused=True)`"
        return f"Make the optimizer with `fused=True`, else `foreach=True`: {call}.{where}"
    return f"Make the optimizer with `foreach=True`, or compile its step: `torch.compile(optimizer.step)`.{where}"


RULE = Rule(id="optimizer-unfused", checklist_step=1, judge=judge, thresholds=(PER_PARAMETER, ACTIVITIES, SHARE))
