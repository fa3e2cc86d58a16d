"""The replay of a case: what its step takes with the changes made that findings ask for."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Literal

import numpy as np

from reportgen.analysis.model import ReplaySummary
from reportgen.analysis.replay.build import build_replay
from reportgen.analysis.replay.edits import (
    DropActivities,
    FuseKernels,
    HideCopies,
    LaunchAsGraph,
    RemoveSyncs,
    ScaleActivities,
    SetDurations,
    ShortenHost,
)
from reportgen.analysis.replay.simulate import measure_period_ns
from reportgen.analysis.replay.targets import find_targets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.analysis.attribution.attribution import Attribution
    from reportgen.analysis.attribution.case_places import CasePlaces
    from reportgen.analysis.model import Timing
    from reportgen.analysis.replay.changes import Change
    from reportgen.analysis.replay.edits import Edit
    from reportgen.analysis.replay.replay import Interval, Replay
    from reportgen.analysis.replay.targets import Targets
    from reportgen.analysis.steps.steps import StepWindow
    from reportgen.analysis.waiting.budget_result import BudgetResult
    from reportgen.trace.columns import Int64

Limit = Literal["host", "device", "waits"]
# Whoever is at work for this share of the step limits it; below, host and device wait for each other.
LIMITING_SHARE = 0.9
# Replays of longer programs take too long to compare every fix with every other.
MOST_PAIRED_EVENTS = 10_000


@dataclasses.dataclass(frozen=True, kw_only=True)
class CaseReplay:
    """The replay of one case with what its changes mean: small columns, none of the trace's tables."""

    replay: Replay
    targets: Targets
    summary: ReplaySummary

    @property
    def is_usable(self) -> bool:
        """Whether gains may be read off."""
        return self.replay.is_usable

    @property
    def is_quick(self) -> bool:
        """Whether a replay is quick enough to be run for every pair of fixes."""
        return len(self.replay.program.host.call) <= MOST_PAIRED_EVENTS

    def knows(self, change: Change) -> bool:
        """Tell whether the trace holds anything that the change is about."""
        return bool(self._edits((change,)))

    def step_us(self, changes: Sequence[Change] = ()) -> float:
        """Return the step with `changes` made one after the other, without the profiler's share, µs."""
        return self.replay.period_us(self._edits(changes))

    def gain_us(self, change: Change, given: Sequence[Change] = ()) -> Interval:
        """Return what `change` takes off the step after the changes `given`, with bounds, µs."""
        return self.replay.gain_us(self._edits((change,)), self._edits(given))

    def device_us(self, changes: Sequence[Change] = ()) -> float:
        """Return how long the busiest stream works in a step with `changes` made, µs."""
        program = self.replay.program_with(self._edits(changes))
        jobs = program.jobs
        if len(jobs.stream) == 0:
            return 0.0
        work_ns = np.bincount(jobs.stream, weights=np.where(jobs.active, jobs.duration_ns, 0.0))
        return float(work_ns.max()) / program.num_steps / 1e3

    def floor_us(self, changes: Sequence[Change] = ()) -> float:
        """Return the step with `changes` made and a host that takes no time, µs: the work and the pauses between it."""
        program = self.replay.program_with(self._edits(changes))
        host = program.host
        idle = dataclasses.replace(host, stretch_ns=np.zeros_like(host.stretch_ns), call_ns=np.zeros_like(host.call_ns))
        return measure_period_ns(dataclasses.replace(program, host=idle)) / 1e3

    def limit(self, changes: Sequence[Change] = ()) -> Limit:
        """Return who limits the step with `changes` made: the host, the device, or waits of each for the other."""
        step_us = self.step_us(changes)
        program = self.replay.program_with(self._edits(changes))
        host_us = float(program.host.stretch_ns.sum() + program.host.call_ns.sum()) / program.num_steps / 1e3
        device_us = max(self.device_us(changes), self.floor_us(changes))
        if max(host_us, device_us) < LIMITING_SHARE * step_us:
            return "waits"
        return "host" if host_us > device_us else "device"

    def _edits(self, changes: Sequence[Change]) -> tuple[Edit, ...]:
        return tuple(edit for change in changes for edit in _edits_of(change, self.targets))


def build_case_replay(
    attribution: Attribution,
    places: CasePlaces,
    steps: StepWindow,
    timing: Timing | None,
    budget: BudgetResult | None,
) -> CaseReplay | None:
    """Build the replay of a case; None where no device is known to have worked in its steps."""
    if budget is None or budget.device is None or timing is None or not timing.step_us:
        return None
    replay = build_replay(attribution.timeline, steps, timing, budget.device)
    if replay is None:
        return None
    summary = ReplaySummary(
        base_us=replay.period_us(), step_us=timing.step_us, base_error=replay.base_error, usable=replay.is_usable
    )
    return CaseReplay(replay=replay, targets=find_targets(attribution, places, budget, replay.program), summary=summary)


def _edits_of(change: Change, targets: Targets) -> tuple[Edit, ...]:
    """Return the edits that make a change; none where the trace holds nothing of it."""
    match change.kind:
        case "launch-as-graph":
            start, end = targets.host_spans_beside_launches()
            return (LaunchAsGraph(start_ns=start, end_ns=end),)
        case "remove-syncs":
            rows = targets.syncs(change.place)
            if not len(rows):
                return ()
            # A number that stays on the device is not copied either, and nobody asks for it.
            copies, start, end = targets.reads_of_numbers(rows)
            read = (DropActivities(activities=copies), ShortenHost(start_ns=start, end_ns=end)) if len(start) else ()
            return (RemoveSyncs(calls=rows), *read)
        case "hide-copies":
            copies = targets.copies(change.place)
            return (HideCopies(activities=copies),) if len(copies) else ()
        case "pin-copies":
            copies = targets.copies(change.place)
            pinned = SetDurations(activities=copies, duration_ns=targets.pinned_ns[copies])
            return (pinned, RemoveSyncs(calls=targets.calls_of(copies))) if len(copies) else ()
        case "remove-stall" | "prefetch-input" | "keep-memory" | "build-once":
            start, end = targets.host_spans(change.kind, change.place)
            return (ShortenHost(start_ns=start, end_ns=end),) if len(start) else ()
        case "fuse-optimizer":
            rows = targets.optimizer_activities
            return (FuseKernels(activities=rows, run=targets.step_of(rows)),) if len(rows) else ()
        case _:
            return _operator_edits(change, targets)


def _operator_edits(change: Change, targets: Targets) -> tuple[Edit, ...]:
    rows = {key: targets.activities_of((key,)) for key in change.operators}
    if not any(map(len, rows.values())):
        return ()
    if change.kind == "drop-operators":
        start, end = targets.operator_spans(tuple(change.operators))
        everything = np.concatenate(list(rows.values()))
        return (ShortenHost(start_ns=start, end_ns=end), DropActivities(activities=everything))
    scaled: list[Edit] = [
        ScaleActivities(activities=rows[key], factor=factor)
        for key, factor in change.operators.items()
        if factor != 1.0 and len(rows[key])
    ]
    if change.kind == "fuse-operators":
        fused: Int64 = np.sort(np.concatenate(list(rows.values())))
        scaled.append(FuseKernels(activities=fused, run=targets.runs(fused)))
    return tuple(scaled)
