"""A report that names no person and no machine: what `--anonymous` leaves out.

Left out are the host's and the user's name wherever they stand, and home directories in paths. Words of a closed list
(causes, outcomes, types) are never touched, so that the result is a valid report.
"""

from __future__ import annotations

import dataclasses
import functools
import re
import typing
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from reportgen.analysis.one_step.step_export import StepExport
    from reportgen.recording import Environment
    from reportgen.report.model import Report

REDACTED = "…"
# A home directory: the user's name is the first folder inside, except for the administrator.
_HOME = re.compile(r"(?:/(?:home|Users|export/home)/|[A-Za-z]:[\\/]+Users[\\/]+)[^/\\\s:'\"]+|/root(?=/|$)")
# Accounts that name nobody; as words they stand for other things in a trace.
_NOBODY = frozenset({"root", "user", "ubuntu", "admin", "nobody"})


def anonymous(report: Report) -> Report:
    """Return `report` without host and user names and home directories."""
    environment = msgspec.structs.replace(report.environment, host=None, user=None)
    cleaned: Report = _rebuilt(msgspec.structs.replace(report, environment=environment), cleaner(report.environment))
    return cleaned


def anonymous_step(export: StepExport, environment: Environment) -> StepExport:
    """Return a step without what names the person and the machine of `environment`."""
    clean = cleaner(environment)
    tracks = tuple(
        dataclasses.replace(
            track,
            name=clean(track.name),
            slices=tuple(
                dataclasses.replace(
                    piece,
                    name=clean(piece.name),
                    operator=_rebuilt(piece.operator, clean),
                    source=_rebuilt(piece.source, clean),
                )
                for piece in track.slices
            ),
        )
        for track in export.tracks
    )
    return dataclasses.replace(export, case=clean(export.case), trace=clean(export.trace), tracks=tracks)


def cleaner(environment: Environment) -> Callable[[str], str]:
    """Return a function that takes out of a text what names the person and the machine of `environment`."""
    pattern = _names_pattern(name for name in (environment.host, environment.user) if name)

    def clean(text: str) -> str:
        text = _HOME.sub("~", text)
        return pattern.sub(REDACTED, text) if pattern else text

    return clean


def _names_pattern(names: Iterable[str]) -> re.Pattern[str] | None:
    """Return what finds each of `names`, a host's short name included, where it is not part of a longer word."""
    known = {part for name in names for part in (name, name.partition(".")[0]) if part and part not in _NOBODY}
    if not known:
        return None
    alternatives = "|".join(re.escape(name) for name in sorted(known, key=len, reverse=True))
    return re.compile(rf"(?<![A-Za-z0-9])(?:{alternatives})(?![A-Za-z0-9])", re.IGNORECASE)


def _rebuilt(value: Any, clean: Callable[[str], str]) -> Any:
    """Return `value` with every free text in it cleaned."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, msgspec.Struct):
        fields = {name: _rebuilt(getattr(value, name), clean) for name in _free_fields(type(value))}
        return msgspec.structs.replace(value, **fields)
    if isinstance(value, dict):
        return {_rebuilt(key, clean): _rebuilt(item, clean) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return type(value)(_rebuilt(item, clean) for item in value)
    return value


@functools.cache
def _free_fields(kind: type) -> tuple[str, ...]:
    """Return the fields of a class that may hold words of their own, not those of a closed list."""
    hints = typing.get_type_hints(kind)
    return tuple(name for name, hint in hints.items() if not _is_closed(hint))


def _is_closed(hint: Any) -> bool:
    parts = [part for part in typing.get_args(hint) if part is not type(None)]
    if typing.get_origin(hint) is typing.Literal:
        return True
    return bool(parts) and all(_is_closed(part) for part in parts if part is not Ellipsis)
