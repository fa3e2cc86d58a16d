"""Trace files to linked traces."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec

from reportgen.errors import InputUnreadable
from reportgen.trace.assembly import assemble
from reportgen.trace.columns import Trace
from reportgen.trace.events import Event, Top
from reportgen.trace.header import describe
from reportgen.trace.linking import link
from reportgen.trace.tables import TableBuilder


class _Whole(msgspec.Struct):
    traceEvents: list[Event]  # noqa: N815


def read_trace(path: Path, *, progress: Callable[[float], None] | None = None) -> Trace:
    """Read the trace file `path` (``.json`` or ``.json.gz``) and link it.

    `progress` is called with the share (0..1) of the file that has been read. Raises `InputUnreadable` where the file
    yields nothing.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputUnreadable(f"{path} cannot be read: {error.strerror}") from error
    size = len(content)
    if content[:2] == b"\x1f\x8b":
        content = gzip.decompress(content)
    layout: Literal["object", "list"] = "list" if content.lstrip()[:1] == b"[" else "object"
    try:
        if layout == "list":
            events, top = msgspec.json.decode(content, type=list[Event]), Top()
        else:
            events = msgspec.json.decode(content, type=_Whole).traceEvents
            top = msgspec.json.decode(content, type=Top)
    except msgspec.DecodeError as error:
        raise InputUnreadable(f"{path} is no PyTorch trace: {error}") from error
    builder = TableBuilder()
    builder.add(events)
    if progress is not None:
        progress(1.0)
    return link(assemble(builder, describe(top, path, size, layout), notices=()))
