"""The clocks of a host that is its own device, and of a CUDA or ROCm device."""

from __future__ import annotations

import time

import torch

from reportgen.runner.stepping import Clock


def clock_of(device: torch.device) -> Clock:
    """Return the clock that tells when work on `device` is done."""
    return HostClock() if device.type == "cpu" else StreamClock(device)


class HostClock:
    """Work is done when the call that asked for it returns."""

    is_synchronous = True

    def now_us(self) -> float:
        """Return the time."""
        return time.perf_counter_ns() / 1e3

    def drain(self) -> None:
        """Return at once: nothing is left to wait for."""

    def start(self) -> None:
        """Do nothing: a mark is a time."""

    def mark(self) -> float:
        """Return the time, which is when the work issued so far was done."""
        return self.now_us()

    def reached_us(self, mark: float) -> float:
        """Return the mark's time."""
        return mark


class StreamClock:
    """Work is issued to the device's streams; marks are timing events on the current one.

    A step that leaves work on a stream of its own, without joining it to the current one, is seen to end with the
    current stream's work, except the last step of a block.
    """

    is_synchronous = False

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._origin_us = 0.0
        self._origin = torch.cuda.Event(enable_timing=True)

    def now_us(self) -> float:
        """Return the host's time."""
        return time.perf_counter_ns() / 1e3

    def drain(self) -> None:
        """Wait until every stream of the device is idle."""
        torch.cuda.synchronize(self._device)

    def start(self) -> None:
        """Drain the device and tie its clock to the host's: an idle device reaches a mark within microseconds."""
        self.drain()
        self._origin_us = self.now_us()
        self._origin.record()

    def mark(self) -> torch.cuda.Event:
        """Record a timing event on the current stream."""
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def reached_us(self, mark: torch.cuda.Event) -> float:
        """Return when the device reached the event, on the host's clock."""
        return self._origin_us + float(self._origin.elapsed_time(mark)) * 1e3
