"""The bytes of a trace file, inflated where it is compressed, block by block.

What a file is, its first bytes tell; its name may be wrong. A compressed file that ends early or is damaged yields what
can be inflated before that place.
"""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Callable, Iterator
from io import BufferedReader
from pathlib import Path

from isal import isal_zlib
from isal.igzip_lib import IsalError

from reportgen.errors import InputUnreadable

BLOCK_BYTES = 16 << 20
# What is lost of the text before a damaged place is at most what so many compressed bytes hold.
_COMPRESSED_BYTES = 64 << 10
_GZIP_MAGIC = b"\x1f\x8b"
_WITH_GZIP_HEADER = 31


class SourceEnd(enum.Enum):
    """How the bytes of a file ended."""

    COMPLETE = enum.auto()
    CUT_OFF = enum.auto()  # a compressed file without its end
    DAMAGED = enum.auto()  # compressed data that no compressor wrote


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
        pending = b""
        while pending := pending or self._file.read(_COMPRESSED_BYTES):
            if member.eof:
                # Another member may follow; padding, and whatever else stands behind the last one, does not matter.
                if not pending.startswith(_GZIP_MAGIC):
                    return
                member = isal_zlib.decompressobj(wbits=_WITH_GZIP_HEADER)
            try:
                yield member.decompress(pending, BLOCK_BYTES)
            except IsalError:  # type: ignore[misc]  # isal ships no types
                self.end = SourceEnd.DAMAGED
                return
            pending = member.unused_data if member.eof else member.unconsumed_tail
        if not member.eof:
            self.end = SourceEnd.CUT_OFF


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
