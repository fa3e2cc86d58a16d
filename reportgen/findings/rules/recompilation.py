"""recompilation: Dynamo or Inductor compiles inside the recorded steps."""

from __future__ import annotations

from reportgen import formatting as fmt
from reportgen.analysis.model import Compilation
from reportgen.findings.gain import bounded_gain
from reportgen.findings.model import Evidence
from reportgen.findings.places import place_of
from reportgen.findings.rule import Context, Draft, Rule, Threshold, Verdict, fired, not_evaluated, passed

SHARE = Threshold(
    name="share",
    value=0.01,
    unit="of the step",
    reason="compiling takes from ten milliseconds to minutes; what is under 1 % of the step is a look-up",
)

IN_SHORT = "See which guard fails: `TORCH_LOGS=recompiles`"


def judge(context: Context) -> Verdict:
    """Sum the host time of compilers inside the recorded steps, by the function that they work for.

    Warmed-up steps compile nothing: what is compiled in a recorded step is compiled again for a new shape, type or
    value, or for the first time on a path that the warm-up did not take. The time holds the profiler's share.
    """
    case = context.case
    step_us = case.step_us
    if not case.num_steps or not step_us:
        return not_evaluated("no step was recorded")
    limit = context.thresholds[SHARE.name]
    recorded_us = _recorded_step_us(context) or step_us
    worst_us = max((row.host_us_per_step for row in case.compilations), default=0.0)
    measured = context.measured(SHARE, worst_us / recorded_us)
    rows = [row for row in case.compilations if row.host_us_per_step >= limit * recorded_us]
    if rows:
        return fired(*(_draft(context, row, step_us, recorded_us) for row in rows), measured=measured)
    return passed("nothing is compiled inside the recorded steps", measured)


def _recorded_step_us(context: Context) -> float | None:
    """Return the mean length of the recorded steps, which the compilers' time was recorded in."""
    intervals = [row.host_us for row in context.case.steps]
    return sum(intervals) / len(intervals) if intervals else None


def _draft(context: Context, row: Compilation, step_us: float, recorded_us: float) -> Draft:
    case = context.case
    place = place_of(row.source)
    waiting = "" if case.device_kind == "host" else ", while the device waits"
    function = f"`{fmt.legible(row.source.function, 24)}`" if row.source else "The step"
    each_us = row.host_us_per_step / row.count_per_step
    # The typical step may be one without a compilation: it then has nothing to gain, the mean of the steps has.
    share = row.host_us_per_step / recorded_us
    return Draft(
        title=f"{function} is compiled anew in {fmt.part(row.num_steps, case.num_steps, 'step')}",
        evidence=(
            Evidence(
                text=f"compilers work {fmt.duration(each_us)} at a time{f' {place}' if place else ''}, in "
                f"{fmt.part(row.num_steps, case.num_steps, 'recorded step')}; that is {fmt.share(share)} of them",
                value=row.host_us_per_step,
                unit="us",
            ),
        ),
        mechanism="Compiled code holds for the shapes, types and values that it was guarded on; another one makes "
        f"Dynamo trace the function again on the host{waiting}.",
        short_action=IN_SHORT,
        action="See which guard fails with `TORCH_LOGS=recompiles`; then pad the sizes to a few values, or mark what "
        "varies: `torch._dynamo.mark_dynamic(x, 0)`, or `torch.compile(f, dynamic=True)`.",
        verify=f"{context.check_command()}: no `(dynamo_timed)` span may lie in a recorded step.",
        beware="Code for dynamic shapes can be slower than code for one: measure both.",
        confidence="medium",
        gain=bounded_gain(
            step_us=step_us, cost_us=min(share, 1.0) * step_us, floor_us=0.0, resource="host", edit="compile nothing"
        ),
        source=row.source,
        where=(row.where,) if row.where else (),
        identity=(row.source.function if row.source else "",),
    )


RULE = Rule(id="recompilation", checklist_step=2, judge=judge, thresholds=(SHARE,))
