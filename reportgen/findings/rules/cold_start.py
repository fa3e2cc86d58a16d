"""cold-start: how much longer the first step takes than the later ones. A fact about the run."""

from __future__ import annotations

from reportgen import formatting as fmt
from reportgen.findings.model import Evidence, Statement
from reportgen.findings.rule import Context, Draft, Rule, Threshold, Verdict, fired, not_evaluated, passed

FACTOR = Threshold(
    name="factor",
    value=3.0,
    unit="x",
    reason="caches and clocks alone make a first step up to about twice as long as later ones",
)

IN_SHORT = "Run one step before the first request"


def judge(context: Context) -> Verdict:
    """Compare the first step after the build with the settled step."""
    timing = context.case.timing
    if timing is None or timing.first_step_us is None or not timing.step_us:
        return not_evaluated("the first step was not timed")
    first_us, step_us = timing.first_step_us, timing.step_us
    limit = context.thresholds[FACTOR.name]
    measured = context.measured(FACTOR, first_us / step_us)
    if measured.value < limit:
        return passed(f"the first step takes {fmt.factor(first_us, step_us)} the later ones", measured)
    case = context.case
    figures = f"{fmt.step_time(first_us)} for the first step, {fmt.step_time(step_us)} for a later one"
    draft = Draft(
        title=f"The first step of {fmt.shorten(case.name, 20)} takes {fmt.step_time(first_us)}",
        evidence=(Evidence(text=f"{figures} (n = 1)", value=first_us, unit="us"),),
        mechanism="The first step also loads code, fills the allocator and chooses algorithms.",
        short_action=IN_SHORT,
        action="Run one step before the first request that somebody waits for.",
        verify=f"{context.check_command()}: the first step is timed apart in each run.",
        confidence="high",
        severity="info",
        statement=Statement(lead="The first step takes", figure=fmt.step_time(first_us), value=first_us),
    )
    return fired(draft, measured=measured)


RULE = Rule(id="cold-start", checklist_step=5, judge=judge, thresholds=(FACTOR,))
