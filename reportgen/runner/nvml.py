"""What NVIDIA's management library tells of a device: all of it optional, none of it a reason to fail."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch

from reportgen.recording import Scalar

try:
    import pynvml
except ImportError:
    pynvml = None

# Reasons by the library's bits that say that the clock is held below what the work asked for. "Idle" and the clock
# settings of a user are none.
_REASONS = {
    0x4: "power cap",
    0x8: "hardware slowdown",
    0x20: "thermal (software)",
    0x40: "thermal (hardware)",
    0x80: "power brake",
}


def driver_version() -> str | None:
    """Return the driver's version."""
    with _library() as library:
        return _ask(library.nvmlSystemGetDriverVersion) if library else None


def device_flags(index: int) -> dict[str, Scalar]:
    """Return what is set on the device from outside: MIG, persistence, the power limit."""
    with _library() as library:
        handle = library and _handle(library, index)
        if handle is None:
            return {}
        mig = _ask(library.nvmlDeviceGetMigMode, handle)
        limit = _ask(library.nvmlDeviceGetPowerManagementLimit, handle)
        found = {
            "mig": None if mig is None else bool(mig[0]),
            "power_limit_w": None if limit is None else limit / 1e3,
        }
        return {name: value for name, value in found.items() if value is not None}


class Conditions:
    """Clock, power, temperature and throttle reasons, read once a block of timed steps."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self.columns: dict[str, list[Scalar]] = {}

    def sample(self) -> None:
        """Read them now; what the device does not tell gets no column."""
        if self._device.type != "cuda":
            return
        with _library() as library:
            handle = library and _handle(library, self._device.index or 0)
            if handle is None:
                return
            power = _ask(library.nvmlDeviceGetPowerUsage, handle)
            reasons = _ask(library.nvmlDeviceGetCurrentClocksThrottleReasons, handle)
            row: dict[str, Scalar] = {
                "clock_mhz": _ask(library.nvmlDeviceGetClockInfo, handle, library.NVML_CLOCK_SM),
                "memory_clock_mhz": _ask(library.nvmlDeviceGetClockInfo, handle, library.NVML_CLOCK_MEM),
                "power_w": None if power is None else power / 1e3,
                "temperature_c": _ask(library.nvmlDeviceGetTemperature, handle, library.NVML_TEMPERATURE_GPU),
                "throttle_reasons": None if reasons is None else throttle_reasons(reasons),
            }
        for name, value in row.items():
            if value is not None:
                self.columns.setdefault(name, []).append(value)


def throttle_reasons(bits: int) -> str:
    """Return the reasons in the library's bit mask, joined by commas; empty where the clock is not held back."""
    return ", ".join(name for bit, name in _REASONS.items() if bits & bit)


@contextlib.contextmanager
def _library() -> Iterator[Any]:
    """Give the library, started, or None where there is none or no driver for it."""
    if pynvml is None:
        yield None
        return
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        yield None
        return
    try:
        yield pynvml
    finally:
        pynvml.nvmlShutdown()


def _handle(library: Any, index: int) -> Any:
    """Return the library's handle of torch's device `index`: found by its UUID, since the two number differently."""
    identity = str(torch.cuda.get_device_properties(index).uuid)
    return _ask(library.nvmlDeviceGetHandleByUUID, identity if identity.startswith("GPU-") else f"GPU-{identity}")


def _ask(question: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return question(*arguments)
    except pynvml.NVMLError:
        return None
