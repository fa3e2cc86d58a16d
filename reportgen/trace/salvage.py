"""Events out of damaged text, one by one: what is whole is kept, what has a known fault repaired, the rest counted.

An event begins with a brace and one of the keys that events begin with. From one such place to the next the text is
decoded: many events at a time as long as all goes well, then singly, then repaired.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from reportgen.trace.damage import Damage
from reportgen.trace.decoding import BLANK, EventDecoder, NotDecoded
from reportgen.trace.events import AnyEvent
from reportgen.trace.repair import repair_event

_EVENT_START = re.compile(rb'(?:^|[\[,}])\s*(?=\{\s*"?(?:ph|name|cat|ts|pid|tid)"\s*:)')
_LIST_END = re.compile(rb'\}\s*(?=\]\s*(?:,\s*"|\}|$))')
_TOGETHER = 64
# A start inside a string, or inside a value of an event, begins no event of its own.
_MOST_FALSE_STARTS = 3
# No event of any exporter is longer; beyond, text is not searched for the end of the list, nor repaired.
LONGEST_EVENT_BYTES = 1 << 20
_MOST_LIST_ENDS = 8


class Salvage:
    """Decode the events of damaged text; whoever takes `events` empties it."""

    def __init__(self, decoder: EventDecoder, damage: Damage) -> None:
        self.events: list[AnyEvent] = []
        self._decoder = decoder
        self._damage = damage

    def take(self, text: bytes) -> int:
        """Collect the events of `text` but the last few; return where these begin, 0 where there are no more."""
        starts = _starts(text)[:-_MOST_FALSE_STARTS]
        if len(starts) < 2:
            return 0
        self._between(text, starts)
        return starts[-1]

    def finish(self, text: bytes) -> bytes | None:
        """Collect all events of the text that ends the file; return what follows their list, None where it is open."""
        starts = _starts(text)
        self._between(text, starts)
        last = text[starts[-1] :] if starts else text
        ends = list(_LIST_END.finditer(last, 0, LONGEST_EVENT_BYTES))[:_MOST_LIST_ENDS]
        for end in ends:
            if self._one(last[: end.start() + 1]):
                return last[end.end() + 1 :]
        if ends:
            self._damage.num_lost += not self._one_repaired(last[: ends[0].start() + 1])
            return last[ends[0].end() + 1 :]
        # An event that the file ends in is not lost by damage: that the file is cut off says it.
        self._damage.is_cut_off |= bool(last.strip(BLANK)) and not self._one(last)
        return None

    def _between(self, text: bytes, starts: Sequence[int]) -> None:
        """Collect the events from each start to the next; what follows the last start is left."""
        index = 0
        while index < len(starts) - 1:
            last = min(index + _TOGETHER, len(starts) - 1)
            if self._one(text[starts[index] : starts[last]]):
                index = last
            while index < last:
                index += self._first_of(text, starts[index : index + 1 + _MOST_FALSE_STARTS])

    def _first_of(self, text: bytes, starts: Sequence[int]) -> int:
        """Collect the event at the first start, and return how many starts it holds."""
        for num_starts in range(1, len(starts)):
            if self._one(text[starts[0] : starts[num_starts]]):
                return num_starts
        self._damage.num_lost += not self._one_repaired(text[starts[0] : starts[1]])
        return 1

    def _one(self, text: bytes) -> bool:
        try:
            self.events += self._decoder.decode(text.strip(BLANK))
        except NotDecoded:
            return False
        return True

    def _one_repaired(self, text: bytes) -> bool:
        if len(text) > LONGEST_EVENT_BYTES:
            return False
        attempt = Damage()
        try:
            repaired = repair_event(text.strip(BLANK), attempt)
            event, num_left_out = self._decoder.decode_by_field(repaired)
            attempt.num_values_left_out += num_left_out > 0
        except NotDecoded:
            return False
        self._damage.add(attempt)
        self.events.append(event)
        return True


def _starts(text: bytes) -> list[int]:
    starts = [match.end() for match in _EVENT_START.finditer(text)]
    if starts and text[: starts[0]].strip(BLANK):
        starts.insert(0, 0)
    return starts
