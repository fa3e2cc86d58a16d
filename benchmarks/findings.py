"""Recall, false alarms and error of promised gains, by rule, over traces with planted faults and recorded pairs.

Run as ``PYTHONPATH=. python benchmarks/findings.py TRACES [RECORDING …]``: TRACES holds the planted traces, a RECORDING
is one of ``tests/planted_workloads``, where a case is called after the rule of its fault and its twin ends in "-fixed".
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from reportgen.analysis.model import CaseAnalysis
from reportgen.findings.model import Finding
from reportgen.recording import Recording
from reportgen.report.assemble import assemble_recording, assemble_trace
from reportgen.report.model import ReportInput
from tests.planted_truth import FAULTS, LOUD, REALISED_MS, TRUE_OF_TWINS

FIXED = "-fixed"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Trial:
    """One rule against one case: `planted` says whether its fault is there, `found` whether it was found aloud."""

    rule: str
    case: str
    planted: bool
    found: bool
    promised: float | None = None  # share of the step
    realised: float | None = None


def trials_of_traces(folder: Path) -> Iterator[Trial]:
    """Judge the planted traces in `folder`."""
    names = sorted({fault.trace for fault in FAULTS} | set(TRUE_OF_TWINS))
    for name in names:
        path, snapshot = folder / f"{name}.json.gz", folder / f"{name}.pickle.gz"
        if not path.is_file():
            continue
        report, _ = assemble_trace(path, snapshot if snapshot.is_file() else None, datetime.now(UTC))
        for rule in {fault.rule for fault in FAULTS if fault.trace == name}:
            realised = REALISED_MS.get((name, rule))
            yield _planted(rule, name, report.findings, 1 - realised[1] / realised[0] if realised else None)
        if name in TRUE_OF_TWINS:
            yield from _false_alarms(name, report.findings, TRUE_OF_TWINS[name])


def trials_of_pairs(recording: Path) -> Iterator[Trial]:
    """Judge the pairs of a recording; what a fix gave is the mean step of the case against that of its twin."""
    report, _ = assemble_recording(Recording.open(recording), ReportInput(kind="recording", path=recording.name))
    steps = {case.name: _mean_step_us(case) for case in report.cases}
    for name in steps:
        findings = tuple(one for one in report.findings if one.case == name)
        if name.endswith(FIXED):
            yield from _false_alarms(name, findings, frozenset())
        else:
            before, after = steps[name], steps.get(name + FIXED)
            realised = 1 - after / before if before and after and name != "grad-in-inference" else None
            yield _planted(name, name, findings, realised, loud=False)


def _mean_step_us(case: CaseAnalysis) -> float | None:
    timing = case.timing
    times = None if timing is None else timing.pipelined or timing.drained
    return sum(times.samples_us) / len(times.samples_us) if times else None


def _planted(rule: str, case: str, findings: Sequence[Finding], realised: float | None, *, loud: bool = True) -> Trial:
    mine = [one for one in findings if rule in (one.rule, *one.merged) and (one.severity in LOUD or not loud)]
    gain = mine[0].gain if mine else None
    promised = gain.share_of_step if gain and rule == mine[0].rule else None
    return Trial(rule=rule, case=case, planted=True, found=bool(mine), promised=promised, realised=realised)


def _false_alarms(case: str, findings: Sequence[Finding], true: frozenset[str]) -> Iterator[Trial]:
    loud = {one.rule for one in findings if one.severity in LOUD} - true
    yield from (Trial(rule=rule, case=case, planted=False, found=True) for rule in sorted(loud))
    if not loud:
        yield Trial(rule="", case=case, planted=False, found=False)


def table(trials: Sequence[Trial]) -> str:
    """Return a table in Markdown: a row a rule, and the total."""
    rules = sorted({trial.rule for trial in trials if trial.rule})
    rows = [_row(rule, [trial for trial in trials if trial.rule == rule]) for rule in rules]
    twins = {trial.case for trial in trials if not trial.planted}
    head = ["| rule | found of planted | false alarms | promised | realised |", "| --- | --- | --- | --- | --- |"]
    total = _row(f"all, {len(twins)} clean cases", [trial for trial in trials if trial.rule])
    return "\n".join([*head, *rows, total])


def _row(name: str, trials: Sequence[Trial]) -> str:
    planted = [trial for trial in trials if trial.planted]
    alarms = sum(not trial.planted for trial in trials)
    compared = [(t.promised, t.realised) for t in planted if t.promised is not None and t.realised is not None]
    near = sum(abs(promised - realised) <= 0.3 * abs(realised) for promised, realised in compared)
    if name.startswith("all,"):
        promised, realised = f"{near} of {len(compared)} within 30 %", ""
    else:
        promised = ", ".join(f"{100 * promised:.0f} %" for promised, _ in compared)
        realised = ", ".join(f"{100 * realised:.0f} %" for _, realised in compared)
    return f"| {name} | {sum(t.found for t in planted)} of {len(planted)} | {alarms} | {promised} | {realised} |"


def main() -> None:
    """Print the table over what is given."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("traces", type=Path)
    parser.add_argument("recordings", type=Path, nargs="*")
    given = parser.parse_args()
    trials = list(trials_of_traces(given.traces))
    for recording in given.recordings:
        trials += trials_of_pairs(recording)
    print(table(trials))


if __name__ == "__main__":
    main()
