"""Trace events as typed structs: the fields that some column is made of, and nothing else.

One struct serves every category, because a decoder that knows all fields in advance is several times faster than
one that first looks at the category. None of the structs takes part in garbage collection: without that, the
collector would walk over every event again and again and take longer than the parser.
"""

from __future__ import annotations

import decimal

import msgspec
from msgspec import Raw

ABSENT = Raw(b"")

Id = int | str | None


class Args(msgspec.Struct, frozen=True, gc=False):
    """What an event carries in ``args``; lists stay as raw text, since few of them are distinct."""

    # Operators, in the order in which they are written: a decoder looks for a key first where the last one was
    concrete: Raw = msgspec.field(name="Concrete Inputs", default=ABSENT)
    types: Raw = msgspec.field(name="Input type", default=ABSENT)
    strides: Raw = msgspec.field(name="Input Strides", default=ABSENT)
    dims: Raw = msgspec.field(name="Input Dims", default=ABSENT)
    old_dims: Raw = msgspec.field(name="Input dims", default=ABSENT)
    sequence: int | None = msgspec.field(name="Sequence number", default=None)
    forward_thread: int | None = msgspec.field(name="Fwd thread id", default=None)
    flops: int | float | None = None
    # Device activities and calls
    correlation: int | None = None
    stream: Id = None
    device: Id = None
    bytes: Id = None
    kind: Id = None
    grid: Raw = ABSENT
    block: Raw = ABSENT
    process_group: Id = msgspec.field(name="Process Group Name", default=None)
    # Memory instants
    address: int | None = msgspec.field(name="Addr", default=None)
    num_bytes: int | None = msgspec.field(name="Bytes", default=None)
    total_allocated: int | None = msgspec.field(name="Total Allocated", default=None)
    total_reserved: int | None = msgspec.field(name="Total Reserved", default=None)
    device_type: int | None = msgspec.field(name="Device Type", default=None)
    device_id: int | None = msgspec.field(name="Device Id", default=None)
    # cuda_sync
    wait_on_stream: int | None = None
    wait_on_correlation: int | None = msgspec.field(name="wait_on_cuda_event_record_corr_id", default=None)
    # mtia_ccp_events
    direction: str | None = None
    size: int | None = None
    seq_num: int | None = None
    # Metadata
    name: Id = None


NO_ARGS = Args()


class Event(msgspec.Struct, gc=False):
    """One element of ``traceEvents``; times are microseconds."""

    ph: str = ""
    cat: str = ""
    name: Id = ""
    pid: Id = None
    tid: Id = None
    ts: int | float | None = None
    dur: int | float | None = None
    args: Args | None = NO_ARGS


class ExactEvent(msgspec.Struct, gc=False):
    """An `Event` whose start has more digits than a double holds; a third slower to decode."""

    ph: str = ""
    cat: str = ""
    name: Id = ""
    pid: Id = None
    tid: Id = None
    ts: decimal.Decimal | None = None
    dur: int | float | None = None
    args: Args | None = NO_ARGS


AnyEvent = Event | ExactEvent


class DeviceProperties(msgspec.Struct, frozen=True):
    """One element of ``deviceProperties``."""

    id: int | None = None
    name: str | None = None
    memory_bytes: int | None = msgspec.field(name="totalGlobalMem", default=None)
    major: int | None = msgspec.field(name="computeMajor", default=None)
    minor: int | None = msgspec.field(name="computeMinor", default=None)
    multiprocessors: int | None = msgspec.field(name="numSms", default=None)


class DistributedInfo(msgspec.Struct, frozen=True):
    """``distributedInfo``: which of the job's processes wrote the file."""

    rank: int | None = None
    world_size: int | None = None


class Top(msgspec.Struct, frozen=True):
    """The top-level object around ``traceEvents``."""

    devices: tuple[DeviceProperties, ...] | None = msgspec.field(name="deviceProperties", default=None)
    distributed: DistributedInfo | None = msgspec.field(name="distributedInfo", default=None)
    base_time_ns: int | None = msgspec.field(name="baseTimeNanoseconds", default=None)
    cuda_runtime_version: int | None = None
    cuda_driver_version: int | None = None
    hip_runtime_version: int | None = None
    hip_driver_version: int | None = None
    host_name: str | None = None
    user_name: str | None = msgspec.field(name="username", default=None)
    with_stack: int | bool | None = None
    record_shapes: int | bool | None = None
    profile_memory: int | bool | None = None
