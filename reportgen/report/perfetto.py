"""``step.perfetto.json.gz``: one step to open in Perfetto, with the budget's causes and the findings as tracks.

The file is a chrome trace. It needs none of the packages that documents are made with.
"""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

from reportgen.recording import encode_json
from reportgen.report.step_places import places_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from reportgen.analysis.one_step.step_export import Slice, StepExport, Track
    from reportgen.findings.model import Finding

FILE_NAME = "step.perfetto.json.gz"
# Processes group tracks in the viewer; they are shown in this order.
_PROCESSES = {"findings": "Findings", "budget": "Where the step's time goes", "host": "Host", "device": "Device"}

Event = dict[str, Any]


def write_step(path: Path, export: StepExport, findings: Sequence[Finding] = ()) -> None:
    """Write `export` to `path`; findings that name a place in the step's trace are painted there.

    Equal input gives an equal file.
    """
    document = {
        "displayTimeUnit": "ms",
        "otherData": {
            "case": export.case,
            "trace": export.trace,
            "step": export.step,
            "step_in_report": export.told,
            "step_start_us_in_trace": export.origin_us,
            "slices_dropped": export.num_dropped,
        },
        "traceEvents": list(_events(export, findings)),
    }
    path.write_bytes(gzip.compress(encode_json(document), mtime=0))


def _events(export: StepExport, findings: Sequence[Finding]) -> Iterator[Event]:
    processes = {group: number for number, group in enumerate(_PROCESSES, start=1)}
    filled = {track.group for track in export.tracks}
    shown = [finding for finding in findings if places_of(export, finding)]
    for group, number in processes.items():
        if group not in filled and not (group == "findings" and shown):
            continue
        yield _metadata("process_name", number, 0, name=_PROCESSES[group])
        yield _metadata("process_sort_index", number, 0, sort_index=number)
    # Numbers of threads are unique across the file, so that a flow finds its ends.
    flows = _whole_flows(export)
    for thread, track in enumerate(export.tracks, start=1):
        yield from _track_events(track, processes[track.group], thread, flows)
    yield from _finding_events(export, shown, processes["findings"])


def _whole_flows(export: StepExport) -> set[int]:
    """Return the flows with both ends in the step: half an arrow is an error to a viewer."""
    ends: dict[bool, set[int]] = {True: set(), False: set()}
    for track in export.tracks:
        ends[track.group == "device"].update(piece.flow for piece in track.slices if piece.flow is not None)
    return ends[True] & ends[False]


def _track_events(track: Track, process: int, thread: int, flows: set[int]) -> Iterator[Event]:
    yield _metadata("thread_name", process, thread, name=track.name)
    yield _metadata("thread_sort_index", process, thread, sort_index=thread)
    for piece in track.slices:
        yield _complete(piece.name, piece.start_us, piece.duration_us, process, thread, _args(piece))
        if piece.flow in flows:
            yield _flow(piece, track, process, thread)


def _finding_events(export: StepExport, findings: Sequence[Finding], process: int) -> Iterator[Event]:
    """Paint each finding of the case on a track of its own, since places of two findings may overlap."""
    for thread, finding in enumerate(findings, start=len(export.tracks) + 1):
        yield _metadata("thread_name", process, thread, name=f"{finding.id}: {finding.title}")
        for place in places_of(export, finding):
            length_us = place.end_us - place.start_us
            yield _complete(finding.title, place.start_us, length_us, process, thread, {"do": finding.action})


def _complete(name: str, start_us: float, duration_us: float, process: int, thread: int, args: Event) -> Event:
    event: Event = {"ph": "X", "name": name, "ts": round(start_us, 3), "dur": round(duration_us, 3)}
    event |= {"pid": process, "tid": thread}
    return event | {"args": args} if args else event


def _args(piece: Slice) -> Event:
    """Return what the viewer shows beside a slice's name and times."""
    args: Event = {}
    if piece.operator is not None:
        args["operator"] = piece.operator
    if piece.shapes is not None:
        args["shapes"] = piece.shapes
    if piece.source is not None:
        # The line is where the function begins, so it stands with the function, not as the place of the call.
        args["in"] = f"{piece.source.function} ({piece.source.file}:{piece.source.line})"
    return args


def _flow(piece: Slice, track: Track, process: int, thread: int) -> Event:
    """Return one end of the arrow from a launch to its activity; it binds to the slice that encloses its moment."""
    event: Event = {"name": "launch", "cat": "launch", "id": piece.flow, "pid": process, "tid": thread}
    if track.group == "device":
        return event | {"ph": "f", "bp": "e", "ts": round(piece.start_us, 3)}
    return event | {"ph": "s", "ts": round(piece.start_us, 3)}


def _metadata(kind: str, process: int, thread: int, **args: Any) -> Event:
    return {"ph": "M", "name": kind, "pid": process, "tid": thread, "args": args}
