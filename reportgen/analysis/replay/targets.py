"""What the changes of a case are about: rows and spans of its timeline, by function and by operator."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.arithmetic.links import follow
from reportgen.analysis.arithmetic.spans import covered, union
from reportgen.analysis.replay.changes import group_key, place_key
from reportgen.analysis.replay.pinning import pinned_durations_ns
from reportgen.analysis.waiting.budget_result import PART_CODE
from reportgen.analysis.waiting.call_kinds import classify_calls
from reportgen.analysis.waiting.first_visits import find_slow_visits
from reportgen.analysis.waiting.host_causes import collect_host_causes
from reportgen.analysis.waiting.wait_places import frames_of_waits
from reportgen.trace.columns import CopyDirection

if TYPE_CHECKING:
    from reportgen.analysis.attribution.attribution import Attribution
    from reportgen.analysis.attribution.case_places import CasePlaces
    from reportgen.analysis.model import BudgetPart
    from reportgen.analysis.replay.changes import ChangeKind
    from reportgen.analysis.replay.program import Float64, Program
    from reportgen.analysis.waiting.budget_result import BudgetResult
    from reportgen.trace.columns import Bool, Int32, Int64, Trace

# Which cause of host time a change takes away.
_CAUSES: dict[ChangeKind, BudgetPart] = {
    "remove-stall": "stall",
    "prefetch-input": "input",
    "keep-memory": "allocator",
    "build-once": "build",
}
# What the host does once, when a step is captured as a graph.
_DONE_AT_CAPTURE: frozenset[BudgetPart] = frozenset({"build", "allocator"})
# What `.item()`, `float(x)` and `if x` on a tensor call.
_READS_A_NUMBER = frozenset({"aten::_local_scalar_dense", "aten::item", "aten::is_nonzero"})
_OPTIMIZER_STEP = "Optimizer.step"
_ON_DEVICE = (CopyDirection.NONE, CopyDirection.DEVICE_TO_DEVICE, CopyDirection.PEER_TO_PEER)


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Placed:
    """Rows or spans, each with the key of its place."""

    start: Int64  # of a span, ns; else the row
    end: Int64
    place: tuple[str, ...]

    def at(self, place: str | None) -> tuple[Int64, Int64]:
        if place is None:
            return self.start, self.end
        chosen = np.array([key == place for key in self.place], dtype=bool)
        return self.start[chosen], self.end[chosen]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Targets:
    """Columns of one case's timeline, by what changes name."""

    waiting_calls: _Placed  # rows of Trace.calls that wait for the device
    host_copies: _Placed  # rows of Trace.activities
    spans: dict[BudgetPart, _Placed]
    group: dict[str, int]  # of each operator_key
    activity_group: Int32
    activity_step: Int32
    activity_start_ns: Int64
    operator_group: Int32
    operator_start_ns: Int64
    operator_end_ns: Int64
    optimizer_activities: Int64
    activity_call: Int32
    call_operator: Int32
    reading_operator: Int32  # of each call: the outermost operator around it that reads a number, -1 outside any
    pinned_ns: Float64  # of each activity: how long it would take from pinned memory, if it is a copy

    def syncs(self, place: str | None) -> Int64:
        """Return the calls at `place` that wait for the device, None: everywhere."""
        return self.waiting_calls.at(place)[0]

    def reads_of_numbers(self, calls: Int64) -> tuple[Int64, Int64, Int64]:
        """Return the copies, and the spans of the operators, by which waiting `calls` read a number of the device."""
        operators = np.unique(self.reading_operator[calls])
        operators = operators[operators >= 0]
        of_activity = np.where(self.activity_call >= 0, self.reading_operator[self.activity_call], -1)
        copies = np.flatnonzero((of_activity >= 0) & np.isin(of_activity, operators))
        return copies, self.operator_start_ns[operators], self.operator_end_ns[operators]

    def copies(self, place: str | None) -> Int64:
        """Return the copies between host and device launched at `place`, None: everywhere."""
        return self.host_copies.at(place)[0]

    def calls_of(self, activities: Int64) -> Int64:
        """Return the calls that launched `activities`, and those by which the operators around them wait."""
        calls = np.unique(self.activity_call[activities])
        around = self.call_operator[calls]
        waiting = self.waiting_calls.start
        behind = waiting[np.isin(self.call_operator[waiting], around[around >= 0])]
        return np.union1d(calls, behind).astype(np.int64)

    def host_spans(self, kind: ChangeKind, place: str | None) -> tuple[Int64, Int64]:
        """Return the host time that a change takes away."""
        found = self.spans.get(_CAUSES[kind])
        none = np.zeros(0, dtype=np.int64)
        return (none, none) if found is None else found.at(place)

    def host_spans_beside_launches(self) -> tuple[Int64, Int64]:
        """Return the host time that stays where the step is one launch of a graph: stalls, and waiting for input.

        Plans are built and memory is allocated when the graph is captured; a replay of it does neither.
        """
        found = [spans for part, spans in self.spans.items() if part not in _DONE_AT_CAPTURE]
        return np.concatenate([one.start for one in found]), np.concatenate([one.end for one in found])

    def activities_of(self, operators: tuple[str, ...]) -> Int64:
        """Return what the operators (keys) launched."""
        return np.flatnonzero(np.isin(self.activity_group, self._groups(operators)))

    def operator_spans(self, operators: tuple[str, ...]) -> tuple[Int64, Int64]:
        """Return the host time of the operators (keys)."""
        rows = np.flatnonzero(np.isin(self.operator_group, self._groups(operators)))
        return self.operator_start_ns[rows], self.operator_end_ns[rows]

    def step_of(self, activities: Int64) -> Int64:
        """Return the step that launched each activity."""
        return self.activity_step[activities].astype(np.int64)

    def runs(self, activities: Int64) -> Int64:
        """Number `activities` by the run of neighbours on the device that each belongs to."""
        order = np.argsort(self.activity_start_ns, kind="stable")
        position = np.empty(len(order), dtype=np.int64)
        position[order] = np.arange(len(order))
        mine = np.sort(position[activities])
        run = np.cumsum(np.diff(mine, prepend=mine[:1]) > 1)
        return np.asarray(run[np.searchsorted(mine, position[activities])], dtype=np.int64)

    def _groups(self, operators: tuple[str, ...]) -> list[int]:
        return [self.group[key] for key in operators if key in self.group]


def find_targets(attribution: Attribution, places: CasePlaces, budget: BudgetResult, program: Program) -> Targets:
    """Collect what the changes of a case can be about."""
    trace = attribution.timeline
    activities, operators = trace.activities, trace.operators
    return Targets(
        waiting_calls=_waiting_calls(trace, places),
        host_copies=_host_copies(trace, places),
        spans={"stall": _stalls(budget, places, program), **_other_spans(trace, budget)},
        group={group_key(known.name, known.signature, known.direction): number
               for number, known in enumerate(attribution.groups)},
        activity_group=attribution.activity_group,
        activity_step=activities.step,
        activity_start_ns=activities.start_ns,
        operator_group=attribution.operator_group,
        operator_start_ns=operators.start_ns,
        operator_end_ns=operators.end_ns,
        optimizer_activities=_optimizer_activities(trace),
        activity_call=activities.call,
        call_operator=trace.calls.operator,
        reading_operator=_reading_operators(trace),
        pinned_ns=pinned_durations_ns(trace),
    )  # fmt: skip


def _waiting_calls(trace: Trace, places: CasePlaces) -> _Placed:
    kinds = classify_calls(trace)
    rows = np.flatnonzero(kinds.synchronizes | kinds.blocks_on_copy)
    return _Placed(start=rows, end=rows, place=_call_places(trace, places, rows))


def _reading_operators(trace: Trace) -> Int32:
    """Return of each call the outermost of nested operators that read one number of the device, -1 outside any."""
    operators = trace.operators
    named = np.array([name in _READS_A_NUMBER for name in trace.names] + [False], dtype=bool)
    reads: Bool = named[operators.name]
    outermost: Int32 = np.where(reads, np.arange(len(reads), dtype=np.int32), np.int32(-1))
    for row in np.flatnonzero(reads).tolist():  # a parent stands before its children
        parent = int(operators.parent[row])
        if parent >= 0 and reads[parent]:
            outermost[row] = outermost[parent]
    return follow(trace.calls.operator, outermost)


def _host_copies(trace: Trace, places: CasePlaces) -> _Placed:
    activities = trace.activities
    rows = np.flatnonzero(~np.isin(activities.copy_direction, _ON_DEVICE) & (activities.call >= 0))
    return _Placed(start=rows, end=rows, place=_call_places(trace, places, activities.call[rows]))


def _call_places(trace: Trace, places: CasePlaces, rows: Int64 | Int32) -> tuple[str, ...]:
    """Return the place of each call: the user's function, else the call and its operator."""
    calls, operators = trace.calls, trace.operators
    frame = places.frames(frame=calls.frame[rows], operator=calls.operator[rows], call=rows.astype(np.int32))
    names = []
    for row, around in zip(rows.tolist(), frame.tolist(), strict=True):
        operator = int(calls.operator[row])
        inside = trace.names[operators.name[operator]] if operator >= 0 else None
        names.append(place_key(places.attribution.frames.source(around), trace.names[calls.name[row]], inside))
    return tuple(names)


def _stalls(budget: BudgetResult, places: CasePlaces, program: Program) -> _Placed:
    """Return the host time of stalls.

    It is what is beyond the ordinary length in each stretch between calls in which the device came to wait for one: the
    part in which the device still worked goes with it.
    """
    waits, host = budget.waits, program.host
    rows = np.flatnonzero((waits.cause == PART_CODE["stall"]) & ~waits.refill)
    stretch = np.clip(np.searchsorted(host.stretch_end_ns, waits.end_ns[rows]), 0, max(len(host.call) - 1, 0))
    length = host.stretch_end_ns - host.stretch_start_ns
    ordinary = int(np.median(length)) if len(length) else 0
    begin = np.minimum(host.stretch_start_ns[stretch] + ordinary, waits.start_ns[rows])
    # A wait outside the program keeps its own span, in which no edit finds anything.
    outside = (host.stretch_start_ns[stretch] > waits.start_ns[rows]) | (
        host.stretch_end_ns[stretch] < waits.end_ns[rows]
    )
    frame = frames_of_waits(waits, places)[rows]
    names = [place_key(places.attribution.frames.source(row)) for row in frame.tolist()]
    return _Placed(start=np.where(outside, waits.start_ns[rows], begin), end=waits.end_ns[rows], place=tuple(names))


def _other_spans(trace: Trace, budget: BudgetResult) -> dict[BudgetPart, _Placed]:
    """Return the host time of the other causes, where the device waited for any of it."""
    parts: tuple[BudgetPart, ...] = ("input", "allocator", "build")
    wanted = [part for part in parts if (budget.waits.cause == PART_CODE[part]).any()]
    if not wanted:
        return {}
    causes = collect_host_causes(trace, classify_calls(trace), find_slow_visits(trace))
    found: dict[BudgetPart, _Placed] = {}
    for part in wanted:
        rows = np.flatnonzero(causes.cause == PART_CODE[part])
        found[part] = _Placed(start=causes.start_ns[rows], end=causes.end_ns[rows], place=("",) * len(rows))
    return found


def _optimizer_activities(trace: Trace) -> Int64:
    """Return what was launched inside an optimizer's step."""
    annotations, activities = trace.annotations, trace.activities
    named = np.array([name.startswith(_OPTIMIZER_STEP) for name in trace.names] + [False], dtype=bool)
    chosen: Bool = named[annotations.name]
    rows = np.flatnonzero(activities.call >= 0)
    start = trace.calls.start_ns[activities.call[rows]]
    inside = covered(union(annotations.start_ns[chosen], annotations.end_ns[chosen]), start, start + 1) > 0
    return rows[inside]
