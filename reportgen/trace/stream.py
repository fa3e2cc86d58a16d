"""The events of a file, piece by piece: from the blocks of its text to batches of typed events.

A piece ends between two events, near the end of a block. Well-formed text takes the fast way: a guessed border, one
strict decoding. Where that fails the borders are searched for, and what then still fails is salvaged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from reportgen.trace import envelope
from reportgen.trace.borders import Borders, find_borders, guess_border
from reportgen.trace.damage import Damage
from reportgen.trace.decoding import BLANK, EventDecoder, NotDecoded
from reportgen.trace.events import AnyEvent, Top
from reportgen.trace.salvage import LONGEST_EVENT_BYTES, Salvage
from reportgen.trace.source import BLOCK_BYTES

# Text in which no border is found for so long holds no events.
_LONGEST_BYTES = 4 * BLOCK_BYTES

Consumer = Callable[[Sequence[AnyEvent]], None]


class EventStream:
    """Read a file's text from its first byte to its last."""

    def __init__(self, blocks: Iterator[bytes], damage: Damage, consume: Consumer) -> None:
        self.top = Top()
        self.layout: Literal["object", "list"] = "object"
        self._blocks = blocks
        self._damage = damage
        self._consume = consume
        self._decoder = EventDecoder()
        self._salvage = Salvage(self._decoder, damage)
        self._tail: bytes | None = None

    def read(self) -> None:
        """Consume all events; raise `NoTraceError` where the text has none to come."""
        head = envelope.read_head(self._blocks, self._damage)
        self.layout, self.top = head.layout, head.top
        rest = head.rest.lstrip()
        for block in self._blocks:
            rest = self._take(rest, block)
            if self._tail is not None:
                break
        else:
            self._finish(rest)
        self._damage.is_list = self.layout == "list"
        if self.layout == "object":
            self._read_tail()

    def _take(self, rest: bytes, block: bytes) -> bytes:
        """Consume the events of the `rest` of the last piece and of a block; return what is left for the next piece."""
        border = guess_border(block)
        if border is not None and self._decoded(rest, memoryview(block)[: border[0]]):
            return block[border[1] :]
        text = rest + block
        borders = find_borders(text)
        if _is_list_end(text, borders):
            if self._decoded(text[: borders.list_end]):
                return self._end_list(text, borders)
        else:
            complete, begun = text[: borders.last_event_end], text[borders.last_event_end :].lstrip(BLANK)
            # More than an event without a border is damage, such as a quote that hides all borders behind it.
            if len(begun) <= LONGEST_EVENT_BYTES and self._decoded(complete):
                return begun
        return self._salvaged(text)

    def _salvaged(self, text: bytes) -> bytes:
        at = self._salvage.take(text)
        self._consume_salvaged()
        if not at and len(text) > _LONGEST_BYTES:
            self._damage.num_lost += 1
            return b""
        return text[at:]

    def _finish(self, text: bytes) -> None:
        """Consume the events of the text that ends the file."""
        borders = find_borders(text)
        if _is_list_end(text, borders):
            if self._decoded(text[: borders.list_end]):
                self._end_list(text, borders)
                return
        elif self._decoded(text[: borders.last_event_end]):
            text = text[borders.last_event_end :]
        if text.strip(BLANK):
            self._tail = self._salvage.finish(text)
            self._consume_salvaged()
        # A list without its bracket is legal where the list is all there is; an object without it is cut off.
        self._damage.is_cut_off |= self._tail is None and self.layout == "object"

    def _end_list(self, text: bytes, borders: Borders) -> bytes:
        end = 0 if borders.list_end is None else borders.list_end
        self._tail = text[end + 1 :]
        return b""

    def _read_tail(self) -> None:
        tail = self._tail
        if tail is None:
            return
        for block in self._blocks:
            tail += block
            if len(tail) > envelope.LONGEST_BYTES:
                break
        self.top = envelope.merged(self.top, envelope.read_tail(tail, self._damage))

    def _decoded(self, *parts: bytes | memoryview) -> bool:
        try:
            events = self._decoder.decode(*parts)
        except NotDecoded:
            return False
        self._consume(events)
        return True

    def _consume_salvaged(self) -> None:
        self._consume(self._salvage.events)
        self._salvage.events.clear()


def _is_list_end(text: bytes, borders: Borders) -> bool:
    return borders.list_end is not None and text[borders.list_end : borders.list_end + 1] == b"]"
