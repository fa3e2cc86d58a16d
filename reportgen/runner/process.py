"""The parent's side of a child process: starting it, hearing it out, ending it.

A child is an interpreter in a session of its own, fresh or forked from one that has only imported (`warm`), with
nothing on its input and its output, C code's included, in a log file. It reads its request from one pipe and answers
on another. The request's pipe stays open as long as the parent lives: at its end the child knows that the parent is
gone, and ends its whole session.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from reportgen.runner.interpreters import Process, WarmInterpreter, start_fresh
from reportgen.runner.messages import AlternativeRequest, CaseRequest, Message, Request

_POLL_S = 0.2
_DECODER = msgspec.json.Decoder(Message)


class TimedOut(Exception):
    """The child was still at work when its time was used up; it has been ended."""


class Child:
    """A child process that works on one request; a context manager, at whose end the process is gone.

    It is forked from `warm` where that is given and can, with the imports of the request's workload made; else it is a
    fresh interpreter.
    """

    def __init__(self, request: Request, log: Path, warm: WarmInterpreter | None = None) -> None:
        request_read, request_write = os.pipe()
        answer_read, answer_write = os.pipe()
        self._request = os.fdopen(request_write, "wb", buffering=0)
        self._answers = os.fdopen(answer_read, "rb", buffering=0)
        descriptors = (request_read, answer_write)
        try:
            with log.open("ab") as output:
                forked = warm and warm.fork(_imports_of(request), (*descriptors, output.fileno()))
                self._process: Process = forked or start_fresh(descriptors, output)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        # A child that died already has closed its end; what became of it shows when it is heard out.
        with contextlib.suppress(BrokenPipeError):
            self._request.write(msgspec.json.encode(request) + b"\n")

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *exception: object) -> None:
        self.end()

    def messages(self, timeout_s: float | None = None) -> Iterator[Message]:
        """Yield what the child says until it ends; end it and raise `TimedOut` after `timeout_s`."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        pending = b""
        with selectors.DefaultSelector() as selector:
            selector.register(self._answers, selectors.EVENT_READ)
            while True:
                if deadline is not None and time.monotonic() > deadline:
                    self.end()
                    raise TimedOut
                # A process forked by the child may hold the pipe open after the child's end, so both are watched.
                ended = self._process.poll() is not None
                if selector.select(0 if ended else _POLL_S):
                    piece = self._answers.read(1 << 20)
                    if not piece:
                        return
                    *lines, pending = (pending + piece).split(b"\n")
                    yield from (_DECODER.decode(line) for line in lines)
                elif ended:
                    return

    def verdict(self) -> str | None:
        """Wait for the end and say in a few words how the child came by it; None where it ended in order."""
        code = self._process.wait()
        if code == 0:
            return None
        if code > 0:
            return f"its process ended itself with exit code {code}"
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        hint = "; the machine may have run out of memory" if -code == signal.SIGKILL else ""
        return f"its process was ended by {name}{hint}"

    def end(self) -> None:
        """End the child and all that it started, what it left behind when it ended itself included."""
        if not self._answers.closed:  # once: later its number may be another's
            self._process.end_session()
        self._process.wait()
        self._request.close()
        self._answers.close()


def _imports_of(request: Request) -> str | None:
    """Return the module whose imports `request` needs, None where it only looks at the machine."""
    return request.workload if isinstance(request, CaseRequest | AlternativeRequest) else None
