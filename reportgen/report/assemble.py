"""From a recording or a trace to the report: every case analysed, all of them judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from reportgen import __version__
from reportgen.analysis.case import analyze_with_step
from reportgen.analysis.comparison import compare_cases
from reportgen.analysis.inputs import load_recorded, load_traced, traced_devices, traced_environment
from reportgen.analysis.roofline.datasheets import with_ceilings
from reportgen.findings.evaluate import evaluate
from reportgen.findings.rules import RULES
from reportgen.findings.sequence import order_fixes
from reportgen.recording import Generator
from reportgen.report.model import Report, ReportInput

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from reportgen.analysis.case import AnalyzedCase
    from reportgen.analysis.one_step.step_export import StepExport
    from reportgen.recording import RecordedCase, Recording

GENERATOR = Generator(name="reportgen", version=__version__)


def assemble_recording(
    recording: Recording,
    given: ReportInput,
    thresholds: Mapping[str, float] | None = None,
    stage: Callable[[str], None] = lambda text: None,
    only_rules: Sequence[str] = (),
) -> tuple[Report, list[StepExport]]:
    """Analyse every case of `recording`, judge them, and return the report and the steps to draw.

    The report is dated by the recording and follows from it alone, so that it can be made again. `stage` is told what
    is done next. `only_rules` are those whose fixes are put one after the other, in this order; none: all.
    """
    manifest = recording.manifest
    analyzed = []
    for case in manifest.cases:
        stage(f"analysing {case.name}")
        analyzed.append(_analyze(recording, case))
    cases = tuple(result.analysis for result in analyzed)
    report = Report(
        generator=GENERATOR,
        created_at=manifest.created_at,
        input=given,
        workload=manifest.workload,
        environment=manifest.environment,
        devices=tuple(map(with_ceilings, manifest.devices)),
        cases=cases,
        comparison=compare_cases(cases),
    )
    return _judged(report, manifest.command, thresholds, analyzed, only_rules), [
        result.step for result in analyzed if result.step
    ]


def assemble_trace(
    path: Path,
    snapshot: Path | None,
    now: datetime,
    thresholds: Mapping[str, float] | None = None,
    stage: Callable[[str], None] = lambda text: None,
    only_rules: Sequence[str] = (),
) -> tuple[Report, list[StepExport]]:
    """Analyse the trace at `path`, judge it, and return the report and the step to draw.

    Raises `InputUnreadable` where the trace or the snapshot yields nothing.
    """
    stage(f"reading {path.name}")
    inputs, info = load_traced(path, snapshot)
    stage(f"analysing {inputs.name}")
    result = analyze_with_step(inputs)
    report = Report(
        generator=GENERATOR,
        created_at=now.isoformat(timespec="seconds").replace("+00:00", "Z"),
        input=ReportInput(kind="trace", path=path.name),
        workload=None,
        environment=traced_environment(info),
        devices=tuple(map(with_ceilings, traced_devices(info))),
        cases=(result.analysis,),
    )
    return _judged(report, None, thresholds, (result,), only_rules), [result.step] if result.step else []


def _analyze(recording: Recording, case: RecordedCase) -> AnalyzedCase:
    loaded = load_recorded(recording, case)
    result = analyze_with_step(loaded.inputs)
    notices = (*result.analysis.notices, *loaded.notices)
    return result._replace(analysis=msgspec.structs.replace(result.analysis, notices=notices))


def _judged(
    report: Report,
    rerun: str | None,
    thresholds: Mapping[str, float] | None,
    analyzed: Sequence[AnalyzedCase],
    only_rules: Sequence[str],
) -> Report:
    replays = {result.analysis.name: result.replay for result in analyzed if result.replay is not None}
    findings, rules = evaluate(
        report.cases,
        report.environment,
        rerun=rerun,
        thresholds=thresholds,
        replays=replays,
        devices=report.devices,
    )
    of_device = {rule.id for rule in RULES if rule.of_device}
    latent = [record for record in rules if record.id in of_device]
    fixes = order_fixes(report.cases, findings, replays, only=only_rules, latent=latent)
    return msgspec.structs.replace(report, findings=findings, fixes=fixes, rules=rules)
