"""One step of each case as data for the page's timeline: compact, and bounded whatever the step holds.

Times are whole nanoseconds. A lane is parallel columns, its slices in order of their start: `s` is the start as a
difference to the slice before, `d` the duration, `n` the name's place in `names`, `a` the place of what else is known
in `details` and `f` the number of the launch that slices share; the last two are left out where no slice has one. Only
a lane of parts or of a device has `p`, the place in `parts` of what its time counts as.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Generic, TypeVar

from reportgen import formatting as fmt
from reportgen.analysis.model import BUDGET_PARTS, Source
from reportgen.analysis.one_step.step_export import Slice, SliceKind, StepExport, Track
from reportgen.report.charts.model import Chart
from reportgen.report.model import Report
from reportgen.report.view import cases
from reportgen.report.view.anchors import Anchors

# All steps of a page together: so many slices are 400 kB.
MOST_SLICES = 16_000
# Characters that the names of all steps may take: the more names, the shorter each is cut.
MOST_TEXT = 120_000
_NAME_LIMIT, _LEAST_NAME = 160, 12
MOST_STEPS, MOST_THREADS, MOST_STREAMS = 12, 4, 8
_NANOSECONDS = 1000

Value = TypeVar("Value", bound=Hashable)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Strip:
    """A step: its chart, where one was drawn, and the data to explore it by, where the step's events are known.

    `rows` are the ids of the operators and kernels that have an activity in `data`; without a device, a call.
    """

    id: str
    case: str
    chart: Chart | None
    export: StepExport | None = None
    data: dict[str, Any] | None = None
    rows: frozenset[str] = frozenset()


def view_strips(
    report: Report, charts: dict[str, Chart], steps: Sequence[StepExport], anchors: Sequence[Anchors]
) -> tuple[Strip, ...]:
    """Return a strip for each case that has a chart or a step, in the order of the cases."""
    by_case = {step.case: step for step in steps[:MOST_STEPS]}
    most_of_a_kind = _fair_share([number for step in by_case.values() for number in _sizes(_busiest(step)).values()])
    strips = []
    for number, case in enumerate(report.cases):
        chart, export = charts.get(cases.label(case)), by_case.get(case.name)
        if chart is None and export is None:
            continue
        strip = Strip(id=f"timeline-{number + 1}", case=cases.label(case), chart=chart)
        if export is not None:
            strip = _with_data(strip, export, anchors[number], most_of_a_kind, MOST_TEXT // len(by_case))
        strips.append(strip)
    return tuple(strips)


def _fair_share(sizes: Sequence[int]) -> int:
    """Return how many slices of each kind of each step have room, where those with fewer leave theirs to the others."""
    room = MOST_SLICES
    for number, size in enumerate(sorted(sizes)):
        share = room // (len(sizes) - number)
        if size > share:
            return share
        room -= size
    return MOST_SLICES


def _sizes(tracks: Sequence[Track]) -> collections.Counter[str]:
    return collections.Counter(_kind(piece) for track in tracks for piece in track.slices)


def _with_data(strip: Strip, export: StepExport, anchors: Anchors, most_of_a_kind: int, most_text: int) -> Strip:
    tracks, num_left_out = _longest(export, most_of_a_kind)
    asked_for: SliceKind = "activity" if any(track.group == "device" for track in tracks) else "operator"
    writer = _Writer(anchors, asked_for)
    lanes = [lane for track in tracks for lane in writer.lanes(track)]
    limit = max(_LEAST_NAME, min(_NAME_LIMIT, most_text // max(len(writer.names.values), 1)))
    data = {
        "case": strip.case,
        "step": export.told,
        "duration": round(export.duration_us * _NANOSECONDS),
        "left_out": num_left_out + export.num_dropped,
        "parts": BUDGET_PARTS,
        "names": [fmt.legible(name, limit) for name in writer.names.values],
        "details": writer.details.values,
        "lanes": lanes,
    }
    return dataclasses.replace(
        strip,
        export=export,
        data=data,
        rows=frozenset(writer.rows),
    )


def _longest(export: StepExport, most_of_a_kind: int) -> tuple[list[Track], int]:
    """Return the busiest threads and streams with the longest slices of each kind, and how many slices are left out."""
    tracks = _busiest(export)
    by_kind = collections.defaultdict(list)
    for track in tracks:
        for piece in track.slices:
            by_kind[_kind(piece)].append(piece.duration_us)
    # As many as may be kept are at least as long as this.
    least = {
        kind: sorted(lengths, reverse=True)[most_of_a_kind - 1] if len(lengths) > most_of_a_kind else 0.0
        for kind, lengths in by_kind.items()
    }
    room = dict.fromkeys(by_kind, most_of_a_kind)
    kept = []
    for track in tracks:
        slices = []
        for piece in track.slices:
            kind = _kind(piece)
            if piece.duration_us >= least[kind] and room[kind] > 0:
                room[kind] -= 1
                slices.append(piece)
        if slices:
            kept.append(dataclasses.replace(track, slices=tuple(slices)))
    whole = sum(len(track.slices) for track in export.tracks)
    return kept, whole - sum(len(track.slices) for track in kept)


def _busiest(export: StepExport) -> list[Track]:
    """Return the tracks that are shown, in their order."""
    most = {"budget": 1, "host": MOST_THREADS, "device": MOST_STREAMS}
    by_size = sorted(range(len(export.tracks)), key=lambda number: -len(export.tracks[number].slices))
    shown: set[int] = set()
    for group, number in most.items():
        shown.update([index for index in by_size if export.tracks[index].group == group][:number])
    return [export.tracks[index] for index in sorted(shown)]


def _kind(piece: Slice) -> str:
    """Return the kind by which slices share their room: functions lie around operators and go with them."""
    return "operator" if piece.kind == "function" else piece.kind


class _Table(Generic[Value]):
    """Values, each once, by their place."""

    def __init__(self) -> None:
        self._places: dict[Value, int] = {}

    def place(self, value: Value) -> int:
        return self._places.setdefault(value, len(self._places))

    @property
    def values(self) -> list[Value]:
        return list(self._places)


class _Writer:
    """Lanes of one step, which share names and details."""

    def __init__(self, anchors: Anchors, asked_for: SliceKind) -> None:
        self.names: _Table[str] = _Table()
        # Of each detail: operator, shapes and function as places in `names` (-1: none), and the ids of the rows of
        # operator, kernel and function.
        self.details: _Table[tuple[int, int, int, str, str, str]] = _Table()
        self._launches: _Table[int] = _Table()
        self._anchors = anchors
        self._asked_for = asked_for
        # Of slices of the kind `asked_for`.
        self.rows: set[str] = set()

    def lanes(self, track: Track) -> Iterable[dict[str, Any]]:
        """Return the lanes of a track: a thread has one for what is open and one for its calls."""
        if track.group != "host":
            name = track.name.removeprefix("device 0, ") if track.group == "device" else "works or waits for"
            yield self._lane("parts" if track.group == "budget" else "device", name, track.slices)
            return
        calls = [piece for piece in track.slices if piece.kind == "call"]
        if len(calls) < len(track.slices):
            yield self._lane("host", track.name, [piece for piece in track.slices if piece.kind != "call"])
        if calls:
            yield self._lane("calls", "launches, calls", calls)

    def _lane(self, kind: str, name: str, slices: Sequence[Slice]) -> dict[str, Any]:
        starts = [round(piece.start_us * _NANOSECONDS) for piece in slices]
        lane: dict[str, Any] = {
            "kind": kind,
            "name": fmt.legible(name, 40),
            "s": [start - before for start, before in zip(starts, [0, *starts], strict=False)],
            "d": [round(piece.duration_us * _NANOSECONDS) for piece in slices],
        }
        if kind != "parts":
            lane["n"] = [self.names.place(piece.name) for piece in slices]
        if kind in ("parts", "device"):
            lane["p"] = [BUDGET_PARTS.index(piece.part) if piece.part else -1 for piece in slices]
        details = [self._detail(piece) for piece in slices]
        if any(place >= 0 for place in details):
            lane["a"] = details
        if any(piece.flow is not None for piece in slices):
            lane["f"] = [-1 if piece.flow is None else self._launches.place(piece.flow) for piece in slices]
        return lane

    def _detail(self, piece: Slice) -> int:
        """Return the place of what is known of a slice beside its name, -1 where nothing is."""
        is_operator = piece.kind == "operator"
        operator, shapes, source = piece.name if is_operator else piece.operator, piece.shapes or "", piece.source
        rows = (
            self._anchors.operators.get(piece.operator_key or "", ""),
            self._anchors.kernels.get(piece.name, "") if piece.kind == "activity" else "",
            self._anchors.function(source) or "",
        )
        if piece.kind == self._asked_for:
            self.rows.update(row for row in rows[:2] if row)
        # An operator's own slice has said its name already.
        texts = ("" if is_operator else operator or "", shapes, _place(source))
        if not any((*texts, *rows)):
            return -1
        operator_, shapes_, function_ = (self.names.place(text) if text else -1 for text in texts)
        return self.details.place((operator_, shapes_, function_, *rows))


def _place(source: Source | None) -> str:
    if source is None:
        return ""
    return f"{source.function} ({'' if source.line_kind == 'call' else 'def at '}{source.file}:{source.line})"
