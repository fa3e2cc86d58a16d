"""The columns of a trace: name, unit and meaning of each, in one place.

A `Trace` is a set of tables; a table is a frozen set of NumPy arrays of equal length, one row an event, sorted by
start (ties: the longer first, so that a parent precedes its children). Times are whole nanoseconds (int64) since
`Trace.origin_us`; a duration is always ``end_ns - start_ns`` and never negative. Names are codes into `Trace.names`.
A link is the row of another table, or -1 where there is none.
"""

from __future__ import annotations

import dataclasses
import enum
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pathlib import Path

Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]
Int8 = NDArray[np.int8]
Bool = NDArray[np.bool_]


class ActivityKind(enum.IntEnum):
    """What a device activity is."""

    KERNEL = 0
    COPY = 1
    FILL = 2


class CopyDirection(enum.IntEnum):
    """Where a copy goes, and whether its host side is pinned; NONE for what is no copy."""

    NONE = 0
    DEVICE_TO_DEVICE = 1
    HOST_TO_DEVICE_PINNED = 2
    HOST_TO_DEVICE_PAGEABLE = 3
    DEVICE_TO_HOST_PINNED = 4
    DEVICE_TO_HOST_PAGEABLE = 5
    PEER_TO_PEER = 6
    OTHER = 7
    HOST_TO_DEVICE = 8  # the file does not say what kind of memory the host's side is (ROCm, MTIA)
    DEVICE_TO_HOST = 9


@dataclasses.dataclass(frozen=True, kw_only=True)
class Operators:
    """Operators (`cpu_op`): what the program asked for, nested as it was called."""

    name: Int32
    start_ns: Int64
    end_ns: Int64
    thread: Int32  # row of Trace.threads
    signature: Int32  # index into Trace.signatures, -1 where no inputs were recorded
    sequence: Int64  # autograd's sequence number, -1 where absent
    forward_thread: Int64  # "Fwd thread id" as recorded, -1 or 0 where absent; > 0 marks a backward operator
    flops: NDArray[np.float64]  # as the profiler counted them, nan where absent
    process_group: Int32  # of a communication (`record_param_comms`): code of the group's name, -1 where absent
    # Links, filled by linking.
    parent: Int32  # innermost operator of the same thread that was open at the start
    frame: Int32  # innermost Python frame of the same thread that was open at the start
    step: Int32  # row of Trace.steps whose span holds the start (any thread), -1 outside all
    forward: Int32  # for a backward operator: the forward operator with its sequence number


@dataclasses.dataclass(frozen=True, kw_only=True)
class Calls:
    """Calls of the device runtime or driver on the host (`cuda_runtime`, `cuda_driver` and their like)."""

    name: Int32
    start_ns: Int64
    end_ns: Int64
    thread: Int32
    correlation: Int64  # -1 where absent, 0 or negative
    is_launch: Bool  # a device activity carries this call's correlation
    num_activities: Int32  # device activities with this call's correlation (a graph launch has many)
    operator: Int32  # innermost operator open on the thread at the start
    frame: Int32  # innermost Python frame open on the thread at the start
    step: Int32


@dataclasses.dataclass(frozen=True, kw_only=True)
class Frames:
    """Python frames (`python_function`). `file` and `line` are those of the ``def``, never of a call."""

    name: Int32  # the whole name as written: "planted.py(57): hook", "nn.Module: Linear_3", "<built-in method …>"
    start_ns: Int64
    end_ns: Int64
    thread: Int32
    parent: Int32  # innermost frame of the same thread open at the start


@dataclasses.dataclass(frozen=True, kw_only=True)
class Annotations:
    """Spans that the program named (`user_annotation`), `ProfilerStep#n` included; host side only."""

    name: Int32
    start_ns: Int64
    end_ns: Int64
    thread: Int32


@dataclasses.dataclass(frozen=True, kw_only=True)
class Overheads:
    """Spans that the profiler reports of itself or of the driver (`overhead`)."""

    name: Int32
    start_ns: Int64
    end_ns: Int64
    thread: Int32


@dataclasses.dataclass(frozen=True, kw_only=True)
class Activities:
    """Work of a device: kernels, copies and fills."""

    name: Int32
    kind: Int8  # ActivityKind
    start_ns: Int64
    end_ns: Int64
    device: Int32
    stream: Int64  # as recorded; unique together with device
    correlation: Int64  # -1 where absent, 0 or negative
    bytes: Int64  # for copies and fills, -1 where absent
    copy_direction: Int8  # CopyDirection
    dimensions: Int32  # index into Trace.dimensions (grid and block), -1 where absent
    process_group: Int32  # of a communication kernel: code of its group's name, -1 where unknown; linking completes it
    # Links, filled by linking.
    call: Int32  # row of Trace.calls that launched it
    operator: Int32  # row of Trace.operators: the call's operator
    step: Int32  # row of Trace.steps: the step that *launched* it, -1 where unknown or outside all steps
    before_window: Bool  # queued before the window opened: belongs to no step and no operator
    communication: Bool  # a collective or point-to-point communication kernel


@dataclasses.dataclass(frozen=True, kw_only=True)
class MemoryEvents:
    """Allocations (bytes > 0) and frees (bytes < 0) (`[memory]` instants)."""

    time_ns: Int64
    thread: Int32
    address: Int64
    bytes: Int64
    total_allocated: Int64  # the allocator's own counter after the event, -1 where absent
    total_reserved: Int64
    device_type: Int32  # 0 CPU, 1 CUDA (torch's DeviceType)
    device: Int32
    operator: Int32  # innermost operator open on the thread
    frame: Int32
    step: Int32


@dataclasses.dataclass(frozen=True, kw_only=True)
class StreamSyncs:
    """Rows of `cuda_sync`: waits as the device side saw them. No work; they say which event a stream waited for."""

    name: Int32
    start_ns: Int64
    end_ns: Int64
    device: Int32
    stream: Int64
    correlation: Int64
    wait_on_stream: Int64  # -1 where absent
    wait_on_correlation: Int64  # of the cudaEventRecord waited for, -1 where absent


@dataclasses.dataclass(frozen=True, kw_only=True)
class Steps:
    """The profiled steps in order (`ProfilerStep#n` on the host); empty where the trace has no step marks."""

    number: Int64  # the n of ProfilerStep#n
    start_ns: Int64
    end_ns: Int64
    thread: Int32


@dataclasses.dataclass(frozen=True, kw_only=True)
class Thread:
    """A host thread that something was recorded on."""

    process: str
    thread: str
    name: str | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Signature:
    """What an operator was called with; nested lists are flattened into one input list."""

    shapes: tuple[tuple[int, ...], ...] | None  # "Input Dims"; None where not recorded
    types: tuple[str, ...] | None  # "Input type"
    strides: tuple[tuple[int, ...], ...] | None  # "Input Strides"
    concrete: tuple[str, ...] | None  # "Concrete Inputs": scalars as text


@dataclasses.dataclass(frozen=True, kw_only=True)
class TracedDevice:
    """A device as the trace's ``deviceProperties`` describe it."""

    index: int
    name: str | None
    memory_bytes: int | None
    compute_capability: str | None
    multiprocessors: int | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class TraceInfo:
    """What the file says about itself; `None` where it does not."""

    path: Path
    size_bytes: int
    layout: Literal["object", "list"]  # a top-level object, or the bare list of 2020
    devices: tuple[TracedDevice, ...] = ()
    runtime_kind: Literal["cuda", "rocm", "xpu", "mtia", "none"] = "none"
    runtime_version: str | None = None
    driver_version: str | None = None
    host_name: str | None = None
    user_name: str | None = None
    rank: int | None = None
    world_size: int | None = None
    with_stack: bool = False
    record_shapes: bool = False
    profile_memory: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class TraceNotice:
    """Something that the file lacks or got wrong: `code` is stable, `text` one sentence, `share` 0..1 of its base."""

    code: str
    text: str
    count: int | None = None
    share: float | None = None
    # True where a conclusion drawn from the trace may be wrong by it; the rule `trace-incomplete` fires on these.
    affects_conclusions: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class Coverage:
    """Shares (0..1) of the device time launched in the window that carry each kind of information.

    `None` where there is no device time to take a share of.
    """

    operators: float | None
    shapes: float | None
    stacks: float | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Trace:
    """One trace file, read and linked."""

    info: TraceInfo
    origin_us: float  # the file's own clock at time 0 of the tables; text with more digits is in origin_text
    origin_text: str  # the same, exact to the nanosecond, in µs, as the file would write it
    names: tuple[str, ...]
    threads: tuple[Thread, ...]
    signatures: tuple[Signature, ...]
    dimensions: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]  # (grid, block)
    operators: Operators
    calls: Calls
    frames: Frames
    annotations: Annotations
    overheads: Overheads
    activities: Activities
    memory: MemoryEvents
    stream_syncs: StreamSyncs
    steps: Steps
    # The window: from the first step mark's start (else the first event) to the last end of anything launched in it.
    window_start_ns: int
    window_end_ns: int
    device_expected: bool  # a device, a runtime call or a device memory event shows that there was a device
    device_recorded: bool  # device activities are in the file
    notices: tuple[TraceNotice, ...]
    coverage: Coverage
