"""What moved inside a case: by operator, by operator and shape, by kernel, by function."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from reportgen import formatting as fmt
from reportgen.analysis.model import CaseAnalysis, Operator
from reportgen.history.model import Basis, Moved, MovedKind

# Rows of each kind that are kept, those that moved most first.
MOST_ROWS = 12
# A row has moved when its count has (by half a call a step), or its time: device time by 2 % of itself and 0.1 % of
# the whole, host time, which no two runs share, by a quarter of itself and 2 % of the whole.
_CALLS = 0.5
_LIMITS: dict[Basis, tuple[float, float]] = {"device": (0.02, 0.001), "host": (0.25, 0.02)}

Key = tuple[str, str | None]


class _Amount(NamedTuple):
    us: float
    calls: float | None


def moved(base: CaseAnalysis, new: CaseAnalysis) -> tuple[Moved, ...]:
    """Return the rows that moved between two analyses of a case, each kind with the largest change first.

    Times are of the device where both have one, followed by those of the host, else of the host alone.
    """
    if on_the_device(base, new):
        return (*_moved_in(base, new, "device"), *_moved_in(base, new, "host"))
    return tuple(_moved_in(base, new, "host"))


def _moved_in(base: CaseAnalysis, new: CaseAnalysis, basis: Basis) -> list[Moved]:
    tables: tuple[tuple[MovedKind, dict[Key, _Amount], dict[Key, _Amount]], ...] = (
        ("operator", _operators(base, basis), _operators(new, basis)),
        ("shape", _shapes(base, basis), _shapes(new, basis)),
        ("kernel", _kernels(base, basis), _kernels(new, basis)),
        ("function", _functions(base, basis), _functions(new, basis)),
    )
    return [row for kind, before, after in tables for row in _moved_rows(kind, before, after, basis)]


def on_the_device(base: CaseAnalysis, new: CaseAnalysis) -> bool:
    """Tell whether what moved is told in device time."""
    return base.device_kind == new.device_kind == "device"


def _moved_rows(kind: MovedKind, before: dict[Key, _Amount], after: dict[Key, _Amount], basis: Basis) -> list[Moved]:
    limits = _LIMITS[basis]
    whole_us = max(sum(amount.us for amount in side.values()) for side in (before, after))
    rows = [
        Moved(
            kind=kind,
            name=name,
            detail=detail,
            state="added" if old is None else "gone" if now is None else "changed",
            base_us=old.us if old else None,
            new_us=now.us if now else None,
            base_calls=old.calls if old else None,
            new_calls=now.calls if now else None,
            basis=basis,
        )
        for name, detail in dict.fromkeys((*before, *after))
        if _has_moved(old := before.get((name, detail)), now := after.get((name, detail)), whole_us, limits)
    ]
    return sorted(rows, key=lambda row: -abs(row.change_us))[:MOST_ROWS]


def _has_moved(old: _Amount | None, now: _Amount | None, whole_us: float, limits: tuple[float, float]) -> bool:
    if old is None or now is None:
        return True
    if old.calls is not None and now.calls is not None and abs(now.calls - old.calls) >= _CALLS:
        return True
    of_itself, of_whole = limits
    return abs(now.us - old.us) > max(of_itself * old.us, of_whole * whole_us)


def _sum(rows: Iterable[tuple[Key, float | None, float | None]]) -> dict[Key, _Amount]:
    sums: dict[Key, _Amount] = {}
    for key, us, calls in rows:
        before = sums.get(key, _Amount(0.0, None))
        counted = None if calls is None else calls + (before.calls or 0.0)
        sums[key] = _Amount(before.us + (us or 0.0), counted)
    return sums


def _us(operator: Operator, basis: Basis) -> float | None:
    return operator.device_us_per_step if basis == "device" else operator.host_us_per_step


def _operators(case: CaseAnalysis, basis: Basis) -> dict[Key, _Amount]:
    return _sum(((row.name, None), _us(row, basis), row.calls_per_step) for row in case.operators.items)


def _shapes(case: CaseAnalysis, basis: Basis) -> dict[Key, _Amount]:
    return _sum(
        ((row.name, _signature(row)), _us(row, basis), row.calls_per_step)
        for row in case.operators.items
        if row.input_shapes is not None
    )


def _signature(row: Operator) -> str:
    return fmt.shapes(row.input_shapes, row.input_types, row.name)


def _kernels(case: CaseAnalysis, basis: Basis) -> dict[Key, _Amount]:
    if basis == "host":
        return {}
    return _sum(((row.name, None), row.us_per_step, row.calls_per_step) for row in case.kernels.items)


def _functions(case: CaseAnalysis, basis: Basis) -> dict[Key, _Amount]:
    """Sum over lines: an edit moves them, and the function stays the same."""
    return _sum(
        ((row.function, row.file), row.device_us_per_step if basis == "device" else row.host_us_per_step, None)
        for row in case.sources.items
    )
