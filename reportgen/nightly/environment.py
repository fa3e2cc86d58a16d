"""What a night asks of the machine around it: the commit, other processes, the command that wants to be told."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from reportgen.nightly.summary import NightSummary
from reportgen.recording import encode_json

_GIT_TIMEOUT_S = 20
_NOTIFY_TIMEOUT_S = 60


def commit_of(folder: Path) -> str | None:
    """Return the commit that is checked out in `folder`, None where that is no repository or there is no git."""
    command = ["git", "-C", str(folder), "rev-parse", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_GIT_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None


def is_alive(pid: int) -> bool:
    """Tell whether a process of this machine has the number `pid`."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def notify(command: str, summary: NightSummary) -> str | None:
    """Give `summary` as JSON to the shell command `command`; return what went wrong with it, in a line."""
    content = encode_json(summary)
    try:
        # The shell is the point: the command is the user's own line, pipes and all.
        done = subprocess.run(
            command, shell=True, input=content, capture_output=True, timeout=_NOTIFY_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return f"--notify {command!r} took longer than {_NOTIFY_TIMEOUT_S} s"
    if done.returncode == 0:
        return None
    words = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return f"--notify {command!r} ended with {done.returncode}{f': {words[-1]}' if words else ''}"
