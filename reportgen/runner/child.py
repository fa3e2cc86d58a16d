"""The child process: one request, its answers on a pipe, and an end when the parent's end comes."""

from __future__ import annotations

import atexit
import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import BinaryIO, NoReturn

import msgspec

from reportgen.runner.messages import CaseRequest, CeilingsMeasured, CeilingsRequest, Message, Request, SurveyRequest

_PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> None:
    """Answer the request that comes through descriptor `arguments[0]` on descriptor `arguments[1]`.

    `arguments[2]` is the parent's process id: this process ends when that one does, however that comes.
    """
    request_descriptor, answer_descriptor, parent = map(int, arguments)
    if not end_with(parent):
        return
    for descriptor in (request_descriptor, answer_descriptor):
        os.set_inheritable(descriptor, False)
    requests = os.fdopen(request_descriptor, "rb", buffering=0)
    request: Request = msgspec.json.decode(requests.readline(), type=Request)
    if sys.platform != "linux":  # where the system does it no thread should: its frame would be in every trace
        threading.Thread(target=_watch, args=(requests,), name="reportgen-watch", daemon=True).start()
    answers = os.fdopen(answer_descriptor, "wb", buffering=0)
    _answer(request, lambda message: _send(answers, message))
    _leave()


def end_with(parent: int) -> bool:
    """See to it that this process ends when the process `parent` does; False where that one ended already."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    return os.getppid() == parent  # not where it ended before that was asked for


def _answer(request: Request, say: Callable[[Message], None]) -> None:
    # Imported here, because this is where torch comes in.
    if isinstance(request, SurveyRequest):
        from reportgen.runner.survey import survey

        say(survey(request))
    elif isinstance(request, CaseRequest):
        from reportgen.runner.session import Session

        Session(request, say).run()
    elif isinstance(request, CeilingsRequest):
        import torch

        from reportgen.runner.ceilings import measure_ceilings

        say(CeilingsMeasured(ceilings=measure_ceilings(torch.device(request.device))))
    else:
        from reportgen.runner.alternatives.session import try_alternative

        say(try_alternative(request))


def _leave() -> NoReturn:
    """End in order, but without taking the interpreter apart: with torch and transformers loaded that takes seconds."""
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    ctypes.CDLL(None).fflush(None)
    os._exit(0)


def _watch(requests: BinaryIO) -> None:
    """Wait for the end of the request's pipe, which is the parent's end, and end the whole session with it."""
    requests.read()
    os.killpg(os.getpgrp(), signal.SIGKILL)


def _send(answers: BinaryIO, message: Message) -> None:
    # One write a message: what came through is whole.
    answers.write(msgspec.json.encode(message) + b"\n")
