"""Making the report of a captured loop in a process of its own, while the program goes on."""

from __future__ import annotations

import atexit
import subprocess
import sys
from pathlib import Path

# Longer than any report takes; a program's end must not hang on it.
LIMIT_S = 180.0


def start_report(recording: Path, shortfall: str | None = None) -> None:
    """Start writing the report beside `recording`; the program's end waits for it and says on stderr where it is.

    `shortfall` is what the reader must know of a recording that is not whole.
    """
    command = [sys.executable, "-m", "reportgen", "render", str(recording), "--quiet"]
    try:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    except OSError as error:
        _say(f"the report could not be started ({error}); reportgen render {recording}")
        return
    atexit.register(_finish, process, recording, shortfall)


def _finish(process: subprocess.Popen[bytes], recording: Path, shortfall: str | None) -> None:
    try:
        process.wait(LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.returncode == 0:
        _say(f"the report is in {recording.parent}{f'; {shortfall}' if shortfall else ''}")
    else:
        _say(f"the report was not finished; what was recorded is kept: reportgen render {recording}")


def _say(text: str) -> None:
    print(f"reportgen: {text}", file=sys.stderr)  # noqa: T201 - the program's user is told where the report is
