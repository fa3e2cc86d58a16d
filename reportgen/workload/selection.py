"""The cases that a command line asks for: `--case NAME`, `--set [CASE.]KEY=VALUE`, `--sweep KEY=V1,V2,…`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from reportgen.errors import UsageError, did_you_mean
from reportgen.workload.values import Case


def select_cases(
    cases: Sequence[Case], *, names: Iterable[str] = (), settings: Iterable[str] = (), sweeps: Iterable[str] = ()
) -> tuple[Case, ...]:
    """Return those of `cases` that are named (all where none is), with their parameters set and swept.

    A setting without a case goes to every case that declares its key. A sweep makes one case of each value, named
    ``prefill[batch=8]``; several sweeps multiply. Raises `UsageError` for a case or a key that there is not.
    """
    names, chosen = tuple(names), tuple(cases)
    _check_names(chosen, names)
    for setting in settings:
        case_name, key, text = _split("--set", setting, chosen)
        declaring = _declaring(chosen, case_name, key, setting)
        value = parse_value(text)
        chosen = tuple(case.with_parameters({key: value}) if case.name in declaring else case for case in chosen)
    chosen = tuple(case for case in chosen if not names or case.name in names)
    for sweep in sweeps:
        case_name, key, text = _split("--sweep", sweep, chosen)
        declaring = _declaring(chosen, case_name, key, sweep)
        chosen = tuple(
            version
            for case in chosen
            for version in (_swept(case, key, text, sweep) if case.name in declaring else (case,))
        )
    return chosen


def parse_value(text: str) -> Any:
    """Return the JSON value that `text` spells, else the text itself."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text


def _check_names(cases: tuple[Case, ...], names: tuple[str, ...]) -> None:
    known = [case.name for case in cases]
    for name in names:
        if name not in known:
            raise UsageError(f"--case {name}: no such case; there are {', '.join(known)}." + did_you_mean(name, known))


def _split(option: str, text: str, cases: tuple[Case, ...]) -> tuple[str | None, str, str]:
    """Return the case's name (None where none is given), the key and the value of ``[CASE.]KEY=VALUE``."""
    target, equals, value = text.partition("=")
    if not equals or not target:
        raise UsageError(f"{option} {text}: write {option} KEY=VALUE or {option} CASE.KEY=VALUE")
    name, dot, key = target.rpartition(".")
    if not dot:
        return None, target, value
    known = [case.name for case in cases]
    if name not in known:
        listed = ", ".join(known)
        raise UsageError(f"{option} {text}: no case {name!r}; there are {listed}." + did_you_mean(name, known))
    return name, key, value


def _declaring(cases: tuple[Case, ...], name: str | None, key: str, text: str) -> frozenset[str]:
    candidates = [case for case in cases if name is None or case.name == name]
    declaring = frozenset(case.name for case in candidates if key in case.parameters)
    if not declaring:
        declared = sorted({parameter for case in candidates for parameter in case.parameters})
        who = f"case {name!r}" if name else "no case"
        verb = "does not declare" if name else "declares"
        raise UsageError(
            f"{text}: {who} {verb} {key!r}; declared: {', '.join(declared) or 'nothing'}." + did_you_mean(key, declared)
        )
    return declaring


def _swept(case: Case, key: str, text: str, sweep: str) -> tuple[Case, ...]:
    if not text:
        raise UsageError(f"--sweep {sweep}: write --sweep KEY=V1,V2,…")
    # As a JSON list first, so that values may be lists or hold commas themselves.
    values = parse_value(f"[{text}]")
    if not isinstance(values, list):
        values = [parse_value(part) for part in text.split(",")]
    return tuple(case.with_parameters({key: value}, name=f"{case.name}[{key}={_spelled(value)}]") for value in values)


def _spelled(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
