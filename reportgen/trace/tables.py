"""Events to columns: rows are collected batch by batch and become sorted tables at the end.

Only arrays outlive a batch: the events of one batch are gone before the next is decoded, so memory grows with the
columns and not with the text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from reportgen.trace.categories import MEMORY_INSTANT, Table, copy_direction, table_of
from reportgen.trace.columns import ActivityKind, CopyDirection, Int32, Int64
from reportgen.trace.events import NO_ARGS, AnyEvent, Args
from reportgen.trace.rows import Codes, Columns, Rows, finite, integers, trailing_number
from reportgen.trace.signatures import NO_SIGNATURE, SIGNATURE_SEPARATOR
from reportgen.trace.times import to_ns


class TableBuilder:
    """Collect events into the tables of a trace."""

    def __init__(self) -> None:
        self.names: Codes[int | str | None] = Codes()
        self.threads: Codes[tuple[str, str]] = Codes()
        self.signatures: Codes[bytes] = Codes()
        self.dimensions: Codes[tuple[bytes, bytes]] = Codes()
        self.thread_names: dict[tuple[str, str], str] = {}
        self.num_events = 0
        self.num_without_time = 0  # left out: they have no place in the trace
        self.num_without_duration = 0  # kept as a moment
        self.rows = {table: Rows() for table in _ROWS}
        self.memory = Rows()
        self._thread_of: dict[tuple[int | str | None, int | str | None], int] = {}

    def add(self, events: Sequence[AnyEvent]) -> None:
        """Append the rows that `events` make."""
        self.num_events += len(events)
        spans: defaultdict[str, list[AnyEvent]] = defaultdict(list)
        others: defaultdict[str, list[AnyEvent]] = defaultdict(list)
        for event in events:
            if event.ph == "X":
                spans[event.cat].append(event)
            else:
                others[event.ph].append(event)
        for table, group in _by_table(spans).items():
            timed, start = self._timed(group)
            self.rows[table].add(self._spans(timed, start) | _ROWS[table](self, timed))
        instants = [event for event in others["i"] if event.name == MEMORY_INSTANT]
        if instants:
            timed, start = self._timed(instants)
            self.memory.add(self._instants(timed, start))
        for event in others["M"]:
            self._add_metadata(event)

    def _add_metadata(self, event: AnyEvent) -> None:
        args = event.args
        if event.name == "thread_name" and args is not None and args.name is not None:
            self.thread_names[(str(event.pid), str(event.tid))] = str(args.name)

    def _threads(self, events: Sequence[AnyEvent]) -> Int32:
        thread_of = self._thread_of
        keys = [(event.pid, event.tid) for event in events]
        try:
            codes = [thread_of[key] for key in keys]
        except KeyError:
            # The same thread may be written as a number here and as text there. They are numbered as they come, not by
            # their hash, which differs from run to run: equal files make equal tables.
            for process, thread in dict.fromkeys(keys):
                thread_of[process, thread] = self.threads[str(process), str(thread)]
            codes = [thread_of[key] for key in keys]
        return np.array(codes, dtype=np.int32)

    def _timed(self, events: Sequence[AnyEvent]) -> tuple[Sequence[AnyEvent], Int64]:
        """Return the events that have a time, and their times."""
        start, missing = to_ns([event.ts for event in events])
        if not missing.any():
            return events, start
        self.num_without_time += int(missing.sum())
        return [event for event, lacks in zip(events, missing.tolist(), strict=True) if not lacks], start[~missing]

    def _spans(self, events: Sequence[AnyEvent], start: Int64) -> Columns:
        duration, missing = to_ns([event.dur for event in events])
        impossible = missing | (duration < 0)
        if impossible.any():
            self.num_without_duration += int(impossible.sum())
            duration[impossible] = 0
        names = self.names
        return {
            "name": np.array([names[event.name] for event in events], dtype=np.int32),
            "start_ns": start,
            "end_ns": start + duration,
        }

    def _instants(self, events: Sequence[AnyEvent], time: Int64) -> Columns:
        args = _args(events)
        return {
            "time_ns": time,
            "thread": self._threads(events),
            "address": integers([a.address for a in args]),
            "bytes": integers([a.num_bytes for a in args], absent=0),
            "total_allocated": integers([a.total_allocated for a in args]),
            "total_reserved": integers([a.total_reserved for a in args]),
            "device_type": integers([a.device_type for a in args]).astype(np.int32),
            "device": integers([a.device_id for a in args]).astype(np.int32),
        }

    def on_thread(self, events: Sequence[AnyEvent]) -> Columns:
        """Return the columns of frames, annotations and overheads."""
        return {"thread": self._threads(events)}

    def operators(self, events: Sequence[AnyEvent]) -> Columns:
        """Return the columns of operators."""
        args = _args(events)
        return {
            "thread": self._threads(events),
            "signature": self._signatures(args),
            "sequence": integers([a.sequence for a in args]),
            "forward_thread": integers([a.forward_thread for a in args]),
            "flops": finite([a.flops for a in args]),
            "process_group": self._process_groups(args),
        }

    def _process_groups(self, args: Sequence[Args]) -> Int32:
        names = self.names
        groups = [a.process_group for a in args]
        return np.array([-1 if group is None or group == "" else names[str(group)] for group in groups], dtype=np.int32)

    def _signatures(self, args: Sequence[Args]) -> Int32:
        codes = self.signatures
        join = SIGNATURE_SEPARATOR.join
        keys = [join((a.dims or a.old_dims, a.types, a.strides, a.concrete)) for a in args]
        return np.array([-1 if key == NO_SIGNATURE else codes[key] for key in keys], dtype=np.int32)

    def calls(self, events: Sequence[AnyEvent]) -> Columns:
        """Return the columns of runtime and driver calls."""
        return {"thread": self._threads(events), "correlation": _correlations(_args(events))}

    def kernels(self, events: Sequence[AnyEvent]) -> Columns:
        """Return the columns of kernels."""
        return self._activities(events, ActivityKind.KERNEL)

    def copies(self, events: Sequence[AnyEvent]) -> Columns:
        """Return the columns of copies."""
        return self._activities(events, ActivityKind.COPY)

    def fills(self, events: Sequence[AnyEvent]) -> Columns:
        """Return the columns of fills."""
        return self._activities(events, ActivityKind.FILL)

    def _activities(self, events: Sequence[AnyEvent], kind: ActivityKind) -> Columns:
        args = _args(events)
        directions = [CopyDirection.NONE] * len(events)
        if kind is ActivityKind.COPY:
            directions = [copy_direction(str(e.name), a.direction) for e, a in zip(events, args, strict=True)]
        return {
            "kind": np.full(len(events), kind, dtype=np.int8),
            "device": _devices(events, args),
            "stream": _streams(events, args),
            "correlation": _correlations(args),
            "bytes": integers([trailing_number(a.size if a.bytes is None else a.bytes) for a in args]),
            "copy_direction": np.array(directions, dtype=np.int8),
            "dimensions": self._dimensions(args),
            "process_group": self._process_groups(args),
        }

    def _dimensions(self, args: Sequence[Args]) -> Int32:
        codes = self.dimensions
        keys = [(bytes(a.grid), bytes(a.block)) for a in args]
        return np.array([codes[key] if any(key) else -1 for key in keys], dtype=np.int32)

    def stream_syncs(self, events: Sequence[AnyEvent]) -> Columns:
        """Return the columns of waits as the device side saw them."""
        args = _args(events)
        return {
            "device": _devices(events, args),
            "stream": _streams(events, args),
            "correlation": _correlations(args),
            "wait_on_stream": integers([a.wait_on_stream for a in args]),
            "wait_on_correlation": integers([a.wait_on_correlation for a in args]),
        }


_TOLD_APART = (Table.MTIA, Table.MTIA_RUNTIME)


def _by_table(by_category: Mapping[str, Sequence[AnyEvent]]) -> dict[Table, list[AnyEvent]]:
    """Sort events of each category into the tables that they become rows of."""
    groups: dict[Table, list[AnyEvent]] = {}
    for category, events in by_category.items():
        table = table_of(category, None)
        if table in _TOLD_APART or not category:
            for event in events:
                own = _table_by_fields(event, table)
                if own is not None:
                    groups.setdefault(own, []).append(event)
        elif table is not None:
            groups.setdefault(table, []).extend(events)
    return groups


def _table_by_fields(event: AnyEvent, table: Table | None) -> Table | None:
    """Return the table of an event whose category does not decide it."""
    if table is Table.MTIA:
        return _mtia_table(event)
    if table is Table.MTIA_RUNTIME:
        return _mtia_runtime_table(event)
    return table_of("", event.pid)


def _mtia_table(event: AnyEvent) -> Table:
    args = event.args or NO_ARGS
    if args.direction is not None:
        return Table.COPIES
    # Records of an event and waits for one carry the event's number; they are no work.
    if args.seq_num is not None or args.wait_on_stream is not None:
        return Table.STREAM_SYNCS
    return Table.KERNELS


def _mtia_runtime_table(event: AnyEvent) -> Table:
    # A wait is written twice: as the call, in the host's process, and as what the device did, in the device's.
    args = event.args or NO_ARGS
    return Table.CALLS if args.device is None or str(args.device) != str(event.pid) else Table.STREAM_SYNCS


def _args(events: Sequence[AnyEvent]) -> list[Args]:
    return [event.args or NO_ARGS for event in events]


def _correlations(args: Sequence[Args]) -> Int64:
    # 0 and negative numbers are what exporters write where they had none.
    correlations = integers([a.correlation for a in args])
    correlations[correlations <= 0] = -1
    return correlations


def _devices(events: Sequence[AnyEvent], args: Sequence[Args]) -> Int32:
    devices = integers(
        [trailing_number(e.pid if a.device is None else a.device) for e, a in zip(events, args, strict=True)]
    )
    return devices.astype(np.int32)


def _streams(events: Sequence[AnyEvent], args: Sequence[Args]) -> Int64:
    return integers(
        [trailing_number(e.tid if a.stream is None else a.stream) for e, a in zip(events, args, strict=True)]
    )


_ROWS: dict[Table, Callable[[TableBuilder, Sequence[AnyEvent]], Columns]] = {
    Table.OPERATORS: TableBuilder.operators,
    Table.CALLS: TableBuilder.calls,
    Table.FRAMES: TableBuilder.on_thread,
    Table.ANNOTATIONS: TableBuilder.on_thread,
    Table.OVERHEADS: TableBuilder.on_thread,
    Table.KERNELS: TableBuilder.kernels,
    Table.COPIES: TableBuilder.copies,
    Table.FILLS: TableBuilder.fills,
    Table.STREAM_SYNCS: TableBuilder.stream_syncs,
}
