"""Collected rows to an unlinked `Trace`: sorted tables with times since the first event, every link still -1."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from reportgen.trace.categories import Table
from reportgen.trace.columns import (
    Activities,
    Annotations,
    Calls,
    Coverage,
    Frames,
    Int64,
    MemoryEvents,
    Operators,
    Overheads,
    Steps,
    StreamSyncs,
    Thread,
    Trace,
    TraceInfo,
    TraceNotice,
)
from reportgen.trace.rows import Columns
from reportgen.trace.signatures import decode_dimensions, decode_signature
from reportgen.trace.tables import TableBuilder
from reportgen.trace.untimed import drop_untimed

TableType = TypeVar("TableType")

# The type of a column, by the annotation of its field.
_DTYPES = {"Int64": np.int64, "Int32": np.int32, "Int8": np.int8, "Bool": np.bool_, "NDArray[np.float64]": np.float64}
# What a link holds before linking; every other link is a row and -1.
_UNLINKED = {"is_launch": False, "num_activities": 0, "before_window": False, "communication": False}
_ACTIVITY_TABLES = (Table.KERNELS, Table.COPIES, Table.FILLS)


def assemble(builder: TableBuilder, info: TraceInfo, notices: tuple[TraceNotice, ...]) -> Trace:
    """Return the trace that the rows in `builder` make; the rows are given up."""
    columns = {table: rows.joined() for table, rows in builder.rows.items()}
    memory = builder.memory.joined()
    others = [*(columns[table] for table in columns if table not in _ACTIVITY_TABLES), memory]
    stacked = _stacked([columns[table] for table in _ACTIVITY_TABLES])
    activities, untimed = drop_untimed(stacked, map(_starts, others))
    tables = [*others, activities]
    origin_ns = min((int(start.min()) for start in map(_starts, tables) if len(start)), default=0)
    end_ns = max((int(end.max()) for end in map(_ends, tables) if len(end)), default=0) - origin_ns

    def table(kind: type[TableType], rows: Columns | None) -> TableType:
        return _table(kind, rows, origin_ns)

    operators = table(Operators, columns[Table.OPERATORS])
    frames = table(Frames, columns[Table.FRAMES])
    memory_events = table(MemoryEvents, memory)
    info = dataclasses.replace(
        info,
        with_stack=info.with_stack or len(frames.name) > 0,
        record_shapes=info.record_shapes or bool((operators.signature >= 0).any()),
        profile_memory=info.profile_memory or len(memory_events.time_ns) > 0,
    )
    return Trace(
        info=info,
        origin_us=origin_ns / 1000,
        origin_text=_microseconds_text(origin_ns),
        names=tuple("" if name is None else str(name) for name in builder.names),
        threads=tuple(
            Thread(process=process, thread=thread, name=builder.thread_names.get((process, thread)))
            for process, thread in builder.threads
        ),
        signatures=tuple(map(decode_signature, builder.signatures)),
        dimensions=tuple(map(decode_dimensions, builder.dimensions)),
        operators=operators,
        calls=table(Calls, columns[Table.CALLS]),
        frames=frames,
        annotations=table(Annotations, columns[Table.ANNOTATIONS]),
        overheads=table(Overheads, columns[Table.OVERHEADS]),
        activities=table(Activities, activities),
        memory=memory_events,
        stream_syncs=table(StreamSyncs, columns[Table.STREAM_SYNCS]),
        steps=_table(Steps, None, origin_ns),
        window_start_ns=0,
        window_end_ns=max(end_ns, 0),
        device_expected=False,
        device_recorded=activities is not None,
        notices=notices if untimed is None else (*notices, untimed),
        coverage=Coverage(operators=None, shapes=None, stacks=None),
    )


def _starts(rows: Columns | None) -> Int64:
    return _no_times if rows is None else rows.get("start_ns", rows.get("time_ns", _no_times))


def _ends(rows: Columns | None) -> Int64:
    return _no_times if rows is None else rows.get("end_ns", rows.get("time_ns", _no_times))


_no_times: Int64 = np.empty(0, dtype=np.int64)


def _stacked(parts: list[Columns | None]) -> Columns | None:
    present = [part for part in parts if part is not None]
    if not present:
        return None
    return {name: np.concatenate([part[name] for part in present]) for name in present[0]}


def _table(kind: type[TableType], rows: Columns | None, origin_ns: int) -> TableType:
    """Return the rows as a sorted table of `kind`, with what linking will fill still empty."""
    fields = {field.name: _DTYPES[str(field.type)] for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    if rows is None:
        return kind(**{name: np.empty(0, dtype=dtype) for name, dtype in fields.items()})
    order = _order(rows)
    columns: dict[str, NDArray[Any]] = {}
    for name, dtype in fields.items():
        if name not in rows:
            columns[name] = np.full(len(_starts(rows)), _UNLINKED.get(name, -1), dtype=dtype)
            continue
        column = rows.pop(name) if name not in ("start_ns", "end_ns", "time_ns") else rows[name] - origin_ns
        columns[name] = column if order is None else column[order]
    return kind(**columns)


def _order(rows: Columns) -> Int64 | None:
    """Return the rows' order by start, of equal starts the longer first; None where they are in order already."""
    start, end = _starts(rows), _ends(rows)
    later = start[1:] > start[:-1]
    if bool((later | ((start[1:] == start[:-1]) & (end[1:] <= end[:-1]))).all()):
        return None
    return np.lexsort((-end, start))


def _microseconds_text(time_ns: int) -> str:
    sign = "-" if time_ns < 0 else ""
    whole, fraction = divmod(abs(time_ns), 1000)
    return f"{sign}{whole}.{fraction:03d}"
