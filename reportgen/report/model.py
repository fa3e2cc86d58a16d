"""The report: the content of report.json, of which every document is a view."""

from __future__ import annotations

from typing import Literal

import msgspec

from reportgen.analysis.comparison import Comparison
from reportgen.analysis.model import CaseAnalysis, Notice
from reportgen.findings.model import Finding, FixSequence, RuleRecord
from reportgen.recording import Device, Environment, Generator, WorkloadInfo

SCHEMA_VERSION = "1.0"


class ReportInput(msgspec.Struct, frozen=True, kw_only=True):
    """What the report was made from; `path` relative to the report where it lies beside it."""

    kind: Literal["workload", "trace", "recording"]
    path: str
    # The command line that makes this report again.
    command: str | None = None


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """A whole report. Readers ignore keys they do not know."""

    schema_version: str = SCHEMA_VERSION
    generator: Generator
    created_at: str
    input: ReportInput
    workload: WorkloadInfo | None
    environment: Environment
    devices: tuple[Device, ...]
    cases: tuple[CaseAnalysis, ...]
    comparison: Comparison | None = None
    findings: tuple[Finding, ...] = ()
    fixes: tuple[FixSequence, ...] = ()
    rules: tuple[RuleRecord, ...] = ()
    notices: tuple[Notice, ...] = ()
