"""Where one event ends and the next begins, in text that holds a part of ``traceEvents``.

The fast way guesses: a closing brace, a comma and an opening one are nearly always a border between two events. A wrong
guess leaves a brace or a quote open before it, so that the strict decoder refuses the part; then the slow way counts
braces outside of strings, which is exact for every well-formed text.
"""

from __future__ import annotations

import dataclasses
import re

import numpy as np
from numpy.typing import NDArray

from reportgen.trace.columns import Bool, Int64

_BETWEEN_EVENTS = re.compile(rb"\}\s*,\s*(?=\{)")
# Far more than an event of a trace with stacks and shapes takes.
_NEAR_THE_END_BYTES = 1 << 16

_DEPTH_CHANGE = np.zeros(256, dtype=np.int8)
_DEPTH_CHANGE[list(b"{[")] = 1
_DEPTH_CHANGE[list(b"}]")] = -1


@dataclasses.dataclass(frozen=True)
class Borders:
    """Where the events of a text end."""

    last_event_end: int  # behind the last complete event; 0 where there is none
    list_end: int | None  # where the bracket stands that closes the list of events


def guess_border(text: bytes) -> tuple[int, int] | None:
    """Return where, near the end of `text`, an event ends and where the next begins; None where no border is seen."""
    border = None
    for match in _BETWEEN_EVENTS.finditer(text, max(len(text) - _NEAR_THE_END_BYTES, 0)):
        border = match.start() + 1, match.end()
    return border


def find_borders(text: bytes) -> Borders:
    """Find the events' ends in `text`, which begins inside the list of events, between two of them."""
    characters = np.frombuffer(text, dtype=np.uint8)
    changes = _DEPTH_CHANGE[characters]
    brackets = np.flatnonzero(changes)
    brackets = brackets[~_inside_strings(brackets, _quotes(characters))]
    depth = np.cumsum(changes[brackets], dtype=np.int64)
    closed = np.flatnonzero(depth < 0)
    list_end = int(brackets[closed[0]]) if closed.size else None
    complete = brackets[(depth == 0) & (changes[brackets] < 0)]
    if list_end is not None:
        complete = complete[complete < list_end]
    return Borders(last_event_end=int(complete[-1]) + 1 if complete.size else 0, list_end=list_end)


def _quotes(characters: NDArray[np.uint8]) -> Int64:
    """Return where strings begin and end: the quotes without those that a back-slash escapes."""
    quotes = np.flatnonzero(characters == ord('"'))
    slashes = np.flatnonzero(characters == ord("\\"))
    if not slashes.size:
        return quotes
    first = np.flatnonzero(np.diff(slashes, prepend=-2) > 1)
    lengths = np.diff(np.append(first, len(slashes)))
    behind = slashes[first] + lengths
    return np.setdiff1d(quotes, behind[lengths % 2 == 1], assume_unique=True)


def _inside_strings(places: Int64, quotes: Int64) -> Bool:
    inside: Bool = np.searchsorted(quotes, places) % 2 == 1
    return inside
