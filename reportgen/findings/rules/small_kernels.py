"""small-kernels: most activities are over before the host has issued the next one."""

from __future__ import annotations

from reportgen import formatting as fmt
from reportgen.analysis.model import Budget, CaseAnalysis
from reportgen.analysis.replay.changes import Change, operator_key
from reportgen.analysis.work_models import MATRIX_FAMILIES
from reportgen.findings.gain import bounded_gain
from reportgen.findings.guards import IDLE_UNCERTAIN, unseen_device
from reportgen.findings.model import Evidence
from reportgen.findings.places import longest_wait
from reportgen.findings.rule import Context, Draft, Rule, Threshold, Verdict, fired, not_evaluated, passed
from reportgen.findings.samples import recorded_steps
from reportgen.findings.shape_faults import call_us, device_us

SHORT = Threshold(
    name="short",
    value=0.5,
    unit="of the activities",
    reason="where most activities outlast their launches the queue fills again by itself",
)
WAITS = Threshold(
    name="waits",
    value=0.03,
    unit="of the step",
    reason="short kernels that wait in a full queue cost nothing; under 3 % their waits drown in the step's spread",
)

IN_SHORT = "Make fewer, larger kernels: `torch.compile(step)`"


def judge(context: Context) -> Verdict:
    """Count activities shorter than their own launch interval, begun on an empty queue, and the waits for launches.

    The waits are the least that the budget's parts `launch` and `launch-call` take together. Where the host sets the
    pace of the whole step this is the mechanism of `host-bound`, and both are one finding.
    """
    case = context.case
    if unseen := unseen_device(case, "there is no device to launch on"):
        return unseen
    launching, activities = case.launching, case.device_time.activities_per_step if case.device_time else None
    if launching is None or launching.short_kernels_per_step is None or not activities or case.budget is None:
        return not_evaluated("launches were not recorded")
    if not launching.idle_is_certain:
        return IDLE_UNCERTAIN
    measured = context.measured(SHORT, launching.short_kernels_per_step / activities)
    if measured.value <= measured.threshold:
        return passed(f"{fmt.share(measured.value)} of the activities are shorter than their launch interval", measured)
    step_us = case.budget.step_us
    waits_us = least_waits_us(case.budget)
    if waits_us < context.thresholds[WAITS.name] * step_us:
        return passed(f"the device waits {fmt.duration_of(waits_us, step_us)} for launches", measured)
    return fired(_draft(context, launching.short_kernels_per_step, activities, waits_us, step_us), measured=measured)


def least_waits_us(budget: Budget) -> float:
    """Return what the two parts take at least together: how they share it may be open where their sum is not."""
    launches = [row for row in budget.parts if row.name in ("launch", "launch-call")]
    others_us = sum(row.high_us for row in budget.parts if row not in launches)
    return max(sum(row.low_us for row in launches), budget.step_us - others_us)


def _draft(context: Context, short: float, activities: float, waits_us: float, step_us: float) -> Draft:
    case = context.case
    median_us = case.launching.median_activity_us if case.launching else None
    busy_us = case.busy_us or 0.0
    runs = f"; their median runs {fmt.duration(median_us)}" if median_us is not None else ""
    return Draft(
        title=f"{fmt.count(short)} of {fmt.count(activities)} activities are shorter than a launch",
        evidence=(
            Evidence(
                text=f"{fmt.count(short)} of {fmt.count(activities)} activities a step are over before the next one is "
                f"issued{runs} ({recorded_steps(case)})",
                value=short,
                unit="per step",
            ),
            Evidence(
                text=f"the device waits at least {fmt.duration_of(waits_us, step_us)} for launches",
                value=waits_us,
                unit="us",
            ),
        ),
        mechanism="A kernel that is over before the next one is issued leaves the device idle in between.",
        short_action=IN_SHORT,
        action="Make fewer, larger kernels: `step = torch.compile(step)` fuses neighbours; elementwise work on lists "
        "of tensors goes through `torch._foreach_*` or one concatenated tensor.",
        verify=f"{context.check_command()}: activities a step must fall, and with them the parts launch and "
        "launch-call.",
        confidence="low",
        gain=bounded_gain(
            step_us=step_us, cost_us=waits_us, floor_us=busy_us, resource="host", edit="fuse the short kernels"
        ),
        change=_change(case),
        where=longest_wait(case, "launch"),
        tries=("compile",),
    )


def _change(case: CaseAnalysis) -> Change | None:
    """Return the change that makes one kernel of each run of short ones; what a compiler does not fuse stays."""
    launching, activities = case.launching, case.device_time.activities_per_step if case.device_time else None
    if launching is None or not launching.host_us_per_step or not activities:
        return None
    interval_us = launching.host_us_per_step / activities
    short = [
        row
        for row in case.operators.items
        if row.family not in MATRIX_FAMILIES and device_us(row) and call_us(row) < interval_us
    ]
    return Change(kind="fuse-operators", operators={operator_key(row): 1.0 for row in short}) if short else None


RULE = Rule(id="small-kernels", checklist_step=1, judge=judge, thresholds=(SHORT, WAITS))
