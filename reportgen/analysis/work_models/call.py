"""One operator call as a trace records it: tensors with shape, type and strides, and scalars as text."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import msgspec

Shape = tuple[int, ...]

# Bytes of an element by the names that torch's profiler writes. C++ spells 64-bit integers "long" or "long int".
ITEM_BYTES: dict[str, int] = {
    "double": 8,
    "float": 4,
    "c10::Half": 2,
    "c10::BFloat16": 2,
    "c10::Float8_e4m3fn": 1,
    "c10::Float8_e5m2": 1,
    "c10::Float8_e4m3fnuz": 1,
    "c10::Float8_e5m2fnuz": 1,
    "c10::complex<float>": 8,
    "c10::complex<double>": 16,
    "long int": 8,
    "long": 8,
    "long long": 8,
    "int": 4,
    "short int": 2,
    "short": 2,
    "signed char": 1,
    "unsigned char": 1,
    "bool": 1,
}
FLOATING = frozenset(name for name in ITEM_BYTES if name in {"double", "float"} or name.startswith("c10::"))
TENSOR_LIST = "TensorList"


class Work(NamedTuple):
    """What one call must do: floating-point operations, and the bytes it must at least move.

    "Least" means that every distinct element of an input is read once and every element of an output written once.
    `None` is unknown: the trace does not record what the formula needs.
    """

    flops: float | None
    bytes: float | None


UNKNOWN = Work(None, None)


@dataclasses.dataclass(frozen=True)
class Tensor:
    """An input: its sizes, its element type as the profiler names it, its strides in elements (None: contiguous)."""

    shape: Shape
    type: str | None
    strides: Shape | None = None

    @property
    def numel(self) -> int:
        """Return the number of elements."""
        return math.prod(self.shape)

    @property
    def item_bytes(self) -> int | None:
        """Return the size of an element, None where the type is not known."""
        return ITEM_BYTES.get(self.type or "")

    @property
    def bytes(self) -> float | None:
        """Return the bytes of the distinct elements: a dimension of stride 0 (an expanded one) is stored once."""
        strides = self.strides or ()
        if len(strides) != len(self.shape):
            strides = (1,) * len(self.shape)
        distinct = math.prod(size for size, stride in zip(self.shape, strides, strict=True) if stride != 0)
        return None if self.item_bytes is None else float(distinct * self.item_bytes)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Call:
    """An operator's recorded inputs, all parallel. A list of tensors is as many inputs of type "TensorList".

    The profiler does not record the element type of tensors in a list: `list_type` stands in for it, the type in
    which the case does most of its work (None: unknown).
    """

    name: str
    shapes: tuple[Shape, ...]
    types: tuple[str, ...] | None = None
    strides: tuple[Shape, ...] | None = None
    values: tuple[str, ...] | None = None
    list_type: str | None = None

    def tensor(self, index: int) -> Tensor | None:
        """Return input `index` where it is a tensor, None for scalars and for what was not given."""
        if index >= len(self.shapes):
            return None
        shape, kind = self.shapes[index], (self.types[index] if self.types and index < len(self.types) else None)
        if kind == TENSOR_LIST:
            kind = self.list_type
            if not shape:  # an empty list, or one too long for the profiler to write
                return None
        elif (self.types and kind not in ITEM_BYTES) or (not self.types and not shape):
            return None
        strides = self.strides[index] if self.strides and index < len(self.strides) else None
        return Tensor(shape, kind, strides)

    @cached_property
    def tensors(self) -> tuple[Tensor, ...]:
        """Return all inputs that are tensors and hold something (an `out` not yet sized has no elements)."""
        found = (self.tensor(index) for index in range(len(self.shapes)))
        return tuple(tensor for tensor in found if tensor is not None and tensor.numel)

    def value(self, index: int) -> str | None:
        """Return the scalar `index` as text, None where it was not recorded."""
        values = self.values or ()
        return values[index] or None if -len(values) <= index < len(values) else None

    def integers(self, index: int) -> Shape | None:
        """Return a list of whole numbers, such as a convolution's stride."""
        try:
            return msgspec.json.decode(self.value(index) or "", type=tuple[int, ...])
        except msgspec.DecodeError:
            return None

    def integer(self, index: int) -> int | None:
        """Return a whole number."""
        text = self.value(index) or ""
        return int(text) if text.lstrip("-").isdecimal() else None

    def truth(self, index: int) -> bool | None:
        """Return a flag."""
        return {"True": True, "False": False}.get(self.value(index) or "")


WorkModel = Callable[[Call], Work]


def total_bytes(*parts: float | None) -> float | None:
    """Add sizes; unknown where one is."""
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def size_bytes(shape: Shape, type_name: str | None) -> float | None:
    """Return the bytes of a tensor that is written whole."""
    item = ITEM_BYTES.get(type_name or "")
    return None if item is None else float(math.prod(shape) * item)


def broadcast(*shapes: Shape) -> Shape | None:
    """Return the shape that `shapes` are expanded to together, None where they do not fit."""
    rank = max((len(shape) for shape in shapes), default=0)
    result = []
    for position in range(-rank, 0):
        sizes = {shape[position] for shape in shapes if len(shape) >= -position} - {1}
        if len(sizes) > 1:
            return None
        result.append(sizes.pop() if sizes else 1)
    return tuple(result)
