"""What this machine's torch can record: ``python -m reportgen.runner.readiness`` prints it as one line of JSON.

A process of its own, so that whoever asks need not import torch, and a driver that crashes takes nobody with it.
"""

from __future__ import annotations

import importlib.metadata

import msgspec


class Readiness(msgspec.Struct, frozen=True, kw_only=True):
    """What torch sees and what its profiler records; `None` where the question did not arise."""

    torch: str
    transformers: str | None
    runtime: str | None  # "CUDA 13.0", "ROCm 6.4"; None for a torch without device support
    devices: tuple[str, ...]
    device_activities: int | None  # recorded of one small addition on the first device


def examine() -> Readiness:
    """Import torch and, where it sees a device, profile one addition on it."""
    import torch

    devices = tuple(torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count()))
    return Readiness(
        torch=str(torch.__version__),
        transformers=_version_of("transformers"),
        runtime=_runtime_of(torch.version.cuda, torch.version.hip),
        devices=devices,
        device_activities=_count_device_activities() if devices else None,
    )


def _runtime_of(cuda: str | None, hip: str | None) -> str | None:
    if hip:
        return f"ROCm {hip}"
    return f"CUDA {cuda}" if cuda else None


def _version_of(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _count_device_activities() -> int:
    import torch
    from torch.profiler import ProfilerActivity, profile

    operand = torch.ones(1024, device="cuda")
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        operand.add_(1)
        torch.cuda.synchronize()
    return sum(event.device_type == torch.autograd.DeviceType.CUDA for event in profiler.events())


if __name__ == "__main__":
    # The profiler writes to stdout as it pleases; the answer is the last line.
    print(msgspec.json.encode(examine()).decode())  # noqa: T201 - this is the module's interface
