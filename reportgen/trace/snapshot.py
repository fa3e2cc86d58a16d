"""Memory snapshots: what PyTorch's caching allocator held, and its history, from a file to columns.

Read are the pickle of ``torch.cuda.memory._dump_snapshot`` (``.pickle``, ``.pickle.gz``), as plain data only, and the
same structure as JSON (``memory.json.gz`` of a recording). Versions since 2.0 differ in what they record: what a file
lacks is -1 in the columns and said once in `MemoryHistory.notices`.
"""

from __future__ import annotations

import gzip
import zlib
from typing import TYPE_CHECKING, Any

import msgspec

from reportgen.errors import InputUnreadable
from reportgen.trace.memory_columns import MemoryHistory, StackFrame
from reportgen.trace.plain_pickle import PickleRefused, load_plain_pickle
from reportgen.trace.snapshot_records import SnapshotRecord
from reportgen.trace.snapshot_tables import StackCodes, build_history

if TYPE_CHECKING:
    from collections.abc import Hashable
    from pathlib import Path

# Far above any snapshot seen (24 MB), far below what a small compressed file can claim to hold.
MAX_BYTES = 4 << 30
_GZIP_MAGIC = b"\x1f\x8b"
_PICKLE_MAGIC = b"\x80"


def read_snapshot(path: Path) -> MemoryHistory:
    """Read a memory snapshot: a pickle of plain data, or JSON, compressed or not; its content decides, not its name.

    Raises `InputUnreadable` with one line where it is neither, is damaged, or holds more than data.
    """
    content = _read(path)
    if not content.startswith(_PICKLE_MAGIC) and content.lstrip()[:1] not in (b"{", b"["):
        raise InputUnreadable(f"{path}: not read, since it is neither a pickle of protocol 2 to 5 nor JSON")
    try:
        if content.startswith(_PICKLE_MAGIC):
            plain = load_plain_pickle(content)
            record = msgspec.convert(plain, SnapshotRecord[Any])
            stacks = StackCodes(_identities, _convert_frames)
        else:
            record = msgspec.json.decode(content, type=SnapshotRecord[msgspec.Raw])
            stacks = StackCodes(bytes, _decode_frames)
        return build_history(path, record, stacks)
    except PickleRefused as error:
        raise InputUnreadable(f"{path}: not read, since {error}") from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, OverflowError) as error:
        raise InputUnreadable(f"{path}: no memory snapshot of PyTorch: {error}") from error


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            compressed = file.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC
        with gzip.open(path) if compressed else path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputUnreadable(f"{path}: cannot be read: {reason}") from error
    if len(content) > MAX_BYTES:
        raise InputUnreadable(f"{path}: holds more than {MAX_BYTES >> 30} GiB, which no memory snapshot does")
    return content


def _identities(frames: Any) -> Hashable:
    """Tell stacks by the identity of their frames, which a pickle shares between them."""
    return tuple(map(id, frames)) if isinstance(frames, list) else id(frames)


def _convert_frames(frames: Any) -> list[StackFrame]:
    return msgspec.convert(frames, list[StackFrame])


def _decode_frames(frames: msgspec.Raw) -> list[StackFrame]:
    return msgspec.json.decode(frames, type=list[StackFrame])
