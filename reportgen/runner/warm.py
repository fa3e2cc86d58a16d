"""A warm interpreter: it imports what children need, and forks one for each request, so that imports cost once a run.

Its child differs from a fresh interpreter in this alone: torch, and what stands in the workload's first lines, was
imported before. No device was touched, so the first step stays cold. The parent's side is in `process`.
"""

from __future__ import annotations

import ast
import contextlib
import ctypes
import errno
import mmap
import os
import socket
import sys
import threading
import traceback
from pathlib import Path
from typing import NoReturn

import msgspec

from reportgen.runner import child
from reportgen.runner.messages import ChildEnded, ChildStarted, ForkRequest

# Of other packages it is not known that they may be imported in one process and used in another.
_PRELOADED = frozenset({"torch", "transformers", "reportgen"})
_LONGEST_REQUEST = 1 << 16
_MADV_POPULATE_WRITE = 23
# What is larger is address space that was reserved, not memory that imports filled.
_LARGEST_COPY_BYTES = 1 << 30


def main(arguments: list[str]) -> None:
    """Fork children, one at a time, as asked for through the socket `arguments[0]` by the process `arguments[1]`.

    A request comes with the descriptors of the child's request, its answers and its log. Ends in order where it cannot
    fork safely: whoever asked then finds the socket closed.
    """
    control = socket.socket(fileno=int(arguments[0]))
    control.set_inheritable(False)
    if not child.end_with(int(arguments[1])):
        return
    import reportgen.runner.ceilings
    import reportgen.runner.session
    import reportgen.runner.survey  # noqa: F401 - for the children

    while True:
        received, descriptors, *_ = socket.recv_fds(control, _LONGEST_REQUEST, 3)
        if not received:
            return
        workload = msgspec.json.decode(received, type=ForkRequest).workload
        if workload is not None:
            import_first_lines(Path(workload))
        if not _may_fork():
            return
        _fork(control, descriptors)


def import_first_lines(workload: Path) -> None:
    """Import what the first lines of the module `workload` import, up to the first that does anything else.

    Nothing is left out or put in another order: the module's own run finds the same state as in a fresh interpreter.
    What cannot be imported is left for that run to say.
    """
    try:
        tree = ast.parse(workload.read_bytes(), filename=str(workload))
    except (OSError, SyntaxError, ValueError):
        return
    for statement in tree.body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue  # the docstring
        if not _is_known_import(statement, workload.parent):
            return
        try:
            exec(compile(ast.Module(body=[statement], type_ignores=[]), str(workload), "exec"), {})
        except ImportError:
            return


def _is_known_import(statement: ast.stmt, folder: Path) -> bool:
    """Say whether `statement` imports only from known packages, none of which the workload's folder shadows."""
    if isinstance(statement, ast.Import):
        modules = [alias.name for alias in statement.names]
    elif isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
        modules = [statement.module]
    else:
        return False
    packages = {module.partition(".")[0] for module in modules}
    return packages <= _PRELOADED | sys.stdlib_module_names and not any(
        (folder / package).exists() or (folder / f"{package}.py").exists() for package in packages
    )


def _may_fork() -> bool:
    """Say whether a child may use what was imported: no device in use, no thread that would be missing in it."""
    import torch

    return not torch.cuda.is_initialized() and threading.active_count() == 1


def _fork(control: socket.socket, descriptors: list[int]) -> None:
    """Fork a child for the three `descriptors` and wait for its end."""
    parent = os.getpid()
    number = os.fork()
    if number == 0:
        _be_child(control, descriptors, parent)
    for descriptor in descriptors:
        os.close(descriptor)
    _, status = os.waitpid(number, 0)
    control.send(msgspec.json.encode(ChildEnded(code=os.waitstatus_to_exitcode(status))))


def own_memory() -> None:
    """Copy now what a fork shares until it is first written: else the child's first step would pay for it."""
    library = ctypes.CDLL(None, use_errno=True)
    for line in Path("/proc/self/maps").read_text().splitlines():
        span, permissions, _, _, inode, *_ = line.split()
        start, end = (int(address, 16) for address in span.split("-"))
        if permissions != "rw-p" or end - start > _LARGEST_COPY_BYTES:
            continue
        failed = library.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), _MADV_POPULATE_WRITE)
        if failed and ctypes.get_errno() == errno.EINVAL and inode == "0":  # before Linux 5.14: a byte of each page
            for page in range(start, end, mmap.PAGESIZE):
                ctypes.memmove(page, page, 1)


def _be_child(control: socket.socket, descriptors: list[int], parent: int) -> NoReturn:
    """Work on the request as a process that was started for it would."""
    try:
        os.setsid()
        requests, answers, log = descriptors
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.close(log)
        control.send(msgspec.json.encode(ChildStarted(process=os.getpid())))
        control.close()
        with contextlib.suppress(OSError, ValueError):  # a kernel that lists its memory in another way
            own_memory()
        child.main([str(requests), str(answers), str(parent)])
    finally:  # the child ended itself where all went well; nothing may come back into what it was forked from
        traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)
