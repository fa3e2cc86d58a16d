"""Text of events to typed events: strictly, or field by field where a value has a type that no exporter writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import Raw

from reportgen.trace.events import AnyEvent, Args, Event, ExactEvent, Top
from reportgen.trace.times import needs_exact

Record = TypeVar("Record", bound=msgspec.Struct)

# Text that is no JSON, or JSON of another type; deeper nesting than the decoder follows.
NotDecoded = (msgspec.DecodeError, RecursionError)
_KEYS = msgspec.json.Decoder(dict[str, Raw])
_MANY = 1000
# What may stand around an event that is none of it.
BLANK = b" \t\r\n,"


class EventDecoder:
    """Decode events; from the first time on that a double cannot hold, decode times as text."""

    def __init__(self) -> None:
        self.is_exact = False
        self._fast = msgspec.json.Decoder(list[Event])
        self._exact = msgspec.json.Decoder(list[ExactEvent])

    def decode(self, *parts: bytes | memoryview) -> Sequence[AnyEvent]:
        """Decode events with commas between them, none around; the parts make up one text.

        Raises one of `NotDecoded` where anything is wrong with it.
        """
        listed = b"".join((b"[", *parts, b"]"))
        if not self.is_exact:
            events = self._fast.decode(listed)
            # The events of a file share a clock, so of many a part tells for all.
            if not needs_exact(event.ts for event in events[:: 1 if len(events) < _MANY else 16]):
                return events
            self.is_exact = True
        return self._exact.decode(listed)

    def decode_by_field(self, text: bytes) -> tuple[AnyEvent, int]:
        """Decode one event and count the values that had to be left out; raise one of `NotDecoded` for no object."""
        values = _KEYS.decode(text)
        num_left_out = 0
        if (raw := values.pop("args", None)) is not None:
            try:
                args, num_left_out = decode_fields(_KEYS.decode(raw), Args)
            except NotDecoded:
                args, num_left_out = Args(), 1
        else:
            args = Args()
        event: AnyEvent
        event, num_fields = decode_fields(values, ExactEvent) if self.is_exact else decode_fields(values, Event)
        event.args = args
        return event, num_left_out + num_fields


def decode_fields(values: Mapping[str, Raw], record_type: type[Record]) -> tuple[Record, int]:
    """Return a record of the values that have the right type, and the number of those that have not.

    Numbers that are written as text count as numbers.
    """
    decoded: dict[str, Any] = {}
    num_left_out = 0
    for field in msgspec.structs.fields(record_type):
        raw = values.get(field.encode_name)
        if raw is None:
            continue
        try:
            decoded[field.name] = raw if field.type is Raw else msgspec.json.decode(raw, type=field.type, strict=False)
        except NotDecoded:
            num_left_out += 1
    return record_type(**decoded), num_left_out


def decode_top(text: bytes) -> Top:
    """Decode what stands around the events, with `text` as a whole object; raise one of `NotDecoded` for no object."""
    return decode_fields(_KEYS.decode(text), Top)[0]
