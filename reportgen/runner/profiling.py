"""The two profiled windows: the timeline, as light as can be, and the detail with shapes, memory and stacks."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import IO, Literal

import torch
from isal import igzip
from torch.profiler import ProfilerActivity, profile, record_function

from reportgen.resources import replacing
from reportgen.runner.schedule import Window
from reportgen.runner.stepping import Stepper

# Of isal's levels: a seventh of the time of zlib's level 5, for a third more bytes.
_COMPRESSION = 2


def record_window(
    stepper: Stepper, device: torch.device, window: Window, kind: Literal["timeline", "detail"], path: Path
) -> None:
    """Profile a window of steps and write its trace to `path`, whole or not at all.

    The profiler is prepared, warmed up on steps that it does not record, and opened on a drained device. Inside the
    window the device is waited for only where steps start on an idle one, and then between the steps' marks.
    """
    profiler = new_profiler(device, kind)
    profiler.prepare_trace()
    opened = False
    try:
        _warm_up(stepper, window.warmup_steps)
        profiler.start_trace()
        opened = True
        _run_marked(stepper, window.recorded_steps)
    finally:
        if not opened:  # a profiler that was prepared can be put away only once it has been started
            profiler.start_trace()
        profiler.stop_trace()
    export_trace(profiler, path)


def new_profiler(device: torch.device, kind: Literal["timeline", "detail"]) -> profile:
    """Return a profiler for one of the two windows, not yet prepared."""
    deep = kind == "detail"
    return profile(activities=_activities(device), record_shapes=deep, profile_memory=deep, with_stack=deep)


def start_profiler_once(device: torch.device) -> None:
    """Run one throw-away cycle on a trivial operation: the first one loads and starts the device's tracing library."""
    with profile(activities=_activities(device)):
        torch.zeros(1, device=device).add_(1)
        if device.type == "cuda":
            torch.cuda.synchronize(device)


def _warm_up(stepper: Stepper, num_steps: int) -> None:
    for _ in range(num_steps):
        stepper.prepare()
        stepper.run()
    stepper.clock.drain()


def _run_marked(stepper: Stepper, num_steps: int) -> None:
    """Run steps, each under a mark of its own: what prepares a step belongs to none."""
    for _ in range(num_steps):
        stepper.prepare()
        with record_function(f"ProfilerStep#{stepper.num_run}"):
            stepper.run()
    stepper.clock.drain()


def _activities(device: torch.device) -> list[ProfilerActivity]:
    return [ProfilerActivity.CPU] if device.type == "cpu" else [ProfilerActivity.CPU, ProfilerActivity.CUDA]


def open_packed(path: Path) -> IO[bytes]:
    """Open a file to write compressed what is written to it."""
    opened: IO[bytes] = igzip.open(path, "wb", compresslevel=_COMPRESSION)  # type: ignore[no-untyped-call]
    return opened


def export_trace(profiler: profile, path: Path) -> None:
    """Write the trace of a profiler that was stopped to `path`, compressed, whole or not at all."""
    plain = path.with_suffix("")  # timeline.json beside timeline.json.gz
    try:
        profiler.export_chrome_trace(str(plain))
        with replacing(path) as partial, plain.open("rb") as source, open_packed(partial) as target:
            shutil.copyfileobj(source, target, 1 << 20)
    finally:
        plain.unlink(missing_ok=True)
