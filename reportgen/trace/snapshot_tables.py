"""From the records of a memory snapshot to its columns."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from reportgen.trace.columns import Int32, Int64, TraceNotice
from reportgen.trace.memory_columns import (
    Action,
    Blocks,
    BlockState,
    Events,
    KnownTensors,
    Mark,
    MemoryHistory,
    Segments,
    Stack,
    StackFrame,
)
from reportgen.trace.snapshot_records import (
    BlockRecord,
    EventRecord,
    MarkRecord,
    SegmentRecord,
    SnapshotRecord,
    TensorRecord,
)

_ACTIONS = {
    "alloc": Action.ALLOC,
    "free_requested": Action.FREE_REQUESTED,
    "free_completed": Action.FREE_COMPLETED,
    "free": Action.FREE_COMPLETED,
    "segment_alloc": Action.SEGMENT_ALLOC,
    "segment_free": Action.SEGMENT_FREE,
    "segment_map": Action.SEGMENT_MAP,
    "segment_unmap": Action.SEGMENT_UNMAP,
    "snapshot": Action.SNAPSHOT,
    "oom": Action.OUT_OF_MEMORY,
}
STEP_MARK = "ProfilerStep#"
_STAGES: dict[str, Literal["start", "end"]] = {"START": "start", "END": "end"}


class StackCodes:
    """The distinct stacks of a snapshot, numbered.

    `key_of` gives the same key for frames that are sure to be the same, so that `decode` is called once for each key.
    """

    def __init__(self, key_of: Callable[[Any], Hashable], decode: Callable[[Any], list[StackFrame]]) -> None:
        self._key_of = key_of
        self._decode = decode
        self._by_key: dict[Hashable, int] = {}
        self._by_stack: dict[Stack, int] = {}

    def code(self, frames: Any) -> int:
        """Return the number of a stack, -1 for an empty or absent one."""
        if frames is None:
            return -1
        key = self._key_of(frames)
        code = self._by_key.get(key)
        if code is None:
            stack = tuple(map(_legible, self._decode(frames)))
            code = self._by_stack.setdefault(stack, len(self._by_stack)) if stack else -1
            self._by_key[key] = code
        return code

    def codes(self, records: Iterable[Any]) -> Int32:
        """Return the numbers of the stacks of records that have `frames`."""
        return np.array([self.code(record.frames) for record in records], dtype=np.int32)

    @property
    def stacks(self) -> tuple[Stack, ...]:
        """The stacks by their numbers."""
        return tuple(self._by_stack)


def build_history(path: Path, record: SnapshotRecord[Any], stacks: StackCodes) -> MemoryHistory:
    """Return the columns of a snapshot."""
    segments = _segments(record.segments, stacks)
    blocks = _blocks(record.segments, stacks)
    events = _events(record.device_traces, stacks)
    return MemoryHistory(
        path=path,
        segments=segments,
        blocks=blocks,
        events=events,
        stacks=stacks.stacks,
        marks=(*_marks(record.external_annotations), *_step_marks(record.steps)),
        tensors=_tensors(record.tensors),
        settings=record.allocator_settings,
        notices=_notices(events),
    )


def _marks(records: Sequence[MarkRecord]) -> Iterator[Mark]:
    for mark in records:
        if mark.stage in _STAGES:
            yield Mark(name=mark.name, stage=_STAGES[mark.stage], device=mark.device, time_us=mark.time_us)


def _step_marks(steps: Sequence[tuple[float, float]]) -> Iterator[Mark]:
    """Return the steps that the runner noted as if the profiler had marked them."""
    for number, (start_us, end_us) in enumerate(steps):
        name = f"{STEP_MARK}{number}"
        yield Mark(name=name, stage="start", device=-1, time_us=int(start_us))
        yield Mark(name=name, stage="end", device=-1, time_us=int(end_us))


def _tensors(records: Sequence[TensorRecord]) -> KnownTensors:
    return KnownTensors(
        category=tuple(it.category for it in records),
        address=_int64(it.address for it in records),
        bytes=_int64(it.bytes for it in records),
        time_us=_int64(int(it.time_us) for it in records),
    )


def _segments(records: Sequence[SegmentRecord[Any]], stacks: StackCodes) -> Segments:
    return Segments(
        device=_int32(it.device for it in records),
        address=_int64(it.address for it in records),
        reserved_bytes=_int64(it.total_size for it in records),
        allocated_bytes=_int64(it.allocated_size for it in records),
        active_bytes=_int64(it.active_size for it in records),
        requested_bytes=_int64(it.requested_size for it in records),
        stream=_int64(it.stream for it in records),
        is_small=np.array([it.segment_type == "small" for it in records], dtype=np.bool_),
        is_expandable=np.array([it.is_expandable for it in records], dtype=np.bool_),
        stack=stacks.codes(records),
    )


def _blocks(segments: Sequence[SegmentRecord[Any]], stacks: StackCodes) -> Blocks:
    records = [block for segment in segments for block in segment.blocks]
    return Blocks(
        segment=_int32(row for row, segment in enumerate(segments) for _ in segment.blocks),
        address=_int64(address for segment in segments for address in _block_addresses(segment)),
        bytes=_int64(it.size for it in records),
        requested_bytes=_int64(it.requested_size for it in records),
        state=np.array([_state(it) for it in records], dtype=np.int8),
        stack=_int32(stacks.code(_frames_of(it)) for it in records),
    )


def _block_addresses(segment: SegmentRecord[Any]) -> Iterable[int]:
    address = segment.address
    for block in segment.blocks:
        address = address if block.address is None else block.address
        yield address
        address += block.size


def _state(block: BlockRecord[Any]) -> BlockState:
    if block.state == "active_allocated":
        return BlockState.ACTIVE_ALLOCATED
    # Called "active_pending_free" until 2.0, "active_awaiting_free" since.
    return BlockState.ACTIVE_AWAITING_FREE if block.state.startswith("active") else BlockState.INACTIVE


def _frames_of(block: BlockRecord[Any]) -> Any:
    if block.frames is None and block.history:
        return block.history[0].frames
    return block.frames


def _events(device_traces: Sequence[Sequence[EventRecord[Any]]], stacks: StackCodes) -> Events:
    records = [event for trace in device_traces for event in trace]
    return Events(
        device=_int32(device for device, trace in enumerate(device_traces) for _ in trace),
        action=np.array([_ACTIONS.get(it.action, Action.OTHER) for it in records], dtype=np.int8),
        address=_int64(it.addr for it in records),
        bytes=_int64(it.size for it in records),
        stream=_int64(it.stream for it in records),
        time_us=_int64(it.time_us for it in records),
        device_free_bytes=_int64(it.device_free for it in records),
        stack=stacks.codes(records),
    )


def _notices(events: Events) -> tuple[TraceNotice, ...]:
    if not len(events.action):
        return (
            TraceNotice(
                code="memory-history-missing",
                text="The memory snapshot has no history: what was alive at the peak and what allocated it are left "
                "out. Call torch.cuda.memory._record_memory_history() before the steps.",
            ),
        )
    notices = []
    if (events.time_us < 0).any():
        notices.append(
            TraceNotice(
                code="memory-history-without-times",
                text="The memory history has no times, as before PyTorch 2.2: its axis is the number of the event.",
                count=int((events.time_us < 0).sum()),
            )
        )
    if (events.stack < 0).all():
        notices.append(
            TraceNotice(
                code="memory-history-without-stacks",
                text="The memory history has no stacks: the lines that allocated are left out. "
                'Record with _record_memory_history(context="all", stacks="python").',
            )
        )
    return tuple(notices)


def _legible(frame: StackFrame) -> StackFrame:
    """Replace what is no text (half a surrogate pair) in the names of a frame; nothing that is written can hold it."""
    if frame.file.isascii() and frame.function.isascii():
        return frame
    return StackFrame(file=_text(frame.file), line=frame.line, function=_text(frame.function))


def _text(raw: str) -> str:
    return raw.encode("utf-8", "replace").decode()


def _int64(values: Iterable[int]) -> Int64:
    return np.fromiter(values, dtype=np.int64)


def _int32(values: Iterable[int]) -> Int32:
    return np.fromiter(values, dtype=np.int32)
