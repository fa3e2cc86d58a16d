"""The levels that a curve of memory stands on: what lasts, and what was alive before the step."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reportgen.analysis.model import Memory, MemoryCurve

_LASTING = frozenset({"parameters", "optimizer"})


@dataclasses.dataclass(frozen=True, kw_only=True)
class Levels:
    """`start_bytes` before the step; `lasting_bytes` of it are `lasting`, where all of the curve stands on them."""

    start_bytes: int
    lasting_bytes: int = 0
    lasting: str = ""


def levels_of(memory: Memory, curve: MemoryCurve) -> Levels:
    """Return the levels of a curve, whose first value is what there was when the step began."""
    start = curve.allocated_bytes[0]
    rows = [row for row in memory.at_peak or () if row.category in _LASTING and row.bytes > 0]
    lasting_bytes = sum(row.bytes for row in rows)
    if lasting_bytes > min(curve.allocated_bytes):
        return Levels(start_bytes=start)
    return Levels(start_bytes=start, lasting_bytes=lasting_bytes, lasting=" and ".join(row.category for row in rows))
