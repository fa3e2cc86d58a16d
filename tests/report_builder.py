"""A small report for tests of documents, made of cases whose numbers can be checked in the head."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reportgen.analysis.model import CaseAnalysis
from reportgen.findings.model import Evidence, Finding, Gain
from reportgen.recording import Device, Environment, Generator, WorkloadInfo
from reportgen.report.model import Report, ReportInput
from tests.case_builder import host_bound_case


def gain(before_us: float, after_us: float, method: Any = "measured") -> Gain:
    """Return the gain that brings a step from `before_us` to `after_us`."""
    return Gain(
        at_most_us_per_step=before_us - after_us,
        share_of_step=(before_us - after_us) / before_us,
        step_after_us=after_us,
        resource="host",
        method=method,
    )


def finding(id_: str = "F1", case: str | None = "prefill", **fields: Any) -> Finding:
    """Return a finding of high severity that halves a step of 1000 us, unless `fields` say otherwise."""
    values: dict[str, Any] = {
        "rule": "host-bound",
        "fingerprint": f"host-bound/{case}/{id_}",
        "checklist_step": 2,
        "severity": "high",
        "title": "Prefill issues 10 activities in 1.00 ms that run 0.20 ms",
        "evidence": (Evidence(text="one activity every 100 µs (3 steps)"),),
        "mechanism": "The host prepares a launch for longer than the device works on it.",
        "action": "Capture the step once with `torch.cuda.graph` and replay it.",
        "short_action": "Capture the step once and replay it",
        "verify": "`python -m reportgen gpt2 --case prefill`: the busy share must rise.",
        "gain": gain(1000.0, 500.0),
        "confidence": "high",
    }
    return Finding(id=id_, case=case, **(values | fields))


def report(cases: Sequence[CaseAnalysis] | None = None, findings: Sequence[Finding] = (), **fields: Any) -> Report:
    """Return a report of `cases`, by default of one host-bound prefill on one device."""
    values: dict[str, Any] = {
        "generator": Generator(name="reportgen", version="0.1.0"),
        "created_at": "2026-11-29T15:47:00Z",
        "input": ReportInput(kind="workload", path="recording", command="python -m reportgen gpt2"),
        "workload": WorkloadInfo(name="gpt2", description="GPT-2 124M"),
        "environment": Environment(torch="2.13.0"),
        "devices": (Device(index=0, name="NVIDIA H200"),),
    }
    made = (host_bound_case(),) if cases is None else tuple(cases)
    return Report(cases=made, findings=tuple(findings), **(values | fields))
