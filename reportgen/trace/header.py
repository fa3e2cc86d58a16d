"""What a trace file says about itself, outside its events."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from reportgen.trace.columns import TracedDevice, TraceInfo
from reportgen.trace.events import DeviceProperties, Top


def describe(top: Top, path: Path, size_bytes: int, layout: Literal["object", "list"]) -> TraceInfo:
    """Return what the top-level object tells about the machine, the job and the profiler's options."""
    distributed = top.distributed
    kind: Literal["cuda", "rocm", "none"] = "none"
    runtime_version = driver_version = None
    if top.hip_runtime_version is not None:
        kind = "rocm"
        runtime_version = _hip_version(top.hip_runtime_version)
        driver_version = _hip_version(top.hip_driver_version)
    elif top.cuda_runtime_version is not None:
        kind = "cuda"
        runtime_version = _cuda_version(top.cuda_runtime_version)
        driver_version = _cuda_version(top.cuda_driver_version)
    return TraceInfo(
        path=path,
        size_bytes=size_bytes,
        layout=layout,
        devices=tuple(_device(device, index) for index, device in enumerate(top.devices or ())),
        runtime_kind=kind,
        runtime_version=runtime_version,
        driver_version=driver_version,
        host_name=top.host_name,
        user_name=top.user_name,
        rank=None if distributed is None else distributed.rank,
        world_size=None if distributed is None else distributed.world_size,
        with_stack=bool(top.with_stack),
        record_shapes=bool(top.record_shapes),
        profile_memory=bool(top.profile_memory),
    )


def _device(device: DeviceProperties, index: int) -> TracedDevice:
    capability = None
    if device.major is not None:
        capability = f"{device.major}.{device.minor or 0}"
    return TracedDevice(
        index=index if device.id is None else device.id,
        name=device.name or None,
        memory_bytes=device.memory_bytes,
        compute_capability=capability,
        multiprocessors=device.multiprocessors,
    )


def _cuda_version(number: int | None) -> str | None:
    # CUDA_VERSION = 1000 major + 10 minor
    return None if number is None else f"{number // 1000}.{number % 1000 // 10}"


def _hip_version(number: int | None) -> str | None:
    # HIP_VERSION = 10 000 000 major + 100 000 minor + patch
    return None if number is None else f"{number // 10_000_000}.{number // 100_000 % 100}.{number % 100_000}"
