"""The pass `ceilings`: what the device reaches, from the cache or measured in a child process of its own.

A process of its own, so that the first step of the first case stays cold.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from reportgen.recording import Ceilings, Device, Environment, PassRecord
from reportgen.runner.ceilings_cache import CeilingsKey, read_cached, write_cached
from reportgen.runner.interpreters import WarmInterpreter
from reportgen.runner.messages import CeilingsMeasured, CeilingsRequest
from reportgen.runner.process import Child, TimedOut

if TYPE_CHECKING:
    from collections.abc import Iterator

# Longer than any device takes that is worth measuring; a hang must not cost the run.
TIMEOUT_S = 120.0


def obtain_ceilings(
    device: Device,
    name: str,
    environment: Environment,
    log: Path,
    timeout_s: float | None = None,
    warm: WarmInterpreter | None = None,
) -> tuple[Ceilings, PassRecord]:
    """Return what `device`, which torch calls `name`, reaches, and what became of the pass.

    Where measuring fails the ceilings are empty and the reason is in the record. What the child prints goes to `log`.
    """
    key = CeilingsKey(
        device=device.name,
        multiprocessors=device.multiprocessors,
        driver=environment.driver,
        torch=environment.torch,
    )
    start = time.monotonic()
    cached = read_cached(key)
    if cached is not None:
        return cached, PassRecord(
            name="ceilings",
            outcome="done",
            seconds=time.monotonic() - start,
            reason="measured earlier with this device, driver and torch",
        )
    measured, reason = _measure(name, log, min(timeout_s or TIMEOUT_S, TIMEOUT_S), warm)
    seconds = time.monotonic() - start
    if measured is None:
        return Ceilings(), PassRecord(name="ceilings", outcome="failed", seconds=seconds, reason=reason)
    write_cached(key, measured)
    return measured, PassRecord(name="ceilings", outcome="done", seconds=seconds)


def _measure(
    name: str, log: Path, timeout_s: float, warm: WarmInterpreter | None
) -> tuple[Ceilings | None, str | None]:
    with Child(CeilingsRequest(device=name), log, warm) as child:
        try:
            found = next(_heard(child, timeout_s), None)
            verdict = child.verdict()
        except TimedOut:
            return None, f"not done after {timeout_s:g} s"
    return found, None if found else verdict or "its process ended early"


def _heard(child: Child, timeout_s: float) -> Iterator[Ceilings]:
    for message in child.messages(timeout_s):
        if isinstance(message, CeilingsMeasured):
            yield message.ceilings
