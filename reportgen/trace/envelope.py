"""What stands around the events of a trace file: the object that holds them, or nothing but a list's brackets."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterator
from typing import Literal

from reportgen.trace.damage import Damage
from reportgen.trace.decoding import NotDecoded, decode_top
from reportgen.trace.events import Top
from reportgen.trace.repair import repair_event

_EVENTS_KEY = re.compile(rb'"traceEvents"\s*:\s*\[')
# The key may also stand inside a text before the events, though hardly more often than this.
_MOST_KEYS = 16
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# Exporters write a few kilobytes around the events.
LONGEST_BYTES = 64 << 20


class NoTraceError(ValueError):
    """Text that is no trace; the message completes "it is no PyTorch trace: …"."""


@dataclasses.dataclass(frozen=True)
class Head:
    """What stands before the events."""

    layout: Literal["object", "list"]
    top: Top
    rest: bytes  # the text behind the bracket that opens the list of events, as far as it has been read


def read_head(blocks: Iterator[bytes], damage: Damage) -> Head:
    """Read up to the first event; raise `NoTraceError` where the text has no events to come."""
    text = b""
    for block in blocks:
        text += block
        start = text[:4].removeprefix(_BYTE_ORDER_MARK) + text[4:64]
        if start.lstrip().startswith(b"["):
            return Head("list", Top(), text[text.index(b"[") + 1 :])
        if start.strip() and not start.lstrip().startswith(b"{"):
            raise NoTraceError("it is no JSON")
        head = _object_head(text, damage)
        if head is not None:
            return head
        if len(text) > LONGEST_BYTES:
            break
    raise NoTraceError("it has no traceEvents" if text.strip() else "it holds nothing")


def _object_head(text: bytes, damage: Damage) -> Head | None:
    # The text before the events, closed, is an object only if the key in front of them is the object's own.
    closed = {}
    for key in itertools.islice(_EVENTS_KEY.finditer(text), _MOST_KEYS):
        closed[key.end()] = text[: key.end()].removeprefix(_BYTE_ORDER_MARK) + b"]}"
        try:
            return Head("object", decode_top(closed[key.end()]), text[key.end() :])
        except NotDecoded:
            continue
    for end, before in closed.items():
        return Head("object", _repaired_top(before, damage), text[end:])
    return None


def read_tail(text: bytes, damage: Damage) -> Top:
    """Read what stands behind the list of events, up to the object's closing brace."""
    text = b'{"":0' + text.rstrip(b" \t\r\n\x00")
    for candidate in (text, text + b"}"):
        try:
            return decode_top(candidate)
        except NotDecoded:
            continue
    return _repaired_top(text, damage)


def merged(first: Top, second: Top) -> Top:
    """Return what either says; what both say is taken from the first."""
    return Top(
        **{
            name: getattr(second, name) if getattr(first, name) is None else getattr(first, name)
            for name in Top.__struct_fields__
        }
    )


def _repaired_top(text: bytes, damage: Damage) -> Top:
    attempt = Damage()
    try:
        top = decode_top(repair_event(text, attempt))
    except NotDecoded:
        damage.is_head_damaged = True
        return Top()
    damage.add(attempt)
    return top
