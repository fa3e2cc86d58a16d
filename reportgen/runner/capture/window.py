"""Timed and profiled steps of a loop that goes on by itself: generators that yield once a step."""

from __future__ import annotations

from collections.abc import Generator
from itertools import pairwise
from pathlib import Path
from typing import Literal

import torch
from torch.profiler import record_function

from reportgen.runner.clocks import clock_of
from reportgen.runner.profiling import export_trace, new_profiler
from reportgen.runner.schedule import Window
from reportgen.runner.stepping import Clock


def time_steps(clock: Clock, num_steps: int) -> Generator[None, None, tuple[float, ...]]:
    """Time `num_steps` intervals, in µs, between completions of steps; takes one step more.

    A step is complete when the device reaches the mark queued behind it, or at its end on the host if that is later.
    """
    clock.start()
    ends = []
    for _ in range(num_steps + 1):
        yield
        ends.append((clock.mark(), clock.now_us()))
    clock.drain()
    completions = [max(clock.reached_us(mark), host_end) for mark, host_end in ends]
    return tuple(later - earlier for earlier, later in pairwise(completions))


def profile_steps(
    device: torch.device, window: Window, kind: Literal["timeline", "detail"], path: Path, first_number: int
) -> Generator[None]:
    """Profile a window of steps and write its trace to `path`; one that is broken off writes nothing.

    As in `record_window`, the device is waited for before the window opens and after it closes, never inside.
    """
    clock = clock_of(device)
    profiler = new_profiler(device, kind)
    profiler.prepare_trace()
    opened = False
    try:
        for _ in range(window.warmup_steps):
            yield
        clock.drain()
        profiler.start_trace()
        opened = True
        for number in range(window.recorded_steps):
            with record_function(f"ProfilerStep#{first_number + number}"):
                yield
        clock.drain()
    finally:
        if not opened:  # a profiler that was prepared can be put away only once it has been started
            profiler.start_trace()
        profiler.stop_trace()
    export_trace(profiler, path)
