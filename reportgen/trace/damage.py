"""What was wrong with a file, counted while it is read, and said in notices."""

from __future__ import annotations

import dataclasses

from reportgen import formatting as fmt
from reportgen.trace.columns import TraceNotice
from reportgen.trace.source import SourceEnd


@dataclasses.dataclass
class Damage:
    """Counts of what was repaired, left out or lost; all zero for a well-formed file.

    The counts are of events; an event may be in several.
    """

    num_lost: int = 0  # could not be read at all; a piece of text between two events counts as one
    num_escapes: int = 0  # back-slashes that JSON does not know, as in paths of Windows
    num_quoted: int = 0  # quotes or line breaks inside a name
    num_control: int = 0  # raw control characters
    num_no_numbers: int = 0  # inf, nan, N/A instead of a number
    num_keys: int = 0  # keys that lack their opening quote
    num_encoding: int = 0  # text that is no UTF-8
    num_values_left_out: int = 0  # with values of a type that no exporter writes
    num_without_time: int = 0
    num_without_duration: int = 0
    is_list: bool = False
    is_head_damaged: bool = False  # what the object says before its events
    is_cut_off: bool = False  # the file ends inside the list of events
    source_end: SourceEnd = SourceEnd.COMPLETE

    def add(self, other: Damage) -> None:
        """Add the counts of `other`."""
        for field in dataclasses.fields(self):
            if field.name.startswith("num_"):
                setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))

    def notices(self, num_events: int, end_us: float) -> tuple[TraceNotice, ...]:
        """Say what was wrong; `num_events` were read, and the last of them ends `end_us` after the first begins."""
        found = (*self._ends(num_events, end_us), *self._losses(num_events), *self._repairs(), *self._formats())
        return tuple(found)

    def _ends(self, num_events: int, end_us: float) -> list[TraceNotice]:
        after = f"after {fmt.plural(num_events, 'event')}, {fmt.duration(end_us)} after the first began"
        if self.source_end is SourceEnd.DAMAGED:
            text = f"The file's compressed data is damaged {after}: what followed is lost."
            return [TraceNotice(code="file-damaged", text=text, count=num_events, affects_conclusions=True)]
        if self.source_end is SourceEnd.UNVERIFIED:
            end = f", and it is cut off {after}" if self.is_cut_off else ""
            text = f"The file's compressed data does not fit its checksum: what it says may be wrong in any place{end}."
            return [TraceNotice(code="file-damaged", text=text, count=num_events, affects_conclusions=True)]
        if self.is_cut_off or self.source_end is SourceEnd.CUT_OFF:
            text = f"The file is cut off {after}: what followed is lost. Was the job killed, or the copy not finished?"
            return [TraceNotice(code="file-cut-off", text=text, count=num_events, affects_conclusions=True)]
        return []

    def _losses(self, num_events: int) -> list[TraceNotice]:
        losses = (
            ("events-lost", self.num_lost, "could not be read", num_events + self.num_lost),
            ("times-missing", self.num_without_time, "without a time", num_events),
        )
        notices = []
        for code, count, what, total in losses:
            if count:
                text = f"{fmt.count(count)} of {fmt.plural(total, 'event')} {what}: left out."
                share = count / total
                notices.append(TraceNotice(code=code, text=text, count=count, share=share, affects_conclusions=True))
        if self.is_head_damaged:
            text = "What the file says of its machine and its job is damaged and left out."
            notices.append(TraceNotice(code="header-damaged", text=text))
        return notices

    def _repairs(self) -> list[TraceNotice]:
        repairs = (
            ("escapes-repaired", self.num_escapes, "single back-slashes, as in paths of Windows: taken literally"),
            ("names-repaired", self.num_quoted, "quotes or line breaks inside a name: taken literally"),
            ("control-characters", self.num_control, "control characters in its text: they are shown escaped"),
            ("numbers-missing", self.num_no_numbers, "inf, nan or N/A instead of a number: taken as missing"),
            ("quotes-restored", self.num_keys, "a key without its first quote: restored"),
            ("durations-missing", self.num_without_duration, "no duration, or a negative one: taken as moments"),
            ("values-unreadable", self.num_values_left_out, "values of an unknown kind: taken as missing"),
            ("text-not-utf8", self.num_encoding, "bytes that are no UTF-8: replaced"),
        )
        return [
            TraceNotice(
                code=code, text=f"{fmt.plural(count, 'event')} {fmt.noun(count, 'has', 'have')} {what}.", count=count
            )
            for code, count, what in repairs
            if count
        ]

    def _formats(self) -> list[TraceNotice]:
        if not self.is_list:
            return []
        text = "The file is a bare list of events, as PyTorch wrote until 2021: it says nothing of machine and job."
        return [TraceNotice(code="format-bare-list", text=text)]
