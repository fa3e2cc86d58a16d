"""Run a command and measure it: seconds, processor seconds and peak memory of the process."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import time
from collections.abc import Sequence


@dataclasses.dataclass(frozen=True)
class Measurement:
    """What one run took."""

    seconds: float
    processor_seconds: float
    peak_bytes: int


def measure(command: Sequence[str]) -> Measurement:
    """Run `command` to its end; end this program where it fails."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)} failed with {process.returncode}")
    return Measurement(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def best(commands: dict[str, Sequence[str]], repetitions: int) -> dict[str, Measurement]:
    """Run the commands in turn, several times, and return the quickest run of each.

    Other work on the machine only ever slows a run down; taking turns lets all commands meet the same of it.
    """
    runs: dict[str, list[Measurement]] = {name: [] for name in commands}
    for _ in range(repetitions):
        for name, command in commands.items():
            runs[name].append(measure(command))
    return {name: min(of_one, key=lambda run: run.seconds) for name, of_one in runs.items()}
