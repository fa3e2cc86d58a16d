"""What is kept of old nights: figures for long, documents for long, traces for days."""

from __future__ import annotations

import shutil
from datetime import datetime, timedelta
from pathlib import Path

from reportgen.history.store import History
from reportgen.pipeline import RECORDING_FOLDER


def prune(history: History, parent: Path, now: datetime, *, trace_days: int, history_days: int) -> tuple[int, int]:
    """Delete the traces of nights older than `trace_days` and forget those older than `history_days`.

    Only folders that the store names and that lie in `parent` are touched. Returns how many reports lost their traces
    and how many nights were forgotten.
    """
    thinned = 0
    for folder in history.folders(before=iso(now - timedelta(days=trace_days))):
        thinned += _without_traces((parent / folder).resolve(), parent.resolve())
    return thinned, history.prune(before=iso(now - timedelta(days=history_days)))


def _without_traces(folder: Path, parent: Path) -> bool:
    if parent not in folder.parents:
        return False
    recording = folder / RECORDING_FOLDER
    found = [*folder.glob("step*.perfetto.json.gz"), *([recording] if recording.is_dir() else [])]
    for path in found:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    return bool(found)


def iso(moment: datetime) -> str:
    """Return a time as the store has it: UTC to the second."""
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")
