"""Trace files to linked traces.

The text is read once, in pieces; the events of a piece are columns before the next piece is decoded, so that memory
grows with the columns and not with the file.
"""

from __future__ import annotations

import contextlib
import dataclasses
import gc
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from reportgen.errors import InputUnreadable
from reportgen.trace.assembly import assemble
from reportgen.trace.columns import Trace
from reportgen.trace.damage import Damage
from reportgen.trace.envelope import NoTraceError
from reportgen.trace.events import AnyEvent
from reportgen.trace.header import describe
from reportgen.trace.linking import link
from reportgen.trace.repair import legible_path
from reportgen.trace.source import SourceEnd, open_source
from reportgen.trace.stream import EventStream
from reportgen.trace.tables import TableBuilder


def read_trace(path: Path, *, progress: Callable[[float], None] | None = None) -> Trace:
    """Read the trace file `path` (JSON, compressed with gzip or not; its content decides, not its name) and link it.

    `progress` is called with the share (0..1) of the file that has been read. A damaged file yields what can be read of
    it, and notices that say what was lost. Raises `InputUnreadable` where the file yields nothing.
    """
    with _collector_held_off():
        return link(_read(path, progress))


def _read(path: Path, progress: Callable[[float], None] | None) -> Trace:
    damage = Damage()
    collected = _Collected()
    with open_source(path, progress) as source:
        stream = EventStream(source.blocks(), damage, collected.add)
        try:
            stream.read()
        except NoTraceError as error:
            what = str(error) if source.end is SourceEnd.COMPLETE else "its compressed data is damaged at the beginning"
            raise InputUnreadable(f"{path} is no PyTorch trace: {what}") from error
        damage.source_end = source.end
    num_events = collected.builder.num_events
    if reason := _why_nothing(stream, damage, collected):
        raise InputUnreadable(f"{path} is no PyTorch trace: {reason}")
    trace = assemble(collected.builder, describe(stream.top, path, source.size_bytes, stream.layout), notices=())
    names = tuple(map(legible_path, trace.names))
    damage.num_escapes += sum(new != old for new, old in zip(names, trace.names, strict=True))
    damage.num_without_time = collected.builder.num_without_time
    damage.num_without_duration = collected.builder.num_without_duration
    notices = damage.notices(num_events, trace.window_end_ns / 1000)
    return dataclasses.replace(trace, names=names, notices=(*notices, *trace.notices))


class _Collected:
    """The tables, and whether what went into them were a profiler's events."""

    def __init__(self) -> None:
        self.builder = TableBuilder()
        self.has_phases = False

    def add(self, events: Sequence[AnyEvent]) -> None:
        self.has_phases = self.has_phases or any(event.ph for event in events)
        self.builder.add(events)


def _why_nothing(stream: EventStream, damage: Damage, collected: _Collected) -> str | None:
    if collected.has_phases:
        return None
    if collected.builder.num_events:
        return "what it lists are no events of a profiler"
    if damage.is_cut_off or damage.num_lost or damage.source_end is not SourceEnd.COMPLETE:
        return "no event of it can be read"
    # An object without events is what a profiler writes that recorded nothing; an empty list can be anything.
    return "it is an empty list" if stream.layout == "list" else None


@contextlib.contextmanager
def _collector_held_off() -> Iterator[None]:
    """Keep the garbage collector from walking over all events again and again; it would take longer than the parser."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
