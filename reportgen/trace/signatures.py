"""Raw argument text to signatures and launch dimensions; each distinct text is decoded once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from reportgen.trace.columns import Signature

Shape = tuple[int, ...]

# Stands between the four texts of a signature's key: a byte that no JSON text holds.
SIGNATURE_SEPARATOR = b"\0"
NO_SIGNATURE = SIGNATURE_SEPARATOR * 3


def decode_signature(key: bytes) -> Signature:
    """Decode an operator's input dimensions, types, strides and concrete values, separated in `key`.

    A list of tensors becomes as many inputs, each with the type of the list, so that the parts stay aligned.
    """
    dims, types, strides, concrete = map(_decode_list, key.split(SIGNATURE_SEPARATOR))
    counts = [_num_inputs(entry) for entry in dims] if dims is not None else []
    shapes = None if dims is None else _shapes(dims)
    if types == [] and shapes is not None and not any(shapes):
        # The exporter of 2021 wrote one empty list per input where shapes were not recorded.
        shapes = types = None
    return Signature(
        shapes=shapes,
        types=None if types is None else tuple(_repeated(types, counts)),
        strides=None if strides is None else _shapes(strides),
        concrete=None if concrete is None else tuple(_repeated(concrete, counts)),
    )


def decode_dimensions(key: tuple[bytes, bytes]) -> tuple[Shape, Shape]:
    """Decode a kernel's grid and block; empty where one is no list of numbers."""
    grid, block = (_shape(_decode_list(text)) or () for text in key)
    return grid, block


def _decode_list(text: bytes) -> list[Any] | None:
    if not text:
        return None
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
    return value if isinstance(value, list) else None


def _shape(value: Any) -> Shape | None:
    if isinstance(value, list) and all(type(size) is int for size in value):
        return tuple(value)
    return None


def _is_nested(entry: Any) -> bool:
    return isinstance(entry, list) and bool(entry) and isinstance(entry[0], list)


def _num_inputs(entry: Any) -> int:
    return len(entry) if _is_nested(entry) else 1


def _shapes(entries: Sequence[Any]) -> tuple[Shape, ...] | None:
    flat: list[Shape] = []
    for entry in entries:
        for value in entry if _is_nested(entry) else [entry]:
            shape = _shape(value)
            if shape is None:
                return None
            flat.append(shape)
    return tuple(flat)


def _repeated(values: Sequence[Any], counts: Sequence[int]) -> Iterator[str]:
    for index, value in enumerate(values):
        text = value if isinstance(value, str) else str(value)
        for _ in range(counts[index] if index < len(counts) else 1):
            yield text
