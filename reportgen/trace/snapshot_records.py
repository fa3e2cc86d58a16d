"""A memory snapshot as it is written: the records of every version since 1.13, fields that came later being optional.

`Frames` is how a stack is held before it is looked at: plain lists in a pickle, undecoded text in JSON. Most stacks
occur many times and are decoded once.
"""

from __future__ import annotations

from typing import Annotated, Any, Generic, TypeVar

import msgspec

Frames = TypeVar("Frames")
Integer = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


class AllocationRecord(msgspec.Struct, Generic[Frames], kw_only=True):
    """Who allocated a block, as versions before 2.1 wrote it."""

    frames: Frames = None  # type: ignore[assignment]


class BlockRecord(msgspec.Struct, Generic[Frames], kw_only=True):
    """A block of a segment."""

    size: Integer
    state: str
    address: Integer | None = None  # older versions write blocks without gaps, in order of address
    requested_size: Integer = -1
    frames: Frames = None  # type: ignore[assignment]  # None where absent
    history: list[AllocationRecord[Frames]] = []


class SegmentRecord(msgspec.Struct, Generic[Frames], kw_only=True):
    """Memory taken from a device in one piece."""

    device: Integer
    address: Integer
    total_size: Integer
    allocated_size: Integer
    active_size: Integer
    blocks: list[BlockRecord[Frames]]
    stream: Integer = -1
    requested_size: Integer = -1
    segment_type: str = "large"
    is_expandable: bool = False
    frames: Frames = None  # type: ignore[assignment]


class EventRecord(msgspec.Struct, Generic[Frames], kw_only=True):
    """An entry of the history."""

    action: str
    addr: Integer = -1
    size: Integer = -1
    stream: Integer = -1
    time_us: Integer = -1
    device_free: Integer = -1
    frames: Frames = None  # type: ignore[assignment]


class MarkRecord(msgspec.Struct, kw_only=True):
    """The begin or the end of a span of the program."""

    stage: str
    name: str
    device: Integer = -1
    time_us: Integer = -1


class TensorRecord(msgspec.Struct, kw_only=True):
    """Storage that a recording of this project knows the owner of: a category, where it lies, and when it was seen."""

    category: str
    address: Integer
    bytes: Integer
    time_us: float = -1.0


class SnapshotRecord(msgspec.Struct, Generic[Frames], kw_only=True):
    """A whole snapshot; `device_traces` holds one history a device."""

    segments: list[SegmentRecord[Frames]]
    device_traces: list[list[EventRecord[Frames]]] = []
    external_annotations: list[MarkRecord] = []
    allocator_settings: dict[str, Any] = {}
    # What the runner adds to torch's own: the steps' start and end (µs since the epoch), and the model's tensors.
    steps: list[tuple[float, float]] = []
    tensors: list[TensorRecord] = []
