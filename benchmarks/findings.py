"""Recall, false alarms and error of promised gains, by rule, over traces with planted faults and recorded pairs.

Run as ``PYTHONPATH=. python benchmarks/findings.py TRACES [RECORDING …]``: TRACES holds the planted traces; of those
that it lacks, the cut copies in ``tests/data/planted`` are judged. A RECORDING
is one of ``tests/planted_workloads``, where a case is called after the rule of its fault and its twin ends in "-fixed",
or one that ``tests/planted_truth.py`` names. Pairs that no device shows on demand are made from recordings in the
repository (`hand_built`).
"""

from __future__ import annotations

import argparse
import dataclasses
import statistics
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from reportgen.analysis.model import CaseAnalysis
from reportgen.findings.model import Finding
from reportgen.findings.rules import RULES
from reportgen.recording import RecordedCase, Recording
from reportgen.report.assemble import assemble_recording, assemble_trace
from reportgen.report.model import ReportInput
from tests.planted_truth import (
    FACTS,
    FAULTS,
    LOUD,
    REALISED_BYTES,
    REALISED_MS,
    RECORDED_PAIRS,
    TRUE_OF_PAIRED_TWINS,
    TRUE_OF_TWINS,
)

FIXED = "-fixed"
ROOT = Path(__file__).parents[1]
COPIES = ROOT / "tests" / "data" / "planted"
# Faults of single steps: the median step has nothing to gain from their fix, the mean step has.
OF_THE_MEAN = frozenset({"step-outlier", "recompilation"})
WITHIN = 0.3


@dataclasses.dataclass(frozen=True, kw_only=True)
class Trial:
    """One rule against one case: `planted` says whether its fault is there, `found` whether it was found.

    A fault counts as found at any severity that its rule gives it, a false alarm at medium or high. `place` is the
    finding's among those of its case. `promised` and `realised` are shares of the step, or bytes where `is_bytes`.
    """

    rule: str
    case: str
    planted: bool
    found: bool
    place: int | None = None
    method: str = ""
    promised: float | None = None
    realised: float | None = None
    is_bytes: bool = False
    # Whether the rule says the same of the twin, at whatever severity; None where there is no trace of one.
    said_of_twin: bool | None = None

    @property
    def error(self) -> float | None:
        """Return by how much the promise misses what the fix gave, as a share of that; None without both."""
        if self.promised is None or not self.realised:
            return None
        return self.promised / self.realised - 1


def trials_of_traces(folder: Path) -> Iterator[Trial]:
    """Judge the planted traces in `folder`."""
    planted = sorted({*((fault.trace, fault.rule) for fault in FAULTS), *FACTS})
    for name in sorted({name for name, _ in planted} | set(TRUE_OF_TWINS)):
        path, snapshot = _trace_of(folder, name)
        report, _ = assemble_trace(path, snapshot, datetime.now(UTC))
        for rule in [rule for trace, rule in planted if trace == name]:
            times, sizes = REALISED_MS.get((name, rule)), REALISED_BYTES.get((name, rule))
            realised_share = 1 - times[1] / times[0] if times else None
            yield _planted(rule, name, report.findings, realised_share, sizes[0] - sizes[1] if sizes else None)
        if name in TRUE_OF_TWINS:
            yield from _false_alarms(name, report.findings, TRUE_OF_TWINS[name])


def _trace_of(folder: Path, name: str) -> tuple[Path, Path | None]:
    """Return the trace `name` and its memory snapshot."""
    places = [(folder, "pickle.gz"), (COPIES, "memory.json.gz"), (COPIES.parent, "pickle.gz")]
    place, ending = next((place, ending) for place, ending in places if (place / f"{name}.json.gz").is_file())
    snapshot = place / f"{name}.{ending}"
    return place / f"{name}.json.gz", snapshot if snapshot.is_file() else None


def trials_of_recording(recording: Recording) -> Iterator[Trial]:
    """Judge the pairs of a recording; what a fix gave is the step of the case against that of its twin."""
    report, _ = assemble_recording(recording, ReportInput(kind="recording", path=recording.path.name))
    cases = {case.name: case for case in report.cases}
    recorded = {case.name: case for case in recording.manifest.cases}
    of_case = {name: [one for one in report.findings if one.case == name] for name in cases}
    source, pairs = recording.manifest.workload.name, _pairs(recording)
    for fault, rule, twin in pairs:
        before, after = cases[fault], cases.get(twin or "")
        realised = _realised(rule, before, after) if after else (None, None)
        trial = _planted(rule, f"{source}: {fault}", of_case[fault], *realised)
        if after and recording.trace_path(recorded[after.name], "timeline"):
            said = any(rule in (one.rule, *one.merged) for one in of_case[after.name])
            trial = dataclasses.replace(trial, said_of_twin=said)
        yield trial
    for twin in dict.fromkeys(twin for _, _, twin in pairs if twin in cases):
        if twin and recording.trace_path(recorded[twin], "timeline"):
            true = TRUE_OF_PAIRED_TWINS.get(twin, frozenset())
            yield from _false_alarms(f"{source}: {twin}", of_case[twin], true)


def _pairs(recording: Recording) -> tuple[tuple[str, str, str | None], ...]:
    """Return the cases with a fault, their rules and their twins."""
    known = RECORDED_PAIRS.get(recording.manifest.workload.name)
    if known is not None:
        return known
    names = [case.name for case in recording.manifest.cases]
    return tuple((name, name, name + FIXED) for name in names if not name.endswith(FIXED))


def hand_built() -> Iterator[Trial]:
    """Judge pairs made from kept recordings: a device that was throttled, and two phases under one limit."""
    kept = Recording.open(ROOT / "tests" / "data" / "host-faults")
    case = next(one for one in kept.manifest.cases if one.name == "stall-0")
    yield from _rewritten(kept, _throttled(case, "clock-throttled", "sw power cap"), _throttled(case, "", "", FIXED))
    example = Recording.open(ROOT / "reports" / "example-gpt2-h200" / "recording")
    prefill, decode = example.manifest.cases
    # The same work under the name of the other phase has the same limits.
    same = msgspec.structs.replace(prefill, name=f"phase-contrast{FIXED}", phase="decode")
    yield from _rewritten(example, prefill, msgspec.structs.replace(decode, name="phase-contrast"), same)


def _throttled(case: RecordedCase, name: str, reason: str, suffix: str = "") -> RecordedCase:
    assert case.timing is not None
    conditions = {"clock_mhz": [1980.0] * 9, "throttle_reasons": [reason] * 9}
    timing = msgspec.structs.replace(case.timing, conditions=conditions)
    return msgspec.structs.replace(case, name=name or f"clock-throttled{suffix}", timing=timing)


def _rewritten(recording: Recording, *cases: RecordedCase) -> Iterator[Trial]:
    workload = msgspec.structs.replace(recording.manifest.workload, name="hand-built")
    manifest = msgspec.structs.replace(recording.manifest, cases=cases, workload=workload)
    # Their twins were judged as what they are made of.
    trials = trials_of_recording(msgspec.structs.replace(recording, manifest=manifest))
    yield from (trial for trial in trials if trial.planted and trial.rule in {rule.id for rule in RULES})


def _realised(rule: str, before: CaseAnalysis, after: CaseAnalysis) -> tuple[float | None, float | None]:
    """Return what the fix gave: as a share of the step, and in bytes of the peak."""
    faulty, fixed = _step_us(rule, before), _step_us(rule, after)
    share = 1 - fixed / faulty if faulty and fixed else None
    peaks = [case.memory.peak_allocated_bytes if case.memory else None for case in (before, after)]
    return share, peaks[0] - peaks[1] if peaks[0] and peaks[1] else None


def _step_us(rule: str, case: CaseAnalysis) -> float | None:
    timing = case.timing
    if timing is None or rule not in OF_THE_MEAN:
        return timing.step_us if timing else None
    times = timing.counted
    return statistics.fmean(times.undisturbed_us or times.samples_us) if times else None


def _planted(
    rule: str, case: str, findings: Sequence[Finding], realised_share: float | None, realised_bytes: float | None
) -> Trial:
    places = [(place, one) for place, one in enumerate(findings, 1) if rule in (one.rule, *one.merged)]
    if not places:
        return Trial(rule=rule, case=case, planted=True, found=False)
    place, finding = places[0]
    trial = Trial(rule=rule, case=case, planted=True, found=True, place=place if finding.severity != "info" else None)
    gain = finding.gain
    # What a finding promises is its own rule's word, memory apart: that it takes over from the one it speaks for.
    if gain is None or (rule != finding.rule and rule != "allocation-spike"):
        return trial
    if rule == "allocation-spike":
        given = dataclasses.replace(trial, promised=float(gain.bytes) if gain.bytes else None, is_bytes=True)
        return dataclasses.replace(given, realised=realised_bytes, method="bytes")
    return dataclasses.replace(trial, promised=gain.share_of_step, realised=realised_share, method=gain.method)


def _false_alarms(case: str, findings: Sequence[Finding], true: frozenset[str]) -> Iterator[Trial]:
    loud = {one.rule for one in findings if one.severity in LOUD} - true
    yield from (Trial(rule=rule, case=case, planted=False, found=True) for rule in sorted(loud))
    if not loud:
        yield Trial(rule="", case=case, planted=False, found=False)


def table(trials: Sequence[Trial]) -> str:
    """Return a table in Markdown: a row a rule, and the total."""
    head = [
        "| rule | found of planted | first or second | said of twins | false alarms | promised (by) | realised |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    rows = [_row(rule.id, [trial for trial in trials if trial.rule == rule.id]) for rule in RULES]
    return "\n".join([*head, *rows, _total(trials)])


def _row(name: str, trials: Sequence[Trial]) -> str:
    planted = [trial for trial in trials if trial.planted]
    compared = [trial for trial in planted if trial.error is not None]
    promised = ", ".join(f"{_amount(trial, trial.promised)} ({trial.method})" for trial in compared)
    realised = ", ".join(_amount(trial, trial.realised) for trial in compared)
    return _line(name, planted, sum(not trial.planted for trial in trials), promised, realised)


def _total(trials: Sequence[Trial]) -> str:
    errors = [trial.error for trial in trials if trial.error is not None]
    near = sum(abs(error) <= WITHIN for error in errors)
    alarms = sum(not trial.planted and trial.found for trial in trials)
    twins = {trial.case for trial in trials if not trial.planted}
    name = f"all, {len(twins)} clean cases"
    return _line(name, [trial for trial in trials if trial.planted], alarms, f"{near} of {len(errors)} within 30 %", "")


def _line(name: str, planted: Sequence[Trial], alarms: int, promised: str, realised: str) -> str:
    placed = [trial.place for trial in planted if trial.place is not None]
    first = f"{sum(place <= 2 for place in placed)} of {len(placed)}" if placed else ""
    told = [trial.said_of_twin for trial in planted if trial.said_of_twin is not None]
    twins = f"{sum(told)} of {len(told)}" if told else ""
    found = f"{sum(trial.found for trial in planted)} of {len(planted)}"
    return f"| {name} | {found} | {first} | {twins} | {alarms} | {promised} | {realised} |"


def _amount(trial: Trial, value: float | None) -> str:
    if value is None:
        return ""
    return f"{value / 2**20:.0f} MiB" if trial.is_bytes else f"{100 * value:.0f} %"


def details(trials: Iterable[Trial]) -> str:
    """List what was missed, said falsely, or promised wrongly."""
    lines = []
    for trial in trials:
        if trial.planted and not trial.found:
            lines.append(f"missed: {trial.rule} in {trial.case}")
        elif not trial.planted and trial.found:
            lines.append(f"false alarm: {trial.rule} in {trial.case}")
        elif trial.error is not None and abs(trial.error) > WITHIN:
            amounts = f"{_amount(trial, trial.promised)} for {_amount(trial, trial.realised)}"
            lines.append(f"promise ({trial.method}): {trial.rule} in {trial.case}, {amounts}")
        if trial.said_of_twin:
            lines.append(f"said of the twin too: {trial.rule} in {trial.case}")
        if trial.place is not None and trial.place > 2:
            lines.append(f"place {trial.place}: {trial.rule} in {trial.case}")
    return "\n".join(lines)


def main() -> None:
    """Print the table over what is given, and what is wrong in it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("traces", type=Path)
    parser.add_argument("recordings", type=Path, nargs="*")
    given = parser.parse_args()
    trials = list(trials_of_traces(given.traces))
    for recording in given.recordings:
        trials += trials_of_recording(Recording.open(recording))
    trials += hand_built()
    print(table(trials))
    print(details(trials))


if __name__ == "__main__":
    main()
