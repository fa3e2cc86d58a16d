"""step-outlier: single steps take far longer than their peers."""

from __future__ import annotations

import statistics
from typing import Literal

import msgspec

from reportgen import formatting as fmt
from reportgen.analysis.model import Timing
from reportgen.findings.gain import bounded_gain
from reportgen.findings.model import Evidence
from reportgen.findings.rule import Context, Draft, Rule, Threshold, Verdict, fired, not_evaluated, passed

FACTOR = Threshold(
    name="factor", value=2, unit="x", reason="a host that is shared makes a step half as long again; twice is an event"
)
EXCESS_US = Threshold(
    name="excess", value=1000, unit="us", reason="the scheduler of a busy host takes up to a millisecond away"
)
COST = Threshold(
    name="cost", value=0.01, unit="of the mean step", reason="what is rarer costs less than the spread of the rest"
)
NUM_PEERS = 3

IN_SHORT = "Try `gc.freeze()`, and pin the process to its cores"


def judge(context: Context) -> Verdict:
    """Find steps over twice as long as their peers and 1 ms more, and what they add to the mean step.

    Their peers are both the smallest step and the median: on a host that wanders between two speeds the slower one is
    no outlier.

    The samples are those of the timing pass where there is one, but for the steps whose threads stood ready while
    others had the cores: a step that others held up is no outlier of the program's. Else they are the completion
    intervals of the trace; the first recorded step only settles and never counts.
    """
    timing = context.case.timing
    times = timing.counted if timing is not None and timing.basis == "unprofiled" else None
    if times is not None and times.is_crowded:
        num = len(times.undisturbed_us)
        return not_evaluated(
            f"others had the cores: {fmt.count(num)} of {fmt.plural(times.num_samples, 'step')} ran undisturbed"
        )
    samples = _samples(context)
    if timing is None or len(samples) < NUM_PEERS:
        return not_evaluated(f"{fmt.plural(len(samples), 'step interval')} cannot tell an outlier from its peers")
    limit = context.thresholds
    median_us = statistics.median(samples)
    bound_us = max(limit[FACTOR.name] * median_us, min(samples) + limit[EXCESS_US.name])
    slow = [sample for sample in samples if sample > bound_us]
    cost_us = sum(sample - median_us for sample in slow) / len(samples)
    share = cost_us / (sum(samples) / len(samples))
    measured = context.measured(COST, share)
    # Where more than a quarter of the steps are slow they are no outliers: the step has two speeds or wanders.
    if not slow or share < measured.threshold or len(slow) > len(samples) / 4:
        lap = " of the first lap" if timing.revisit is not None else ""
        return passed(
            f"{fmt.count(len(slow))} of {fmt.plural(len(samples), 'step')}{lap} are over {fmt.step_time(bound_us)}"
        )
    return fired(_draft(context, timing, samples, slow, cost_us), measured=measured)


def _samples(context: Context) -> tuple[float, ...]:
    timing = context.case.timing
    if timing is None:
        return ()
    if timing.basis == "unprofiled":
        times = timing.counted
        return times.undisturbed_us if times else ()
    return tuple(row.interval_us for row in context.case.steps if row.interval_us is not None and not row.settling)


def _draft(context: Context, timing: Timing, samples: tuple[float, ...], slow: list[float], cost_us: float) -> Draft:
    # The median step has nothing to gain from rare ones; the mean has.
    mean_us = statistics.fmean(samples)
    gain = bounded_gain(
        step_us=mean_us, cost_us=min(cost_us, mean_us), floor_us=0.0, resource="both", edit="remove the slow steps"
    )
    # The step of a trace is a mean already.
    base: Literal["step", "mean-step"] = "mean-step" if timing.basis == "unprofiled" else "step"
    how = "not profiled" if timing.basis == "unprofiled" else "in the trace"
    times = timing.counted if timing.basis == "unprofiled" else None
    if times is not None and len(samples) < times.num_samples:
        how = "not profiled, those left that had their cores"
    return Draft(
        title=f"{_ratio(slow, samples)} {_verb(slow)} up to {fmt.step_time(max(slow))}",
        evidence=(
            Evidence(
                text=f"{_ratio(slow, samples)} ({how}) {_verb(slow)} "
                f"{fmt.spread(min(slow), max(slow))}; the median is {fmt.step_time(statistics.median(samples))}, "
                f"the mean {fmt.step_time(mean_us)}",
                value=max(slow),
                unit="us",
            ),
        ),
        mechanism="Steps of the same work differ in what happens beside them: garbage collection, a growing "
        f"allocator, another process.{_recorded_ones(timing)}",
        short_action=IN_SHORT,
        action="Try the run with `gc.freeze()` after the warm-up and with the process pinned to its cores; where slow "
        "steps stay, look for another load on the machine.",
        verify=f"{context.check_command()}: the longest steps must come down to the median.",
        confidence="low",
        gain=msgspec.structs.replace(gain, base=base),
        identity=("steps",),
    )


def _recorded_ones(timing: Timing) -> str:
    """Say where the steps can be looked at; those of the timing pass were timed and nothing else."""
    return "" if timing.basis == "unprofiled" else " The table of steps says which part of the budget grew."


def _verb(slow: list[float]) -> str:
    return "takes" if len(slow) == 1 else "take"


def _ratio(slow: list[float], samples: tuple[float, ...]) -> str:
    return f"{fmt.count(len(slow))} of {fmt.plural(len(samples), 'step')}"


RULE = Rule(id="step-outlier", checklist_step=2, judge=judge, thresholds=(FACTOR, EXCESS_US, COST))
