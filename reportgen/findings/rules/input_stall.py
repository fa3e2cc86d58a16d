"""input-stall: the device waits for the next batch."""

from __future__ import annotations

import statistics

from reportgen import formatting as fmt
from reportgen.analysis.model import CaseAnalysis
from reportgen.analysis.replay.changes import Change
from reportgen.findings.gain import bounded_gain, part_us
from reportgen.findings.guards import DEVICE_UNRECORDED
from reportgen.findings.model import Evidence
from reportgen.findings.places import longest_wait, place_of
from reportgen.findings.rule import (
    Context,
    Draft,
    Rule,
    Threshold,
    Verdict,
    fired,
    not_applicable,
    not_evaluated,
    passed,
)
from reportgen.findings.samples import recorded_steps

SHARE = Threshold(
    name="share",
    value=0.03,
    unit="of the step",
    reason="a loader that keeps up still takes a little of each step; 3 % is more than the step's spread hides",
)
LEAST_US = Threshold(
    name="least",
    value=200.0,
    unit="us",
    reason="a batch that a worker has ready must still be taken from its queue, which takes the loop 0.2 to 1 ms",
)
# What torch calls the iterator of a loader with worker processes; without them it is another.
_OF_WORKERS = "_MultiProcessingDataLoaderIter"

IN_SHORT_MORE = "Raise `num_workers` until this part is gone"
IN_SHORT_WORKERS = "Give the data loader worker processes"


def judge(context: Context) -> Verdict:
    """Take the budget's part `input`: waits for a launch that follows the data loader or its iterator.

    Device idle counts, not the loader's span: a loader that prefetches has spans and no idle. What is shorter than
    taking a prefetched batch from its queue is nothing that prefetching could give, nor is what a single recorded step
    waited while another process had the core.
    """
    case = context.case
    if case.device_kind == "not-recorded":
        return DEVICE_UNRECORDED
    step_us = case.step_us
    if case.budget is None or not step_us:
        return not_evaluated("the step's waits are not known")
    cost_us = _lasting_us(case, part_us(case.budget, "input"), step_us)
    measured = context.measured(SHARE, cost_us / step_us)
    if not part_us(case.budget, "input") and case.regions.total == len(case.regions.items) and not _loads(case):
        return not_applicable("no data loader was recorded in the steps")
    if measured.value < measured.threshold:
        return passed(f"waiting for data takes {fmt.share(measured.value)} of the step", measured)
    if cost_us < context.thresholds[LEAST_US.name]:
        return passed(
            f"waiting for data takes {fmt.duration(cost_us)}, no longer than a prefetched batch does", measured
        )
    return fired(_draft(context, cost_us, step_us), measured=measured)


def _loads(case: CaseAnalysis) -> bool:
    return any("DataLoader" in region.name for region in case.regions.items)


def _lasting_us(case: CaseAnalysis, cost_us: float, step_us: float) -> float:
    """Return `cost_us` less what slow recorded steps added to it that the program's own time does not show.

    Of the recorded steps only a few are at hand, and one that was held up stands for all of them; among the unprofiled
    ones slow steps add the mean less the median, of those that had their cores.
    """
    rows = [row for row in case.steps if row.interval_us is not None and not row.settling]
    excess_us = sum(row.differs_by_us or 0.0 for row in rows if row.outlier and row.differs_in == "input")
    times = case.timing.counted if case.timing and case.timing.basis == "unprofiled" else None
    recorded_us = sum(row.interval_us or 0.0 for row in rows)
    if not excess_us or times is None or not times.samples_us or not recorded_us:
        return cost_us
    own_us = times.undisturbed_us or times.samples_us
    shown_us = max(0.0, statistics.fmean(own_us) - statistics.median(own_us))
    # The budget's parts sum to the unprofiled step, the recorded intervals do not.
    added_us = excess_us * step_us / recorded_us
    return max(0.0, cost_us - max(0.0, added_us - shown_us))


def _advice(case: CaseAnalysis) -> tuple[str, str, str]:
    """Return why the loop waits and what to do, in short and in full, by the loader's iterator that was recorded."""
    if any(_OF_WORKERS in region.name for region in case.regions.items):
        return (
            "The loader's worker processes make batches more slowly than the loop takes them: none lies ready.",
            IN_SHORT_MORE,
            "Raise `num_workers` until this part is gone, as far as there are cores for them; beyond that make a batch "
            "with less work, or ahead of the training.",
        )
    pinned = "" if case.device_kind == "host" else ", pin_memory=True"
    return (
        "The batch is made, moved or pinned by the process that also issues the work.",
        IN_SHORT_WORKERS,
        f"Give the loader workers: `DataLoader(..., num_workers=4, persistent_workers=True{pinned})`, "
        "and raise their number until this part is gone.",
    )


def _draft(context: Context, cost_us: float, step_us: float) -> Draft:
    case = context.case
    places = [place for place in (case.gaps.places if case.gaps else ()) if place.cause == "input"]
    source = places[0].source if places else None
    busy_us = case.busy_us or 0.0
    at = place_of(source)
    mechanism, short_action, action = _advice(case)
    waiting = "the host" if case.device_kind == "host" else "the device"
    return Draft(
        title=f"Waiting for data takes {fmt.duration_of(cost_us, step_us)} of {fmt.shorten(case.name, 16)}",
        evidence=(
            Evidence(
                text=f"{waiting} waits {fmt.duration(cost_us)} a step for the data loader"
                f"{f' {at}' if at else ''} ({recorded_steps(case)})",
                value=cost_us,
                unit="us",
            ),
        ),
        mechanism=mechanism,
        short_action=short_action,
        action=action,
        verify=f"{context.check_command()}: the part input must fall by {fmt.duration(cost_us)}.",
        confidence="low",
        gain=bounded_gain(
            step_us=step_us, cost_us=cost_us, floor_us=busy_us, resource="host", edit="prefetch the input"
        ),
        change=Change(kind="prefetch-input"),
        source=source,
        where=longest_wait(case, "input"),
        identity=(source.function if source else "loader",),
    )


RULE = Rule(id="input-stall", checklist_step=2, judge=judge, thresholds=(SHARE, LEAST_US))
