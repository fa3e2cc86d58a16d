"""Names and places from outside, made safe to print: operators, shapes, code."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from pathlib import PurePath

from reportgen.formatting.numbers import NOT_RECORDED, THIN, TIMES

NAMELESS = "(no name)"

_UNPRINTABLE = frozenset({"Cc", "Cf", "Co", "Zl", "Zp"})
_JOINERS = "\u200c\u200d"  # part of words in some scripts, and of emoji
# Operators whose last two matrices are the factors of a product; a bias before them is left out.
_PRODUCTS = frozenset({"mm", "bmm", "addmm", "baddbmm", "addbmm", "matmul", "linear", "_scaled_mm"})
_NO_TENSOR = frozenset({"", "Scalar", "ScalarList"})

# How torch writes its types in traces, and what they are called in Python.
_TYPES = {
    "float": "float32", "double": "float64", "c10::Half": "float16", "c10::BFloat16": "bfloat16", "long int": "int64",
    "long": "int64", "long long": "int64", "int": "int32", "short int": "int16", "short": "int16",
    "signed char": "int8", "unsigned char": "uint8",
}  # fmt: skip


def legible(text: str, limit: int | None = None) -> str:
    """Make any text safe to print on one line: control and direction characters as escapes, lone surrogates replaced.

    An empty text reads "(no name)"; one over `limit` characters is cut in its middle.
    """
    text = " ".join(re.split(r"[ \t\r\n]+", text.encode("utf-8", "replace").decode("utf-8").strip(" \t\r\n")))
    text = shorten(text, limit)
    return shorten("".join(map(_escaped, text)), limit) or NAMELESS


def printable(text: str) -> str:
    """Make a text of several lines safe to print: what a terminal would act on, and half a character, as escapes."""
    whole = re.sub("[\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text)
    return "\n".join("".join(map(_escaped, line)) for line in whole.split("\n"))


def command_line(text: str) -> str:
    """Make a command safe to show and to copy into a terminal: its spaces as they are, all on one line."""
    return printable(text).replace("\n", "\\u000a")


def _escaped(character: str) -> str:
    printable = unicodedata.category(character) not in _UNPRINTABLE or character in _JOINERS
    return character if printable else f"\\u{ord(character):04x}"


def shorten(text: str, limit: int | None = 24) -> str:
    """Cut `text` in its middle to `limit` characters, so that its beginning and its end can still be read."""
    if limit is None or len(text) <= limit:
        return text
    tail = (limit - 1) // 2
    return f"{text[: limit - 1 - tail]}…{text[len(text) - tail :]}"


def operator_name(name: str, limit: int | None = None) -> str:
    """Write an operator as tables do: without the `aten::` that nearly all of them carry."""
    return legible(name.removeprefix("aten::"), limit)


def _dimensions(shape: Sequence[int]) -> str:
    # Dimensions up to 9999 are read as names (3072), longer ones need their thousands apart.
    if not shape:
        return "scalar"
    text = TIMES.join(f"{size:,}".replace(",", THIN) if abs(size) >= 10_000 else str(size) for size in shape)
    return f"[{text}]" if len(shape) == 1 else text


def shapes(
    input_shapes: Sequence[Sequence[int]] | None,
    input_types: Sequence[str] | None = None,
    name: str = "",
    limit: int | None = 3,
) -> str:
    """Write the shapes of an operator's inputs: "512×768 · 768×50 257" for a product, "3 × 1×12×512×64", "[0], 2×3".

    Inputs that are no tensors are left out (their type is empty or "Scalar"), the bias of a product too. After `limit`
    different shapes in a row the rest is counted.
    """
    if input_shapes is None:
        return NOT_RECORDED
    types = (*(input_types or ()), *[""] * len(input_shapes))
    tensors = [
        tuple(shape) for shape, kind in zip(input_shapes, types, strict=False) if shape or kind not in _NO_TENSOR
    ]
    if not tensors:
        return "no tensors"
    if name.removeprefix("aten::") in _PRODUCTS:
        factors = [shape for shape in tensors if len(shape) > 1][-2:]
        if len(factors) == 2:
            return " · ".join(_dimensions(shape) for shape in factors)
    groups: list[tuple[tuple[int, ...], int]] = []
    for shape in tensors:
        if groups and groups[-1][0] == shape:
            groups[-1] = (shape, groups[-1][1] + 1)
        else:
            groups.append((shape, 1))
    texts = [f"{times} {TIMES} {_dimensions(shape)}" if times > 1 else _dimensions(shape) for shape, times in groups]
    if limit is not None and len(texts) > limit:
        texts = [*texts[: limit - 1], f"{len(texts) - limit + 1} more"]
    return ", ".join(texts)


def data_types(input_types: Sequence[str] | None) -> str:
    """Write the types of an operator's tensors, equal ones in a row once: "bfloat16", "float32, bfloat16"."""
    names: list[str] = []
    for kind in input_types or ():
        name = _TYPES.get(kind, legible(kind, 24).removeprefix("c10::"))
        if kind not in _NO_TENSOR and names[-1:] != [name]:
            names.append(name)
    return ", ".join(names) or NOT_RECORDED


def strides(input_strides: Sequence[Sequence[int]] | None) -> str:
    """Write the strides of an operator's tensors: "strides 1×4096 · 1024×1"."""
    if input_strides is None:
        return NOT_RECORDED
    return f"strides {' · '.join(TIMES.join(map(str, stride)) for stride in input_strides if stride)}"


def code_place(function: str, file: str, line: int, line_kind: str) -> str:
    """Write where something happens: "in `hook` (planted.py:57)", "at planted.py:58 in `hook`" where the line is known.

    The line of a `def` never reads as the line that acts.
    """
    name = legible(PurePath(file.replace("\\", "/")).name, 40)
    if line_kind == "call":
        return f"at {name}:{line} in `{legible(function, 40)}`"
    return f"in `{legible(function, 40)}` ({name}:{line})"
