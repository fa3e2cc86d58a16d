"""shape-specialisation: an operator works out something anew for every shape it meets for the first time."""

from __future__ import annotations

from reportgen import formatting as fmt
from reportgen.analysis.model import CaseAnalysis, FirstVisit, Timing
from reportgen.analysis.replay.changes import Change
from reportgen.findings.gain import bounded_gain
from reportgen.findings.guards import STEP_UNKNOWN
from reportgen.findings.model import Evidence
from reportgen.findings.places import place_of
from reportgen.findings.rule import Context, Draft, Rule, Threshold, Verdict, fired, not_evaluated, passed
from reportgen.findings.samples import recorded_steps

NUM_SHAPES = Threshold(
    name="num-shapes",
    value=2,
    unit="shapes",
    reason="one shape alone may be the profiler starting up or a library loading",
)
FACTOR = Threshold(
    name="factor", value=10, unit="x", reason="colder caches and lazy loading make a first visit a few times slower"
)
EXCESS_US = Threshold(
    name="excess", value=1000, unit="us", reason="an ordinary operator takes the host 10 to 100 µs; a plan, ten ms"
)

IN_SHORT_BACKEND = "Take an attention backend that builds no plans"
IN_SHORT_PAD = "Pad the sizes to a few values"


def judge(context: Context) -> Verdict:
    """Compare an operator's self host time at the first visit of a signature with the median of later visits.

    An operator called once a step has no later visits in a window; where it takes far longer than others that launch
    work, either its shapes or the steps over shapes met again must show that it is the new shape that costs.
    """
    case = context.case
    if not case.steps:
        return not_evaluated("no step was recorded")
    step_us = case.step_us
    if not step_us:
        return STEP_UNKNOWN
    limit = context.thresholds
    slow = [
        visit
        for visit in case.first_visits
        if visit.num_signatures >= limit[NUM_SHAPES.name]
        and visit.first_us - visit.later_us >= limit[EXCESS_US.name]
        and visit.first_us >= limit[FACTOR.name] * visit.later_us
        and (visit.are_shapes_known or _are_revisits_quicker(case, limit[EXCESS_US.name]))
    ]
    worst = max((visit.first_us - visit.later_us for visit in case.first_visits), default=0.0)
    measured = context.measured(EXCESS_US, worst)
    if not slow:
        return passed("no operator takes far longer at the first visit of a shape", measured)
    slow.sort(key=lambda visit: -visit.excess_us_per_step)
    return fired(_draft(context, slow, step_us), measured=measured)


def _are_revisits_quicker(case: CaseAnalysis, least_us: float) -> bool:
    """Tell whether steps over shapes met before are quicker, not profiled, by as much as a first visit costs."""
    timing = case.timing
    if timing is None or timing.revisit is None or timing.step_us is None:
        return False
    return timing.step_us - timing.revisit.median_us >= least_us


def _draft(context: Context, slow: list[FirstVisit], step_us: float) -> Draft:
    """Write one finding for all operators that behave so; it tells of the dearest, the first of `slow`."""
    case, visit = context.case, slow[0]
    timing = case.timing
    revisit_us = timing.revisit.median_us if timing and timing.revisit else None
    first_visits_us = min(sum(one.excess_us_per_step for one in slow), step_us)
    cost_us = step_us - revisit_us if revisit_us is not None and revisit_us < step_us else first_visits_us
    # Where the host does the work, building a plan is some of it.
    busy_us = (case.busy_us or 0.0) if case.device_kind != "host" else 0.0
    name = fmt.operator_name(visit.operator, 40)
    return Draft(
        title=f"Each new shape costs {fmt.shorten(case.name, 16)} {fmt.duration_of(cost_us, step_us)}",
        evidence=_evidence(_recorded(case), slow, name, timing, step_us),
        mechanism=f"{name} prepares a plan for every shape that it has not met before, on the host"
        f"{'' if case.device_kind == 'host' else ', while the device waits'}; a shape met again takes the plan that is "
        "there.",
        short_action=IN_SHORT_BACKEND if _is_attention(visit) else IN_SHORT_PAD,
        action=_action(visit),
        verify=f"{context.check_command()}: the step over new shapes must come down to "
        f"{fmt.step_time(step_us - cost_us)}.",
        beware="A warm-up over the lengths in use only moves the cost to the start of the program.",
        confidence="low",
        gain=bounded_gain(
            step_us=step_us, cost_us=cost_us, floor_us=busy_us, resource="host", edit="remove the first-visit cost"
        ),
        change=Change(kind="build-once"),
        source=visit.source,
        where=(visit.where,) if visit.where else (),
        identity=(visit.operator,),
        tries=("sdpa-flash",) if _is_attention(visit) else (),
    )


def _recorded(case: CaseAnalysis) -> str:
    # Where the host does the work, only the pass that has shapes tells.
    return "the detail pass" if case.device_kind == "host" and case.passes else recorded_steps(case)


def _evidence(
    steps: str, slow: list[FirstVisit], name: str, timing: Timing | None, step_us: float
) -> tuple[Evidence, ...]:
    visit = slow[0]
    at = place_of(visit.source)
    rows = [
        Evidence(
            text=f"{name}{f' {at}' if at else ''} takes the host {fmt.duration(visit.first_us)} at the first visit of "
            f"{fmt.plural(visit.num_signatures, 'shape')}, {fmt.duration(visit.later_us)} "
            f"{'are usual of operators that launch work' if visit.by_peers else 'later'} "
            f"({steps})",
            value=visit.first_us - visit.later_us,
            unit="us",
        )
    ]
    if timing is not None and timing.revisit is not None:
        revisit = timing.revisit
        rows.append(
            Evidence(
                text=f"not profiled, shapes met again take {fmt.step_time(revisit.median_us)} a step "
                f"(n = {fmt.count(revisit.num_samples)}), new ones {fmt.step_time(step_us)}; the cost is what differs",
                value=revisit.median_us,
                unit="us",
            )
        )
    if len(slow) > 1:
        total_us = sum(one.excess_us_per_step for one in slow)
        text = f"{fmt.plural(len(slow), 'operator')} behave so; their first visits take {fmt.duration(total_us)} a step"
        rows.append(Evidence(text=text, value=total_us, unit="us"))
    return tuple(rows)


def _is_attention(visit: FirstVisit) -> bool:
    # The dispatcher's own names: aten::_scaled_dot_product_*_attention, and the kernels' wrappers beneath it.
    return "attention" in visit.operator


def _action(visit: FirstVisit) -> str:
    if _is_attention(visit):
        return (
            "Take an attention backend that builds no plans: "
            "`with torch.nn.attention.sdpa_kernel(SDPBackend.FLASH_ATTENTION):`, or pad the lengths to a few sizes."
        )
    return "Pad the sizes to a few values, so that every shape was met before, or choose a backend without plans."


RULE = Rule(id="shape-specialisation", checklist_step=2, judge=judge, thresholds=(NUM_SHAPES, FACTOR, EXCESS_US))
