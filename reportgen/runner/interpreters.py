"""The processes that children run in: a fresh interpreter, or one forked from an interpreter that has only imported."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import BinaryIO, Protocol

import msgspec

from reportgen.runner.messages import ChildEnded, ChildStarted, ForkRequest

# The folder that holds the package goes last in the child's path: it is needed where reportgen is not installed.
_START = "import sys; sys.path.append(sys.argv[1]); from reportgen.runner.{module} import main; main(sys.argv[2:])"
_PACKAGE_ROOT = Path(__file__).resolve().parents[2]
_WORDS = msgspec.json.Decoder(ChildStarted | ChildEnded)
_LONGEST_WORD = 1 << 10


class Process(Protocol):
    """A process that was started: what `subprocess.Popen` tells of one, and no more."""

    def poll(self) -> int | None:
        """Return the code with which it ended, None while it runs."""

    def wait(self) -> int:
        """Wait for the end and return the code: negative for the signal that ended it."""

    def end_session(self) -> None:
        """End it and all that it started."""


def _end_session(process: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process, signal.SIGKILL)


def start_fresh(descriptors: tuple[int, int], output: BinaryIO) -> Process:
    """Start a fresh interpreter that works on the request in the first of `descriptors`, and answers in the second."""
    return _Fresh(descriptors, output)


class _Fresh:
    """A fresh interpreter."""

    def __init__(self, descriptors: tuple[int, int], output: BinaryIO) -> None:
        self._process = _start("child", descriptors, output)

    def poll(self) -> int | None:
        return self._process.poll()

    def wait(self) -> int:
        return self._process.wait()

    def end_session(self) -> None:
        _end_session(self._process.pid)


class WarmInterpreter:
    """An interpreter from which children are forked, one after the other; a context manager, at whose end it is gone.

    It starts with the first child. Where it cannot be had (no Linux), cannot fork safely or has come to an end, `fork`
    returns None from then on.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._is_lost = sys.platform != "linux"

    def __enter__(self) -> WarmInterpreter:
        return self

    def __exit__(self, *exception: object) -> None:
        self.lose()

    def fork(self, workload: str | None, descriptors: tuple[int, int, int]) -> Process | None:
        """Ask for a child with the imports of the module `workload`, its request, answers and log in `descriptors`."""
        if self._is_lost:
            return None
        if self._process is None:
            self._start()
        assert self._control is not None
        try:
            socket.send_fds(self._control, [msgspec.json.encode(ForkRequest(workload=workload))], descriptors)
        except OSError:
            self.lose()
            return None
        started = self.heard()
        if isinstance(started, ChildStarted):
            return _Forked(self, started.process)
        self.lose()
        return None

    def lose(self) -> None:
        """End it; there will be no other child."""
        self._is_lost = True
        if self._process is not None and self._control is not None:
            self._control.close()
            self._process.kill()
            self._process.wait()
            self._process = self._control = None

    def heard(self, timeout_s: float | None = None) -> ChildStarted | ChildEnded | None:
        """Return the next word of it, None where none comes within `timeout_s` or it has come to an end."""
        if self._control is None or not select.select([self._control], [], [], timeout_s)[0]:
            return None
        try:
            word = self._control.recv(_LONGEST_WORD)
        except OSError:
            word = b""
        if not word:
            self.lose()
            return None
        return _WORDS.decode(word)

    @property
    def is_lost(self) -> bool:
        """Whether there will be no other child."""
        return self._is_lost

    def _start(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = _start("warm", (theirs.fileno(),), subprocess.DEVNULL)
        self._control = ours


class _Forked:
    """A process forked from a warm interpreter, which tells how it ended."""

    def __init__(self, warm: WarmInterpreter, process: int) -> None:
        self._warm = warm
        self._number = process
        self._code: int | None = None

    def poll(self) -> int | None:
        return self._ended(0.0)

    def wait(self) -> int:
        code = self._ended(None)
        return code if code is not None else -signal.SIGKILL

    def end_session(self) -> None:
        _end_session(self._number)

    def _ended(self, timeout_s: float | None) -> int | None:
        if self._code is None:
            word = self._warm.heard(timeout_s)
            if isinstance(word, ChildEnded):
                self._code = word.code
            elif self._warm.is_lost:  # a child is ended with what it was forked from
                self._code = -signal.SIGKILL
        return self._code


def _start(module: str, descriptors: tuple[int, ...], output: BinaryIO | int) -> subprocess.Popen[bytes]:
    """Start an interpreter in a session of its own: `main` of runner's `module`, with `descriptors` and our number."""
    return subprocess.Popen(
        [
            sys.executable,
            "-c",
            _START.format(module=module),
            str(_PACKAGE_ROOT),
            *map(str, descriptors),
            str(os.getpid()),
        ],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        pass_fds=descriptors,
        start_new_session=True,
    )
