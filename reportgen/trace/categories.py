"""Categories: which table an event belongs to, in the spelling of every exporter since 2020."""

from __future__ import annotations

import enum

from reportgen.trace.columns import CopyDirection


class Table(enum.Enum):
    """The table of a `Trace` that an event becomes a row of."""

    OPERATORS = "operators"
    CALLS = "calls"
    FRAMES = "frames"
    ANNOTATIONS = "annotations"
    OVERHEADS = "overheads"
    KERNELS = "kernels"
    COPIES = "copies"
    FILLS = "fills"
    STREAM_SYNCS = "stream_syncs"
    MTIA = "mtia"  # one category for work, copies and waits; told apart by their fields
    MTIA_RUNTIME = "mtia_runtime"  # one for calls of the host and the waits that they mean on the device


# `gpu_user_annotation` repeats the host's annotations over the work they caused, `Trace` spans the whole recording:
# neither is an event of the program.
TABLES = {
    "cpu_op": Table.OPERATORS,
    "operator": Table.OPERATORS,
    "cuda_runtime": Table.CALLS,
    "cuda_driver": Table.CALLS,
    "runtime": Table.CALLS,
    "hip_runtime": Table.CALLS,
    "mtia_runtime": Table.MTIA_RUNTIME,
    "xpu_runtime": Table.CALLS,
    "xpu_driver": Table.CALLS,
    "privateuse1_runtime": Table.CALLS,
    "privateuse1_driver": Table.CALLS,
    "kernel": Table.KERNELS,
    "concurrent_kernel": Table.KERNELS,
    "gpu_memcpy": Table.COPIES,
    "memcpy": Table.COPIES,
    "gpu_memset": Table.FILLS,
    "memset": Table.FILLS,
    "mtia_ccp_events": Table.MTIA,
    "cuda_sync": Table.STREAM_SYNCS,
    "python_function": Table.FRAMES,
    "python": Table.FRAMES,
    "user_annotation": Table.ANNOTATIONS,
    "overhead": Table.OVERHEADS,
}

# The exporter of 2020 wrote no categories; the process said what an event was.
TABLES_BY_PROCESS = {"CPU functions": Table.OPERATORS, "CUDA functions": Table.KERNELS}

MEMORY_INSTANT = "[memory]"


def table_of(category: str, process: object) -> Table | None:
    """Return the table for an event's category (its process, where it has none), or None where no table keeps it."""
    if category:
        return TABLES.get(category.lower())
    return TABLES_BY_PROCESS.get(process) if isinstance(process, str) else None


_DIRECTIONS = {
    ("device", "device"): CopyDirection.DEVICE_TO_DEVICE,
    ("pinned", "device"): CopyDirection.HOST_TO_DEVICE_PINNED,
    ("pageable", "device"): CopyDirection.HOST_TO_DEVICE_PAGEABLE,
    ("host", "device"): CopyDirection.HOST_TO_DEVICE,
    ("device", "pinned"): CopyDirection.DEVICE_TO_HOST_PINNED,
    ("device", "pageable"): CopyDirection.DEVICE_TO_HOST_PAGEABLE,
    ("device", "host"): CopyDirection.DEVICE_TO_HOST,
}
_MTIA_DIRECTIONS = {
    "HOST_TO_DEVICE": CopyDirection.HOST_TO_DEVICE,
    "DEVICE_TO_HOST": CopyDirection.DEVICE_TO_HOST,
    "DEVICE_TO_DEVICE": CopyDirection.DEVICE_TO_DEVICE,
}


def copy_direction(name: str, stated: str | None = None) -> CopyDirection:
    """Read a copy's direction off its name, as in ``Memcpy HtoD (Pageable -> Device)``, or off what it states."""
    if stated is not None:
        return _MTIA_DIRECTIONS.get(stated, CopyDirection.OTHER)
    if "PtoP" in name:
        return CopyDirection.PEER_TO_PEER
    source, _, target = name.partition("(")[2].rstrip(")").partition(" -> ")
    return _DIRECTIONS.get((source.lower(), target.lower()), CopyDirection.OTHER)
