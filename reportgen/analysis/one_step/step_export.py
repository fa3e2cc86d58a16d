"""One step with its events, small enough to keep beside a report and to open in a trace viewer."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Literal

import numpy as np

from reportgen.analysis.model import told_step
from reportgen.analysis.one_step.timeline import part_of_activities, pick_step
from reportgen.analysis.replay.changes import group_key
from reportgen.analysis.waiting.budget_result import part_of
from reportgen.trace.columns import Calls, Operators

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.analysis.attribution.attribution import Attribution
    from reportgen.analysis.model import BudgetPart, Source
    from reportgen.analysis.steps.steps import StepWindow
    from reportgen.analysis.waiting.budget_result import BudgetResult
    from reportgen.recording import StepMode
    from reportgen.trace.columns import Bool, Frames, Int64, Trace

# Slices of one kind (operators, calls, frames, activities) that are kept, the longest: with all kinds full the
# compressed file stays under 1 MB.
MOST_SLICES = 10_000
Group = Literal["budget", "host", "device"]
SliceKind = Literal["part", "function", "operator", "call", "activity"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Slice:
    """A named stretch; times in µs from the step's start."""

    name: str
    start_us: float
    duration_us: float
    kind: SliceKind
    # What the time counts as, of parts and activities; None for what the host does.
    part: BudgetPart | None = None
    # Of an operator, and of an activity by the operator that launched it; `operator` is None on the operator itself.
    operator: str | None = None
    shapes: str | None = None
    # The `operator_key` of the operator at its signature.
    operator_key: str | None = None
    source: Source | None = None
    # Equal on a launch and on the activity it launched; None elsewhere.
    flow: int | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Track:
    """A row of the viewer; slices sorted by start, the longer first."""

    group: Group
    name: str
    slices: tuple[Slice, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class StepExport:
    """One step, ready to be written. `origin_us` is its start in the clock of the trace file `trace`.

    `step` is the n of `ProfilerStep#n`, `ordinal` which of the recorded steps it is, from 1.
    """

    case: str
    trace: str
    step: int
    origin_us: float
    duration_us: float
    tracks: tuple[Track, ...]
    num_dropped: int
    ordinal: int | None = None

    @property
    def told(self) -> int:
        """Return the number that documents call the step by."""
        return told_step(self.step, self.ordinal)


def export_step(
    case: str, attribution: Attribution, steps: StepWindow, mode: StepMode, budget: BudgetResult | None
) -> StepExport | None:
    """Gather the events of the median step and the budget's causes; None where the trace has no step."""
    picked = pick_step(steps, mode)
    if picked is None:
        return None
    step, start_ns, end_ns = picked
    trace = attribution.timeline
    builder = _Builder(attribution, start_ns, end_ns)
    tracks = [_budget_track(budget, start_ns, end_ns)] if budget is not None else []
    tracks += builder.host()
    tracks += builder.device()
    return StepExport(
        case=case,
        trace=trace.info.path.name,
        step=int(steps.number[step]) if step >= 0 else 0,
        origin_us=trace.origin_us + start_ns / 1e3,
        duration_us=(end_ns - start_ns) / 1e3,
        tracks=tuple(tracks),
        num_dropped=builder.num_dropped,
        ordinal=max(step, 0) + 1,
    )


def _budget_track(budget: BudgetResult, start_ns: int, end_ns: int) -> Track:
    """Return what each instant of the step counts as."""
    slices = []
    for table, column in ((budget.work, budget.work.part), (budget.waits, budget.waits.cause)):
        inside = np.flatnonzero((table.end_ns > start_ns) & (table.start_ns < end_ns))
        slices += [
            Slice(
                name=part_of(code),
                start_us=(start - start_ns) / 1e3,
                duration_us=(end - start) / 1e3,
                kind="part",
                part=part_of(code),
            )
            for start, end, code in zip(
                table.start_ns[inside].tolist(), table.end_ns[inside].tolist(), column[inside].tolist(), strict=True
            )
        ]
    return Track(group="budget", name="Step time by part", slices=tuple(sorted(slices, key=lambda s: s.start_us)))


class _Builder:
    """The events of one step, track by track."""

    def __init__(self, attribution: Attribution, start_ns: int, end_ns: int) -> None:
        self._attribution = attribution
        self._trace: Trace = attribution.timeline
        self._parts = part_of_activities(self._trace)
        self._keys: dict[int, str] = {}
        self._start_ns, self._end_ns = start_ns, end_ns
        self.num_dropped = 0

    def host(self) -> Iterator[Track]:
        """Return a track for each thread: the user's functions, operators, and runtime calls inside them."""
        trace = self._trace
        is_user = self._attribution.frames.user == np.arange(len(self._attribution.frames.user))
        shown = is_user if trace is self._attribution.detail else np.zeros(len(trace.frames.start_ns), dtype=bool)
        tables = (
            (trace.frames, self._longest(trace.frames.start_ns, trace.frames.end_ns, shown)),
            (trace.operators, self._longest(trace.operators.start_ns, trace.operators.end_ns)),
            (trace.calls, self._longest(trace.calls.start_ns, trace.calls.end_ns)),
        )
        for index, thread in enumerate(trace.threads):
            slices: list[Slice] = []
            for table, rows in tables:
                chosen = rows[table.thread[rows] == index]
                slices += [self._host_slice(table, row) for row in chosen.tolist()]
            if slices:
                slices.sort(key=lambda s: (s.start_us, -s.duration_us))
                yield Track(group="host", name=thread.name or f"thread {thread.thread}", slices=tuple(slices))

    def device(self) -> Iterator[Track]:
        """Return a track for each stream."""
        activities = self._trace.activities
        rows = self._longest(activities.start_ns, activities.end_ns)
        lanes = np.stack((activities.device[rows].astype(np.int64), activities.stream[rows]))
        for device, stream in np.unique(lanes, axis=1).T.tolist():
            chosen = rows[(lanes[0] == device) & (lanes[1] == stream)]
            slices = tuple(self._activity_slice(row) for row in chosen.tolist())
            yield Track(group="device", name=f"device {device}, stream {stream}", slices=slices)

    def _longest(self, start_ns: Int64, end_ns: Int64, shown: Bool | None = None) -> Int64:
        """Return the rows that lie in the step, in order; of too many the longest."""
        inside = (end_ns > self._start_ns) & (start_ns < self._end_ns)
        rows = np.flatnonzero(inside if shown is None else inside & shown)
        if len(rows) <= MOST_SLICES:
            return rows
        self.num_dropped += len(rows) - MOST_SLICES
        by_length = np.argsort(-(end_ns - start_ns)[rows], kind="stable")
        return np.sort(rows[by_length[:MOST_SLICES]])

    def _host_slice(self, table: Operators | Calls | Frames, row: int) -> Slice:
        start_us, duration_us = self._inside(table.start_ns[row], table.end_ns[row])
        piece = Slice(
            name=self._trace.names[table.name[row]], start_us=start_us, duration_us=duration_us, kind="function"
        )
        if isinstance(table, Operators):
            group, frame = int(self._attribution.operator_group[row]), int(self._attribution.operator_frame[row])
            source = self._attribution.frames.source(frame)
            return dataclasses.replace(
                piece,
                kind="operator",
                shapes=self._shapes(group),
                operator_key=self._operator_key(group),
                source=source,
            )
        if isinstance(table, Calls):
            return dataclasses.replace(piece, kind="call", flow=row if table.num_activities[row] == 1 else None)
        return piece

    def _activity_slice(self, row: int) -> Slice:
        activities, group = self._trace.activities, int(self._attribution.activity_group[row])
        call = int(activities.call[row])
        start_us, duration_us = self._inside(activities.start_ns[row], activities.end_ns[row])
        return Slice(
            name=self._trace.names[activities.name[row]],
            start_us=start_us,
            duration_us=duration_us,
            kind="activity",
            part=next(part for part, chosen in self._parts.items() if chosen[row]),
            operator=self._attribution.groups[group].name if group >= 0 else None,
            shapes=self._shapes(group),
            operator_key=self._operator_key(group),
            source=self._attribution.frames.source(int(self._attribution.activity_frame[row])),
            flow=call if call >= 0 and self._trace.calls.num_activities[call] == 1 else None,
        )

    def _shapes(self, group: int) -> str | None:
        signature = self._attribution.groups[group].signature if group >= 0 else None
        if signature is None or not signature.shapes:
            return None
        return ", ".join("×".join(map(str, shape)) for shape in signature.shapes if shape)

    def _operator_key(self, group: int) -> str | None:
        if group < 0:
            return None
        if group not in self._keys:
            known = self._attribution.groups[group]
            self._keys[group] = group_key(known.name, known.signature, known.direction)
        return self._keys[group]

    def _inside(self, start_ns: int, end_ns: int) -> tuple[float, float]:
        """Return start and duration of what lies in the step, µs from its start."""
        start = max(int(start_ns), self._start_ns)
        return (start - self._start_ns) / 1e3, (min(int(end_ns), self._end_ns) - start) / 1e3
