"""unstable-timing: the unprofiled step wandered, so small differences mean nothing. A fact about the run."""

from __future__ import annotations

from reportgen import formatting as fmt
from reportgen.analysis.model import StepTimes
from reportgen.findings.model import Evidence, Statement
from reportgen.findings.rule import Context, Draft, Rule, Threshold, Verdict, fired, not_evaluated, passed
from reportgen.findings.samples import spread_ends

SPREAD = Threshold(
    name="spread",
    value=0.25,
    unit="of the median",
    reason="steps of one model wandered by a fifth within minutes on an idle machine; more is another load beside it",
)
# Waits for a core below this share of the steps are an ordinary scheduler's.
_WORTH_SAYING = 0.01

IN_SHORT = "Compare runs only by more than this spread"


def judge(context: Context) -> Verdict:
    """Compare the spread of the unprofiled samples with their median.

    The spread is from the 5th to the 95th percentile, of few samples from the shortest to the longest.
    """
    timing = context.case.timing
    times = timing.counted if timing is not None else None
    if timing is None or timing.basis != "unprofiled" or times is None or times.median_us <= 0:
        return not_evaluated("no unprofiled step was timed")
    limit = context.thresholds[SPREAD.name]
    low_us, high_us = times.spread_us
    spread = (high_us - low_us) / times.median_us
    measured = context.measured(SPREAD, spread)
    samples = fmt.plural(times.num_samples, "sample")
    figures = f"{fmt.spread(low_us, high_us)} ({spread_ends(times)} of {samples})"
    if spread <= limit and times.settled:
        return passed(f"the step takes {figures}", measured)
    drifted = "" if times.settled else "; the medians of the blocks still drifted at the end"
    draft = Draft(
        title=f"The step of {fmt.shorten(context.case.name, 20)} wanders by {fmt.share(spread)} of its median",
        evidence=(Evidence(text=figures + drifted, value=spread, unit="share"), *_starved(times)),
        mechanism="The passes of one run are interleaved, so they share the wandering; two runs do not.",
        short_action=IN_SHORT,
        action="Compare two runs only by differences larger than this spread.",
        verify=f"{context.check_command()}: the spread stands beside the step time.",
        confidence="high",
        severity="info",
        statement=Statement(lead="The step wanders by", figure=fmt.share(spread), tail="of its median", value=spread),
    )
    return fired(draft, measured=measured)


def _starved(times: StepTimes) -> tuple[Evidence, ...]:
    """Say how much of the steps others took, where it is worth a line."""
    starved_us = sum(times.starved_us)
    if not starved_us or starved_us < _WORTH_SAYING * sum(times.samples_us):
        return ()
    share = fmt.share(starved_us / sum(times.samples_us))
    text = f"threads of the program stood ready while others had the cores, {share} of the time that was measured"
    return (Evidence(text=text, value=starved_us / sum(times.samples_us), unit="share"),)


RULE = Rule(id="unstable-timing", checklist_step=5, judge=judge, thresholds=(SPREAD,))
