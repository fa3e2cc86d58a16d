"""host-bound: the device waits because the host cannot issue work fast enough."""

from __future__ import annotations

import dataclasses

from reportgen import formatting as fmt
from reportgen.analysis.model import Budget, CaseAnalysis, Launching
from reportgen.analysis.replay.changes import Change
from reportgen.findings.gain import bounded_gain, part_us
from reportgen.findings.guards import IDLE_UNCERTAIN, STEP_UNKNOWN, unseen_device
from reportgen.findings.model import Evidence
from reportgen.findings.places import longest_wait
from reportgen.findings.rule import Context, Draft, Rule, Threshold, Verdict, fired, not_evaluated, passed
from reportgen.findings.samples import recorded_steps

HOST_OVER_BUSY = Threshold(
    name="host-over-busy",
    value=1.1,
    unit="x",
    reason="below 1.1 the difference is within what one run's host time wanders from the next",
)

_LONGEST_NAME = 12
# Building and allocating under this share of the step goes without saying.
WORTH_SAYING = 0.01
# Phases whose step is the same work every time, so that one captured graph can be replayed.
_FORWARD_PHASES = frozenset({"prefill", "decode", "forward", "encode"})

IN_SHORT_GRAPH = "Capture the step once and replay it"
IN_SHORT_FIXED = "Give the step fixed shapes, then capture it once"
IN_SHORT_COMPILE = "Issue fewer launches: compile, or capture the step"


def judge(context: Context) -> Verdict:
    """Compare the host's own time of a step with the time the device is busy.

    Fired where ``host_low > 1.1 * busy``, passed where ``host_high < busy``, else not evaluated: `host_low` and
    `host_high` are the host's time less the upper and the lower estimate of the profiler's share, with stalls,
    synchronizations and the data loader taken out first. An idle share in a trace proves nothing by itself.
    """
    case = context.case
    if unseen := unseen_device(case, "there is no device to wait for the host"):
        return unseen
    launching, busy_us = case.launching, case.busy_us
    if launching is None or launching.host_low_us is None or launching.host_high_us is None or not busy_us:
        return not_evaluated("the host's time of a step is not known")
    if not launching.idle_is_certain:
        return IDLE_UNCERTAIN
    step_us = case.step_us
    if case.budget is None or step_us is None:
        return STEP_UNKNOWN
    low = context.measured(HOST_OVER_BUSY, launching.host_low_us / busy_us)
    if low.value > low.threshold:
        return fired(_draft(context, launching, case.budget, step_us, busy_us), measured=low)
    high = dataclasses.replace(low, value=launching.host_high_us / busy_us)
    if high.value < 1:
        host, busy = fmt.duration(launching.host_high_us), fmt.duration(busy_us)
        return passed(f"the host works {host} a step at most, the device {busy}", high)
    return not_evaluated(
        f"the host works {fmt.factor(low.value, 1)} to {fmt.factor(high.value, 1)} as long as the device, "
        "by how much of its time is the profiler's",
        low,
    )


def _draft(context: Context, launching: Launching, budget: Budget, step_us: float, busy_us: float) -> Draft:
    case = context.case
    activities = case.device_time.activities_per_step if case.device_time else None
    cost_us = part_us(budget, "launch", "launch-call")
    gain = bounded_gain(
        step_us=step_us, cost_us=cost_us, floor_us=busy_us, resource="host", edit="issue the step as one launch"
    )
    return Draft(
        title=_title(case, activities, busy_us, step_us),
        evidence=_evidence(case, launching, activities, busy_us, step_us, cost_us),
        mechanism=_mechanism(launching, activities, step_us),
        short_action=_short_action(case),
        action=_action(case),
        verify=f"{context.check_command()}: the share of the step that the device is busy must rise from "
        f"{fmt.share(busy_us / step_us)}.",
        beware=_beware(case),
        confidence="low",
        gain=gain,
        # What is advised where no graph is, compiling, issues fewer launches but not one.
        change=Change(kind="launch-as-graph", is_limit=case.phase not in _FORWARD_PHASES),
        where=longest_wait(case, "launch"),
        tries=("cuda-graph",) if _fits_a_graph(case) else (),
        merged=("small-kernels",) if _short_kernels_dominate(launching, activities) else (),
    )


def _title(case: CaseAnalysis, activities: float | None, busy_us: float, step_us: float) -> str:
    # A long name would leave no room for the figures; the case stands beside every finding anyway.
    name = case.name if len(case.name) <= _LONGEST_NAME else "The host"
    if activities is None:
        return f"{name} keeps the device busy for {fmt.duration_of(busy_us, step_us)}"
    unit, size = fmt.step_unit(step_us)
    step, busy = fmt.number(step_us / size), fmt.number(busy_us / size)
    return f"{name} issues {fmt.count(activities)} activities in {step}{fmt.NBSP}{unit} that run {busy}{fmt.NBSP}{unit}"


def _evidence(
    case: CaseAnalysis,
    launching: Launching,
    activities: float | None,
    busy_us: float,
    step_us: float,
    cost_us: float,
) -> tuple[Evidence, ...]:
    low_us, high_us = launching.host_low_us, launching.host_high_us
    rows = [
        Evidence(
            text=f"the host issues work for {fmt.spread(low_us, high_us)} a step, what it waits, builds or stalls and "
            f"the profiler's share taken out; the device works {fmt.duration(busy_us)}",
            value=low_us,
            unit="us",
        )
    ]
    if activities and low_us is not None:
        each_us = low_us / activities
        high_each_us = each_us if high_us is None else high_us / activities
        text = f"that is {fmt.spread(each_us, high_each_us)} for each activity"
        if launching.median_activity_us is not None:
            text += f", of which the median runs {fmt.duration(launching.median_activity_us)}"
        rows.append(Evidence(text=f"{text} ({recorded_steps(case)})", value=each_us, unit="us"))
    waiting = f"the device waits {fmt.duration_of(cost_us, step_us)} for launches and their calls"
    rows.append(Evidence(text=waiting, value=cost_us, unit="us"))
    built_us = part_us(case.budget, "build", "allocator") if case.budget else 0.0
    if built_us >= WORTH_SAYING * step_us:
        text = (
            f"a captured step builds and allocates nothing either: {fmt.duration(built_us)} more go with the launches"
        )
        rows.append(Evidence(text=text, value=built_us, unit="us"))
    return tuple(rows)


def _short_kernels_dominate(launching: Launching, activities: float | None) -> bool:
    return bool(activities and launching.short_kernels_per_step and launching.short_kernels_per_step > activities / 2)


def _mechanism(launching: Launching, activities: float | None, step_us: float) -> str:
    if _short_kernels_dominate(launching, activities):
        return (
            f"{fmt.count(launching.short_kernels_per_step)} of {fmt.count(activities)} activities a step are over "
            "before the host has issued the next one, so the queue is empty and the device waits."
        )
    return "The host prepares a launch for longer than the device works on it, so the queue runs empty."


def _fits_a_graph(case: CaseAnalysis) -> bool:
    # A step that is prepared anew each time has a drained time only; what it meets then, a graph cannot hold.
    return case.phase in _FORWARD_PHASES and case.timing is not None and case.timing.pipelined is not None


def _short_action(case: CaseAnalysis) -> str:
    if case.phase not in _FORWARD_PHASES:
        return IN_SHORT_COMPILE
    return IN_SHORT_GRAPH if _fits_a_graph(case) else IN_SHORT_FIXED


def _action(case: CaseAnalysis) -> str:
    if case.phase in _FORWARD_PHASES:
        if not _fits_a_graph(case):
            return (
                "Give the step fixed shapes (a static cache, padded lengths), then capture it once with "
                "`torch.cuda.graph` and replay it; `torch.compile(model, dynamic=True)` takes part of the cost away."
            )
        return (
            "Capture the step once and replay it: `with torch.cuda.graph(graph): out = model(static_input)`, then "
            "`static_input.copy_(x); graph.replay()`; or `model = torch.compile(model, mode='reduce-overhead')`."
        )
    trains = case.phase == "train" or bool(case.optimizer_updates)
    model = "forward and backward" if trains else "the model"
    update, capturable = (", the update included,", ", an optimizer with `capturable=True`") if trains else ("", "")
    return (
        f"Issue fewer launches: compile {model}, `model = torch.compile(model, mode='reduce-overhead')`, or capture "
        f"the whole step{update} with `torch.cuda.graph` (fixed shapes, no number read{capturable}); a larger batch "
        "gives each launch more work."
    )


def _beware(case: CaseAnalysis) -> str:
    if case.phase in _FORWARD_PHASES:
        return "A graph holds one shape and fixed addresses: one graph for each shape in use."
    bound = "The gain is that of the whole step as one launch; compiling the model gives a part of it"
    update = max(case.optimizer_updates, key=lambda one: one.activities_per_step, default=None)
    if update is None:
        return f"{bound}."
    launches = fmt.plural(update.activities_per_step, "launch", "launches")
    return f"{bound} and leaves the {launches} of {fmt.legible(update.name, 24)} as they are."


RULE = Rule(id="host-bound", checklist_step=2, judge=judge, thresholds=(HOST_OVER_BUSY,))
