"""Pickles of plain data: numbers, text, lists and dictionaries; anything else is refused before it is loaded.

A pickle is a program. This module admits only the instructions that build plain data, reads the whole program before
the first of them runs, and then loads it with an unpickler that finds no class and no function even if it is asked to.
What the check rules out, instruction by instruction: code (`_CODE`); lengths beyond the end of the file and memo
numbers that no pickle of that size needs, both of which make the loader allocate what the file does not hold; tuples of
other than numbers, since hashing tuples that are nested deep enough overflows the stack.
"""

from __future__ import annotations

import io
import pickle
import pickletools
import re
from typing import NoReturn

_PROTOCOLS = range(2, 6)
# Instructions that name, build or call an object of a class, or ask somebody else for one.
_CODE = frozenset(
    {
        "GLOBAL", "STACK_GLOBAL", "INST", "OBJ", "NEWOBJ", "NEWOBJ_EX", "REDUCE", "BUILD", "PERSID", "BINPERSID",
        "EXT1", "EXT2", "EXT4", "NEXT_BUFFER", "READONLY_BUFFER",
    }
)  # fmt: skip
_NAMES = {ord(opcode.code): opcode.name for opcode in pickletools.opcodes}
# Instructions with a length, and the bytes that the length takes: text, integers of any size, and bytes.
_LENGTH_BYTES = {
    "SHORT_BINUNICODE": 1, "BINUNICODE": 4, "BINUNICODE8": 8, "LONG1": 1, "LONG4": 4,
    "SHORT_BINBYTES": 1, "BINBYTES": 4, "BINBYTES8": 8,
}  # fmt: skip
# The bytes of the instructions of fixed length that may stand in plain data.
_FIXED_LENGTH = {
    "BININT1": 2, "BININT2": 3, "BININT": 5, "BINFLOAT": 9, "BINGET": 2, "LONG_BINGET": 5, "BINPUT": 2,
    "LONG_BINPUT": 5, "FRAME": 9,
}  # fmt: skip
_LONGEST_INTEGER = 64


class PickleRefused(ValueError):
    """A pickle that is damaged or holds more than plain data."""


def load_plain_pickle(data: bytes) -> object:
    """Return the plain data that a pickle of protocol 2 to 5 holds; raise `PickleRefused` for any other pickle."""
    _check(data)
    try:
        return _PlainUnpickler(io.BytesIO(data)).load()
    except PickleRefused:
        raise
    except (pickle.UnpicklingError, EOFError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise PickleRefused(f"it is damaged: {error}") from error
    except (MemoryError, RecursionError) as error:
        raise PickleRefused("it is larger than this machine's memory") from error


class _PlainUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> NoReturn:
        raise PickleRefused(f"it names {module}.{name}, and a snapshot names no class or function")

    def persistent_load(self, _pid: object) -> NoReturn:
        raise PickleRefused("it refers to data outside the file")


def _check(data: bytes) -> None:
    """Read every instruction of a pickle without running any."""
    if len(data) < 2 or data[0] != pickle.PROTO[0] or data[1] not in _PROTOCOLS:
        raise PickleRefused("it is no pickle of protocol 2 to 5")
    plain = _plain_instructions(len(data))
    at = 2
    while True:
        # One match runs over hundreds of instructions; what stops it is the end, a length, or something to refuse.
        at = plain.match(data, at).end()  # type: ignore[union-attr]  # it matches the empty text
        if at >= len(data):
            raise PickleRefused("it is cut off")
        name = _NAMES.get(data[at], "")
        if name == "STOP":
            return
        at = _end_of_counted(data, at, name)


def _end_of_counted(data: bytes, at: int, name: str) -> int:
    """Return where the instruction with a length ends that begins at `at`."""
    if name in _CODE:
        raise PickleRefused("it would run code, and a snapshot is data only")
    width = _LENGTH_BYTES.get(name)
    # Only an instruction that lacks some of its bytes is left here by the pattern for those of fixed length.
    if name in _FIXED_LENGTH and at + _FIXED_LENGTH[name] > len(data):
        raise PickleRefused("it is cut off")
    if width is None:
        raise PickleRefused(f"it holds more than plain data ({name or 'an unknown instruction'} at byte {at})")
    length = int.from_bytes(data[at + 1 : at + 1 + width], "little")
    if name.startswith("LONG") and length > _LONGEST_INTEGER:
        raise PickleRefused(f"it holds an integer of {length} bytes")
    end = at + 1 + width + length
    if end > len(data):
        raise PickleRefused("it is cut off")
    return end


def _plain_instructions(size: int) -> re.Pattern[bytes]:
    """Return a pattern for the instructions of fixed length that plain data is made of, in a pickle of `size` bytes."""
    number = rb"(?:K.|M..|J....)"
    return re.compile(
        rb"(?:[N\x88\x89})\](easu\x94]"  # None, True, False, empty containers, marks, items, memoize
        rb"|[hq].|j....|r" + _memo_number(size) + rb"|G.{8}|\x95.{8}"  # memo, float, frame
        rb"|" + number + rb"{1,3}[\x85-\x87]|" + number + rb")*+",  # a tuple of numbers, a number
        re.DOTALL,
    )


def _memo_number(size: int) -> bytes:
    """Return a pattern for a memo number of four bytes, little-endian, that is hardly larger than `size`.

    The loader makes room for all numbers up to the one that is written, and each takes at least a byte of the pickle.
    """
    if size < 1 << 24:
        return rb"..[\x00-" + re.escape(bytes([size >> 16])) + rb"]\x00"
    return rb"...[\x00-" + re.escape(bytes([min(size >> 24, 255)])) + rb"]"
