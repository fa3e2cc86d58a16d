"""How long threads stood ready while others had the cores: what a busy machine adds to a step."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import NamedTuple

# Threads that are watched: those that worked most. Reading one takes under 1 µs, beside a step of a millisecond.
MOST_THREADS = 8
_TASKS = Path("/proc/self/task")


class _Accounts(NamedTuple):
    """What the scheduler has given and refused a thread so far, ns."""

    ran_ns: int
    waited_ns: int


class CoreWaits:
    """Adds up how long this process's working threads have been ready to run and had no core (Linux' ``schedstat``).

    On other systems, or where the kernel keeps no such accounts, `total_us` is None.
    """

    def __init__(self, most_threads: int = MOST_THREADS) -> None:
        self._most_threads = most_threads
        self._ran_ns: dict[int, int] = {}
        self._files: dict[int, int] = {}

    def watch(self) -> None:
        """Choose the threads to watch: the calling one, and those that have worked most since the last choice."""
        self.close()
        known = {int(path.name): accounts for path in _tasks() if (accounts := _read_path(path)) is not None}
        grown = {thread: accounts.ran_ns - self._ran_ns.get(thread, 0) for thread, accounts in known.items()}
        self._ran_ns = {thread: accounts.ran_ns for thread, accounts in known.items()}
        mine = threading.get_native_id()
        others = sorted((thread for thread in grown if thread != mine and grown[thread]), key=lambda it: -grown[it])
        for thread in [mine, *others][: self._most_threads] if mine in known else ():
            try:
                self._files[thread] = os.open(_TASKS / str(thread) / "schedstat", os.O_RDONLY)
            except OSError:  # it has ended since
                continue

    def total_us(self) -> float | None:
        """Return the time the watched threads have waited for a core, added up; only differences mean anything."""
        if not self._files:
            return None
        return sum(self._waited_ns(file) for file in self._files.values()) / 1e3

    def close(self) -> None:
        """Let go of the threads."""
        for file in self._files.values():
            os.close(file)
        self._files = {}

    def _waited_ns(self, file: int) -> int:
        try:
            accounts = _parse(os.pread(file, 96, 0))
        except OSError:  # the thread has ended
            return 0
        return accounts.waited_ns if accounts else 0


def _tasks() -> list[Path]:
    try:
        return list(_TASKS.iterdir())
    except OSError:
        return []


def _read_path(path: Path) -> _Accounts | None:
    try:
        return _parse((path / "schedstat").read_bytes())
    except OSError:
        return None


def _parse(content: bytes) -> _Accounts | None:
    """Read ``ran_ns waited_ns slices``; None where the kernel writes something else."""
    fields = content.split()
    if len(fields) < 2 or not all(field.isdigit() for field in fields[:2]):
        return None
    return _Accounts(ran_ns=int(fields[0]), waited_ns=int(fields[1]))
