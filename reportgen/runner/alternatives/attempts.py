"""Trying alternatives of a recording's cases: the parent's side, which keeps the manifest."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from reportgen.recording import PassRecord, RecordedAlternative, RecordedCase, Recording, write_manifest
from reportgen.runner.interpreters import WarmInterpreter
from reportgen.runner.messages import AlternativeRequest, AlternativeTried, CaseWords
from reportgen.runner.process import Child, TimedOut
from reportgen.runner.progress import PassEnded, PassStarted, Progress, ignore

# One alternative, building and compiling included.
LIMIT_S = 180.0
LOG_NAME = "alternatives.txt"


def try_alternatives(
    recording: Recording,
    workload: Path,
    names: Mapping[str, Sequence[str]],
    progress: Progress = ignore,
    timeout_s: float | None = None,
    warm: WarmInterpreter | None = None,
) -> Recording:
    """Try for each case (by name) the alternatives `names` gives it, and write what became of them into the manifest.

    Each runs in a process of its own, forked from `warm` where that is given: one that crashes, hangs or runs out of
    memory costs only itself. One that is not done after `LIMIT_S`, or after `timeout_s` where that is less, is ended.
    """
    limit_s = LIMIT_S if timeout_s is None else min(LIMIT_S, timeout_s)
    manifest = recording.manifest
    for number, case in enumerate(manifest.cases):
        wanted = names.get(case.name, ())
        if not wanted or case.outcome == "failed":
            continue
        progress(PassStarted(case=case.name, name="alternatives"))
        start = time.monotonic()
        for name in wanted:
            tried = _attempt(case, name, workload, recording.path / case.folder / LOG_NAME, limit_s, warm)
            case = _with_alternative(case, tried, time.monotonic() - start)
            cases = (*manifest.cases[:number], case, *manifest.cases[number + 1 :])
            manifest = msgspec.structs.replace(manifest, cases=cases)
            write_manifest(recording.path, manifest)
        record = case.pass_record("alternatives")
        if record is not None:
            progress(PassEnded(case=case.name, record=record))
    return Recording(path=recording.path, manifest=manifest)


def _attempt(
    case: RecordedCase, name: str, workload: Path, log: Path, limit_s: float, warm: WarmInterpreter | None
) -> RecordedAlternative:
    request = AlternativeRequest(
        workload=str(workload),
        case=CaseWords(name=case.name, phase=case.phase, parameters=case.parameters),  # type: ignore[arg-type]
        device=case.device or "cpu",
        name=name,
    )
    with Child(request, log, warm) as child:
        try:
            for message in child.messages(limit_s):
                if isinstance(message, AlternativeTried):
                    return message.alternative
            reason = child.verdict() or "its process ended early"
        except TimedOut:
            reason = f"not done after {limit_s:g} s, the limit of one alternative"
    return RecordedAlternative(name=name, outcome="failed", reason=reason)


def _with_alternative(case: RecordedCase, tried: RecordedAlternative, seconds: float) -> RecordedCase:
    alternatives = (*(other for other in case.alternatives if other.name != tried.name), tried)
    record = PassRecord(name="alternatives", outcome="done", seconds=seconds)
    passes = (*(other for other in case.passes if other.name != record.name), record)
    return msgspec.structs.replace(case, alternatives=alternatives, passes=passes)
