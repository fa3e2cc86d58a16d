"""What a fix changes of a step, as plain values: said by findings, understood by the replay of a case."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    from reportgen.analysis.model import Operator, Source
    from reportgen.trace.columns import Signature

ChangeKind = Literal[
    "remove-syncs",
    "remove-stall",
    "prefetch-input",
    "keep-memory",
    "build-once",
    "launch-as-graph",
    "hide-copies",
    "pin-copies",
    "scale-operators",
    "drop-operators",
    "fuse-operators",
    "fuse-optimizer",
]


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A change of the step: what is done (`kind`), and to what.

    `place` is a `place_key`: the function whose waits, stalls or copies go; None means all of them. `operators` are
    `operator_key`s with the share (0..1) of their device time that is left; the share counts for "scale-operators" and
    "fuse-operators" alone. `is_limit` says that the change is the most that the fix can hope for, as an operator at its
    roof is; what it gives is then no promise.
    """

    kind: ChangeKind
    place: str | None = None
    operators: dict[str, float] = {}
    is_limit: bool = False


def place_key(source: Source | None, *names: str | None) -> str:
    """Name a function of the user's, else what was called: the call, and the operator around it."""
    if source is not None:
        return f"{source.file}:{source.function}"
    return "|".join(name or "" for name in names)


def operator_key(row: Operator) -> str:
    """Name an operator at its signature, shortly and alike in every report of the same step."""
    return _key(row.name, row.input_shapes, row.input_types, row.input_strides, row.input_values, row.direction)


def group_key(name: str, signature: Signature | None, direction: str | None) -> str:
    """Name a group of operators as `operator_key` names its row."""
    if signature is None:
        return _key(name, None, None, None, None, direction)
    return _key(name, signature.shapes, signature.types, signature.strides, signature.concrete, direction)


def _key(name: str, *parts: object) -> str:
    return f"{name}#{hashlib.blake2b(repr(parts).encode(), digest_size=5).hexdigest()}"
