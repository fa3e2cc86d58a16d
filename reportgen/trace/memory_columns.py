"""The columns of a memory snapshot: name, unit and meaning of each, in one place.

A snapshot is the state of the caching allocator when it was taken, and the history of what it did before, as far as
that was recorded. Three sizes are easily confused, and each has one name here: *reserved* is what the allocator holds
from the device, *active* what is in use or waits for a stream before it can be used again, *allocated* what the program
holds. `-1` stands for what was not recorded.
"""

from __future__ import annotations

import dataclasses
import enum
from typing import TYPE_CHECKING, Literal

import msgspec

from reportgen.trace.columns import Bool, Int8, Int32, Int64, TraceNotice

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class Action(enum.IntEnum):
    """What the allocator did; OTHER is an action that this reader does not know."""

    OTHER = 0
    ALLOC = 1
    FREE_REQUESTED = 2  # the program gave the block back
    FREE_COMPLETED = 3  # no stream needs it any more: it can be allocated again
    SEGMENT_ALLOC = 4  # memory taken from the device
    SEGMENT_FREE = 5
    SEGMENT_MAP = 6  # the same for expandable segments
    SEGMENT_UNMAP = 7
    SNAPSHOT = 8
    OUT_OF_MEMORY = 9


class BlockState(enum.IntEnum):
    """What a block is at the time of the snapshot."""

    INACTIVE = 0
    ACTIVE_AWAITING_FREE = 1  # given back by the program, still needed by a stream
    ACTIVE_ALLOCATED = 2


class StackFrame(msgspec.Struct, frozen=True, kw_only=True, rename={"file": "filename", "function": "name"}):
    """A frame of a stack, innermost first; unlike in a trace, `line` is that of the call."""

    file: str
    line: int
    function: str


Stack = tuple[StackFrame, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Segments:
    """Memory taken from a device in one piece, at the time of the snapshot."""

    device: Int32
    address: Int64
    reserved_bytes: Int64
    allocated_bytes: Int64
    active_bytes: Int64
    requested_bytes: Int64  # what the program asked for, before rounding; -1 where not recorded
    stream: Int64
    is_small: Bool  # of the pool for blocks up to 1 MiB
    is_expandable: Bool
    stack: Int32  # index into MemoryHistory.stacks: who caused it, -1 where not recorded


@dataclasses.dataclass(frozen=True, kw_only=True)
class Blocks:
    """The blocks that the segments are divided into."""

    segment: Int32  # row of Segments
    address: Int64
    bytes: Int64
    requested_bytes: Int64
    state: Int8  # BlockState
    stack: Int32


@dataclasses.dataclass(frozen=True, kw_only=True)
class Events:
    """The history: what the allocator of each device did, device by device, in the order it did it."""

    device: Int32
    action: Int8  # Action
    address: Int64  # -1 for OUT_OF_MEMORY, whose address does not exist
    bytes: Int64
    stream: Int64
    time_us: Int64  # since the epoch, -1 in old files: the axis is then the event's number
    device_free_bytes: Int64  # of the device, for OUT_OF_MEMORY only
    stack: Int32


@dataclasses.dataclass(frozen=True, kw_only=True)
class Mark:
    """A span of the program (``record_function``, a profiler step) that begins or ends within the history."""

    name: str
    stage: Literal["start", "end"]
    device: int
    time_us: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class KnownTensors:
    """Storage whose owner is known; only recordings of this project say so.

    `category` is one of the report's memory categories. What was seen at a time (a gradient, after it was accumulated)
    is the block alive at that address then; -1 stands for the whole history.
    """

    category: tuple[str, ...]
    address: Int64
    bytes: Int64
    time_us: Int64


@dataclasses.dataclass(frozen=True, kw_only=True)
class MemoryHistory:
    """One memory snapshot, read."""

    path: Path
    segments: Segments
    blocks: Blocks
    events: Events
    stacks: tuple[Stack, ...]  # each distinct stack once
    marks: tuple[Mark, ...]
    settings: Mapping[str, object]  # of the allocator, as the file names them
    notices: tuple[TraceNotice, ...]
    tensors: KnownTensors
