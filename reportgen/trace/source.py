"""The bytes of a trace file, inflated where it is compressed, block by block.

What a file is, its first bytes tell; its name may be wrong. A compressed file that ends early or is damaged yields what
can be inflated before that place.
"""

from __future__ import annotations

import contextlib
import enum
import zlib
from collections.abc import Callable, Iterator
from io import BufferedReader
from pathlib import Path

from isal import isal_zlib
from isal.igzip_lib import IsalError

from reportgen.errors import InputUnreadable

BLOCK_BYTES = 16 << 20
_COMPRESSED_BYTES = 64 << 10
_GZIP_MAGIC = b"\x1f\x8b"
_WITH_GZIP_HEADER = 31
# What zlib says where a member was inflated to its end and its last eight bytes do not fit.
_CHECK_FAILED = ("incorrect data check", "incorrect length check")


class SourceEnd(enum.Enum):
    """How the bytes of a file ended."""

    COMPLETE = enum.auto()
    CUT_OFF = enum.auto()  # a compressed file without its end
    DAMAGED = enum.auto()  # compressed data that no compressor wrote
    UNVERIFIED = enum.auto()  # all of it inflated, and not what was compressed


class Source:
    """An open trace file; read its blocks once."""

    def __init__(self, file: BufferedReader, size_bytes: int, progress: Callable[[float], None] | None) -> None:
        self.size_bytes = size_bytes
        self.end = SourceEnd.COMPLETE
        self._file = file
        self._progress = progress

    def blocks(self) -> Iterator[bytes]:
        """Yield the text in blocks of about `BLOCK_BYTES`, telling the share of the file that has been read."""
        start = self._file.peek(len(_GZIP_MAGIC))
        blocks = self._inflated() if start.startswith(_GZIP_MAGIC) else self._plain()
        for block in blocks:
            yield block
            self._tell_progress()

    def _tell_progress(self) -> None:
        if self._progress is not None and self.size_bytes:
            self._progress(min(self._file.tell() / self.size_bytes, 1.0))

    def _plain(self) -> Iterator[bytes]:
        while block := self._file.read(BLOCK_BYTES):
            yield block

    def _inflated(self) -> Iterator[bytes]:
        parts: list[bytes] = []
        num_bytes = 0
        for part in self._inflated_parts():
            parts.append(part)
            num_bytes += len(part)
            if num_bytes >= BLOCK_BYTES:
                yield b"".join(parts)
                parts.clear()
                num_bytes = 0
        if parts:
            yield b"".join(parts)

    def _inflated_parts(self) -> Iterator[bytes]:
        """Yield what each piece of the compressed file holds; set `end` where it does not end as it should."""
        member = isal_zlib.decompressobj(wbits=_WITH_GZIP_HEADER)
        start = num_bytes = 0  # where the member begins in the file, and what was inflated of it
        pending = b""
        while pending := pending or self._file.read(_COMPRESSED_BYTES):
            if member.eof:
                # Another member may follow; padding, and whatever else stands behind the last one, does not matter.
                if not pending.startswith(_GZIP_MAGIC):
                    return
                member = isal_zlib.decompressobj(wbits=_WITH_GZIP_HEADER)
                start, num_bytes = self._file.tell() - len(pending), 0
            try:
                part = member.decompress(pending, BLOCK_BYTES)
            except IsalError:  # type: ignore[misc]  # isal ships no types
                yield self._before_damage(start, num_bytes)
                return
            num_bytes += len(part)
            yield part
            pending = member.unused_data if member.eof else member.unconsumed_tail
        if not member.eof:
            self.end = SourceEnd.CUT_OFF

    def _before_damage(self, start: int, num_bytes: int) -> bytes:
        """Return what the member at byte `start` holds from its byte `num_bytes` up to its damage; set `end`.

        It is inflated once more, by a library that can go back: a piece that fails gives nothing, so it is fed again
        byte by byte.
        """
        self._file.seek(start)
        member = zlib.decompressobj(wbits=_WITH_GZIP_HEADER)
        found = b""
        while piece := self._file.read(_COMPRESSED_BYTES):
            before = member.copy()
            try:
                text = member.decompress(piece)
            except zlib.error as error:
                self.end = SourceEnd.UNVERIFIED if str(error).endswith(_CHECK_FAILED) else SourceEnd.DAMAGED
                return (found + _byte_by_byte(before, piece))[num_bytes:]
            found, num_bytes = found[num_bytes:] + text, max(0, num_bytes - len(found))
        self.end = SourceEnd.DAMAGED
        return found[num_bytes:]


def _byte_by_byte(member: zlib._Decompress, piece: bytes) -> bytes:
    """Return what can be inflated of `piece` before the byte at which that fails."""
    found = bytearray()
    with contextlib.suppress(zlib.error):
        for byte in piece:
            found += member.decompress(bytes((byte,)))
    return bytes(found)


@contextlib.contextmanager
def open_source(path: Path, progress: Callable[[float], None] | None = None) -> Iterator[Source]:
    """Open the trace file at `path`; raise `InputUnreadable` where it cannot be opened or read, or is empty."""
    try:
        size_bytes = path.stat().st_size
        with path.open("rb") as file:
            if size_bytes == 0 and path.is_file():
                raise InputUnreadable(f"{path} is empty: the trace was not written, or not copied")
            yield Source(file, size_bytes, progress)
    except OSError as error:
        raise InputUnreadable(f"{path} cannot be read: {error.strerror or error}") from error
