"""The child process: one request, its answers on a pipe, and an end when the parent's end comes."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import BinaryIO

import msgspec

from reportgen.runner.messages import CaseRequest, Message, Request, SurveyRequest

_PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> None:
    """Answer the request that comes through descriptor `arguments[0]` on descriptor `arguments[1]`.

    `arguments[2]` is the parent's process id.
    """
    request_descriptor, answer_descriptor, parent = map(int, arguments)
    _die_with(parent)
    for descriptor in (request_descriptor, answer_descriptor):
        os.set_inheritable(descriptor, False)
    requests = os.fdopen(request_descriptor, "rb", buffering=0)
    request: Request = msgspec.json.decode(_read_line(requests), type=Request)
    threading.Thread(target=_watch, args=(requests,), name="reportgen-watch", daemon=True).start()
    answers = os.fdopen(answer_descriptor, "wb", buffering=0)
    _answer(request, lambda message: _send(answers, message))


def _answer(request: Request, say: Callable[[Message], None]) -> None:
    # Imported here, because this is where torch comes in.
    if isinstance(request, SurveyRequest):
        from reportgen.runner.survey import survey

        say(survey(request))
    elif isinstance(request, CaseRequest):
        from reportgen.runner.session import Session

        Session(request, say).run()


def _die_with(parent: int) -> None:
    """Have the system end this process when its parent ends, however that ends."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    # The parent may have ended before that was asked for.
    if os.getppid() != parent:
        os._exit(1)


def _watch(requests: BinaryIO) -> None:
    """Wait for the end of the request's pipe, which is the parent's end, and end the whole session with it.

    The only way where the system has no parent-death signal; elsewhere it also reaches what this process started.
    """
    requests.read()
    os.killpg(os.getpgrp(), signal.SIGKILL)


def _read_line(requests: BinaryIO) -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        piece = requests.read(1 << 16)
        if not piece:
            os._exit(1)
        line += piece
    return line


def _send(answers: BinaryIO, message: Message) -> None:
    # One write a message: what came through is whole.
    answers.write(msgspec.json.encode(message) + b"\n")
