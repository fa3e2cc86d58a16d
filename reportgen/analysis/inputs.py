"""The way in: from the files of a recording, or a trace from elsewhere, to what a case is computed from."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, TypeVar

from reportgen.analysis.case import CaseInputs
from reportgen.analysis.model import Notice
from reportgen.analysis.roofline.datasheets import with_ceilings
from reportgen.errors import InputUnreadable
from reportgen.recording import Device, Environment, Runtime
from reportgen.trace.reader import read_trace
from reportgen.trace.snapshot import read_snapshot

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from reportgen.recording import RecordedCase, Recording
    from reportgen.trace.columns import TraceInfo

Content = TypeVar("Content")
_VENDORS = {"cuda": "NVIDIA", "rocm": "AMD", "xpu": "Intel", "mtia": "Meta"}


@dataclasses.dataclass(frozen=True, kw_only=True)
class LoadedCase:
    """What a case is computed from, and a notice for each file that was there and could not be read."""

    inputs: CaseInputs
    notices: tuple[Notice, ...] = ()


def load_recorded(recording: Recording, case: RecordedCase) -> LoadedCase:
    """Read what `recording` holds of `case`; a file that cannot be read costs only what it would have told."""
    notices: list[Notice] = []

    def load(path: Path | None, read: Callable[[Path], Content]) -> Content | None:
        if path is None:
            return None
        try:
            return read(path)
        except InputUnreadable as error:
            text = f"A file of the recording was left out: {_relative(str(error), recording.path)}."
            notices.append(Notice(code="recording-unreadable", text=text, affects_conclusions=True))
            return None

    inputs = CaseInputs(
        name=case.name,
        phase=case.phase,
        parameters=case.parameters,
        device=case.device,
        recorded=case,
        timeline=load(recording.trace_path(case, "timeline"), read_trace),
        detail=load(recording.trace_path(case, "detail"), read_trace),
        snapshot=load(recording.memory_path(case), read_snapshot),
        devices=recording.manifest.devices,
        flags={**recording.manifest.environment.flags, **case.flags},
    )
    return LoadedCase(inputs=inputs, notices=tuple(notices))


def load_traced(
    path: Path, snapshot: Path | None, progress: Callable[[float], None] | None = None
) -> tuple[CaseInputs, TraceInfo]:
    """Read the trace at `path`, and the memory snapshot that belongs to it, as one case named after the file.

    `progress` is called with the share (0..1) of the trace that has been read. Raises `InputUnreadable`.
    """
    trace = read_trace(path, progress=progress)
    history = read_snapshot(snapshot) if snapshot is not None else None
    inputs = CaseInputs(
        name=stem_of(path), timeline=trace, detail=trace, snapshot=history, devices=traced_devices(trace.info)
    )
    return inputs, trace.info


def stem_of(path: Path) -> str:
    """Return the name of a trace file without what says only that it is one."""
    name = path.name
    for suffix in (".gz", ".json", ".trace", ".pt"):
        name = name.removesuffix(suffix)
    return name or path.name


def traced_environment(info: TraceInfo) -> Environment:
    """Return what a trace's top level tells of where it was made; the rest was not recorded."""
    return Environment(
        runtime=Runtime(kind=info.runtime_kind, version=info.runtime_version),
        driver=info.driver_version,
        host=info.host_name,
        user=info.user_name,
    )


def traced_devices(info: TraceInfo) -> tuple[Device, ...]:
    """Return the devices that a trace's top level lists, with their ceilings where a datasheet is known."""
    return tuple(
        with_ceilings(
            Device(
                index=device.index,
                name=device.name or f"device {device.index}",
                vendor=_VENDORS.get(info.runtime_kind),
                compute_capability=device.compute_capability,
                memory_bytes=device.memory_bytes,
                multiprocessors=device.multiprocessors,
            )
        )
        for device in info.devices
    )


def _relative(text: str, folder: Path) -> str:
    """Name files as the recording does, so that a report reads the same wherever it lies."""
    return text.replace(f"{folder}/", "").rstrip(".")
