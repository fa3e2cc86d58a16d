"""Places in code, as findings speak of them."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from reportgen import formatting as fmt

if TYPE_CHECKING:
    from reportgen.analysis.model import BudgetPart, CaseAnalysis, Source, Where


def place_of(source: Source | None) -> str:
    """Return "in `hook` (planted.py:57)", or nothing where the place is not known."""
    return fmt.code_place(source.function, source.file, source.line, source.line_kind) if source else ""


def longest_wait(case: CaseAnalysis, cause: BudgetPart) -> tuple[Where, ...]:
    """Return where the device waits longest for `cause`, in the function that costs most; nothing where none is known.

    It shows one of many waits, not all that a finding counts.
    """
    places = case.gaps.places if case.gaps else ()
    return tuple(place.where for place in places if place.cause == cause and place.where)[:1]


def are_same_function(one: Source | None, other: Source | None) -> bool:
    """Tell whether two places lie in one function.

    A trace shortens paths by the directories of ``sys.path``, the allocator's history does not: the shorter of two
    paths is the end of the longer.
    """
    if one is None or other is None or one.function != other.function:
        return False
    paths = (PurePath(one.file.replace("\\", "/")).parts, PurePath(other.file.replace("\\", "/")).parts)
    shorter, longer = sorted(paths, key=len)
    return bool(shorter) and longer[-len(shorter) :] == shorter
