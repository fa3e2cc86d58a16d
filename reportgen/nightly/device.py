"""The device of a night: one night at a time on it, and what else is at work there."""

from __future__ import annotations

import contextlib
import csv
import errno
import fcntl
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

from reportgen.errors import RunFailed
from reportgen.formatting import plural

_POLL_S = 5.0
_SMI_TIMEOUT_S = 20
# The reasons, as bits, that hold a clock below what the work asks for: power cap, slowdown, heat, power brake. A device
# that waits for work, or whose clock its owner has set, is not held back.
_HELD = 0x4 | 0x8 | 0x20 | 0x40 | 0x80
_HEX = re.compile(r"0x[0-9A-Fa-f]+")
# Older drivers know the second name alone, and newer ones call it deprecated.
_REASONS = ("clocks_event_reasons.active", "clocks_throttle_reasons.active")


def lock_name(device: str) -> str:
    """Return what tells the device that ``--device`` means from the others of this machine."""
    kind, _, index = device.partition(":")
    if kind == "cpu" or (kind == "auto" and not Path("/dev/nvidiactl").exists()):
        return "cpu"
    visible = [name for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name]
    number = int(index or 0)
    return re.sub(r"[^A-Za-z0-9-]", "-", visible[number] if number < len(visible) else str(number))


@contextlib.contextmanager
def alone_on(
    device: str,
    *,
    wait_s: float,
    sleep: Callable[[float], None],
    say: Callable[[str], None],
    folder: Path | None = None,
) -> Iterator[None]:
    """Hold the lock of `device`, waiting up to `wait_s` for another night to end; raise `RunFailed` where it does not.

    The lock is the kernel's: it goes with the process, however that ends.
    """
    path = (folder or Path(tempfile.gettempdir())) / f"reportgen-nightly-{lock_name(device)}.lock"
    with path.open("a+", encoding="utf-8") as file:
        waited = 0.0
        while not _try_lock(file):
            holder = _holder(file)
            if waited == 0.0:
                say(f"another night is at work on {device} ({holder}); waiting for it")
            if waited >= wait_s:
                raise RunFailed(f"another night is still at work on {device} ({holder}): nothing was run")
            sleep(_POLL_S)
            waited += _POLL_S
        file.truncate(0)
        file.write(f"pid {os.getpid()}")
        file.flush()
        yield


def _try_lock(file: TextIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES):
            return False
        raise
    return True


def _holder(file: TextIO) -> str:
    file.seek(0)
    return file.read().strip() or "a process that did not say which"


def quiet_device(
    device: str, *, wait_s: float, sleep: Callable[[float], None], say: Callable[[str], None]
) -> tuple[str | None, float]:
    """Wait up to `wait_s` for other processes to leave the device.

    Returns what is to be noted about it then, and what is left of the wait, in seconds.
    """
    waited = 0.0
    while (busy := _busy(device)) and waited < wait_s:
        if waited == 0.0:
            say(f"{busy}; waiting for it")
        sleep(_POLL_S)
        waited += _POLL_S
    notes = [note for note in (busy, _held_clock(device)) if note]
    return "; ".join(notes) or None, max(wait_s - waited, 0.0)


def _busy(device: str) -> str | None:
    rows = _ask(device, "--query-compute-apps=pid,used_memory") if lock_name(device) != "cpu" else []
    if not rows:
        return None
    return f"{plural(len(rows), 'other process', 'other processes')} on the device: {', '.join(map(' '.join, rows))}"


def _held_clock(device: str) -> str | None:
    if lock_name(device) == "cpu":
        return None
    answers = (_ask(device, f"--query-gpu={name}") for name in _REASONS)
    rows = next((rows for rows in answers if rows), [])
    said = [row[0].strip() for row in rows if row]
    held = [text for text in said if _HEX.fullmatch(text) and int(text, 16) & _HELD]
    return f"the clock is held back ({held[0]})" if held else None


def _ask(device: str, query: str) -> list[list[str]]:
    """Return what nvidia-smi says of the device, nothing where there is no nvidia-smi."""
    command = ["nvidia-smi", query, "--format=csv,noheader", "-i", lock_name(device)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SMI_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [row for row in csv.reader(done.stdout.splitlines()) if row] if done.returncode == 0 else []
