"""Ceilings once measured, kept in the user's cache: they belong to a device under a driver and a version of torch."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

import msgspec

from reportgen.recording import Ceilings
from reportgen.resources import replacing


class CeilingsKey(msgspec.Struct, frozen=True, kw_only=True):
    """What ceilings hold for; `multiprocessors` tells a slice of a device from the whole."""

    device: str
    multiprocessors: int | None
    driver: str | None
    torch: str | None


class _Entry(msgspec.Struct, frozen=True, kw_only=True):
    key: CeilingsKey
    ceilings: Ceilings


def cache_folder() -> Path:
    """Return the user's cache for this program (XDG base directories)."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "reportgen"


def _path(key: CeilingsKey, folder: Path) -> Path:
    words = "-".join(str(part) for part in (key.device, key.multiprocessors, key.driver, key.torch))
    return folder / f"ceilings-{re.sub(r'[^a-z0-9.]+', '-', words.lower()).strip('-')}.json"


def read_cached(key: CeilingsKey, folder: Path | None = None) -> Ceilings | None:
    """Return what was measured before for `key`; None where nothing was, or where the file cannot be used."""
    try:
        entry = msgspec.json.decode(_path(key, folder or cache_folder()).read_bytes(), type=_Entry)
    except (OSError, msgspec.DecodeError):
        return None
    return entry.ceilings if entry.key == key else None


def write_cached(key: CeilingsKey, ceilings: Ceilings, folder: Path | None = None) -> None:
    """Keep `ceilings` for next time; a cache that cannot be written costs only the next measurement."""
    folder = folder or cache_folder()
    content = msgspec.json.format(msgspec.json.encode(_Entry(key=key, ceilings=ceilings)), indent=2)
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(_path(key, folder)) as partial:
            partial.write_bytes(content)
