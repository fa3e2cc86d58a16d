"""The allocator's history over a few steps: which line allocated what was alive."""

from __future__ import annotations

import time
from pathlib import Path

import msgspec
import torch

from reportgen.resources import replacing
from reportgen.runner.failures import NotApplicableError
from reportgen.runner.held import workspace_blocks
from reportgen.runner.owned import OwnedStorage, OwnedStorages
from reportgen.runner.profiling import open_packed
from reportgen.runner.stepping import Stepper

# Three equal points show growth; two would only show a difference.
NUM_STEPS = 3
# An entry with its Python stack is about a kilobyte while it is text.
_MAX_ENTRIES = 200_000


def record_history(stepper: Stepper, device: torch.device, path: Path) -> None:
    """Write the allocator's history over `NUM_STEPS` steps to `path`: torch's snapshot as JSON, no pickle.

    To the keys of the snapshot it adds ``steps``, start and end of each step in microseconds of the wall clock, which
    is the clock of the entries' ``time_us``, and ``tensors``, the storage whose owner is known (`OwnedStorage`).
    """
    if device.type != "cuda":
        raise NotApplicableError("the host's allocator keeps no history")
    stepper.clock.drain()
    memory = torch.cuda.memory
    memory._record_memory_history("all", context="all", stacks="python", max_entries=_MAX_ENTRIES, clear_history=True)
    try:
        with OwnedStorages(stepper.step) as owned:
            steps = [_timed_step(stepper) for _ in range(NUM_STEPS)]
        snapshot = memory._snapshot(device)
        tensors = owned.all()
    finally:
        memory._record_memory_history(None)
    known = {tensor.address for tensor in tensors}
    tensors += [
        OwnedStorage(category="temporaries", address=address, bytes=size)
        for address, size in workspace_blocks(device, snapshot)
        if address not in known
    ]
    with replacing(path) as partial, open_packed(partial) as target:
        target.write(msgspec.json.encode({**snapshot, "steps": steps, "tensors": tensors}))


def _timed_step(stepper: Stepper) -> tuple[float, float]:
    stepper.prepare()
    start = time.time_ns() / 1e3
    stepper.run()
    stepper.clock.drain()
    return start, time.time_ns() / 1e3
