"""profiler-distortion: how much longer the step is under the profiler. A fact about the run."""

from __future__ import annotations

from reportgen import formatting as fmt
from reportgen.findings.model import Evidence, Statement
from reportgen.findings.rule import Context, Draft, Rule, Threshold, Verdict, fired, not_evaluated, passed

FACTOR = Threshold(
    name="factor",
    value=1.1,
    unit="x",
    reason="up to 10 % longer, the profiled step lies within the spread of unprofiled steps",
)

IN_SHORT = "Read no gaps from the trace in a viewer"


def judge(context: Context) -> Verdict:
    """Compare the step under the light and the detailed pass with the unprofiled step.

    Where unprofiled steps wander as far as that, nothing is told of the profiler.
    """
    case = context.case
    if case.timing is None or case.timing.basis != "unprofiled" or case.timing.step_us is None:
        return not_evaluated("no unprofiled step was timed")
    profiled = case.timing.profiled_step_us
    step_us = case.timing.step_us
    passes = {"timeline": profiled.timeline, "detail": profiled.detail}
    known = {name: us for name, us in passes.items() if us is not None}
    if not known:
        return not_evaluated("no profiled step was recorded")
    worst_us = max(known.values())
    measured = context.measured(FACTOR, worst_us / step_us)
    if measured.value < measured.threshold:
        return passed(f"profiled, the step takes {fmt.factor(worst_us, step_us)} its unprofiled time at most", measured)
    times = case.timing.counted
    if times is not None and worst_us <= times.spread_us[1]:
        spread = fmt.spread(*times.spread_us)
        return passed(f"profiled, the step lies within the {spread} of unprofiled steps", measured)
    return fired(_draft(context, step_us, known), measured=measured)


def _draft(context: Context, step_us: float, known: dict[str, float]) -> Draft:
    case = context.case
    unit, size = fmt.step_unit(step_us)
    unprofiled = fmt.step_time(step_us)
    evidence = tuple(
        Evidence(
            text=f"{fmt.step_time(us)} in the {name} pass, {fmt.factor(us, step_us)} the unprofiled {unprofiled}",
            value=us,
            unit="us",
        )
        for name, us in known.items()
    )
    worst_us = max(known.values())
    before, after = fmt.number(step_us / size), fmt.number(worst_us / size)
    return Draft(
        title=f"The profiler turns {case.name}'s {before}{fmt.NBSP}{unit} into {after}{fmt.NBSP}{unit}",
        evidence=evidence,
        mechanism="Recording costs host time for each operator, launch and frame.",
        short_action=IN_SHORT,
        action="Read step time and gain from this report, not gaps from the trace in a viewer.",
        verify=f"{context.check_command()}: the step is timed with the profiler off, in blocks between the passes.",
        confidence="high",
        severity="info",
        statement=Statement(
            lead="Profiled, the step takes",
            figure=fmt.factor(worst_us, step_us),
            tail="its unprofiled time",
            value=worst_us / step_us,
        ),
    )


RULE = Rule(id="profiler-distortion", checklist_step=5, judge=judge, thresholds=(FACTOR,))
