"""What findings promise of eight faults, beside what the step without each takes: tests/gpu/workloads/twins.py.

Run with ``-s`` to see the table, which belongs into docs/method.md.
"""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import pytest

from reportgen.findings.model import Finding
from reportgen.report.model import Report, ReportInput

pytestmark = pytest.mark.gpu
WORKLOAD = Path(__file__).parent / "workloads" / "twins.py"
# The rule that must find each fault; its gain is the one that is compared.
RULES = {
    "sync": "sync-point",
    "stall": "host-stall",
    "graph": "host-bound",
    "product": "gemm-misaligned",
    "copies": "needless-copy",
    "pageable": "blocking-copy",
    "optimizer": "optimizer-unfused",
    "attention": "attention-unfused",
}
WITHIN, LEAST = 0.3, 7


@dataclasses.dataclass(frozen=True)
class Pair:
    """A fault and its twin, µs; `promised_us` is None where no finding has a replayed gain."""

    name: str
    fault_us: float
    fixed_us: float
    promised_us: float | None
    base_error: float | None

    @property
    def error(self) -> float | None:
        """Return by how much the promise misses what the edit gives, as a share of that."""
        gives_us = self.fault_us - self.fixed_us
        return self.promised_us / gives_us - 1 if self.promised_us is not None and gives_us > 0 else None

    def __str__(self) -> str:
        """Return a row of the table."""
        gives = self.fault_us - self.fixed_us
        promised = "-" if self.promised_us is None else f"{self.promised_us:.0f}"
        error = "-" if self.error is None else f"{self.error:+.0%}"
        base = "-" if self.base_error is None else f"{self.base_error:.1%}"
        return (
            f"| {self.name} | {self.fault_us:.0f} | {self.fixed_us:.0f} | {gives:.0f} | {promised} | {error} | {base} |"
        )


def test_what_replay_promises_is_what_the_edit_gives(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("needs an NVIDIA GPU")
    report = _report(_recording(tmp_path))
    pairs = [_pair(report, name, rule) for name, rule in RULES.items()]

    print("\n| edit | fault, us | fixed, us | gives, us | replayed, us | error | base error |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    print("\n".join(map(str, pairs)))
    print("\n".join(f"{one.id} {one.case} {one.title} {one.gain}" for one in report.findings if one.severity != "info"))
    # A base that misses the step is never replayed from: its finding keeps a bound.
    assert all(pair.base_error is not None and pair.base_error < 0.05 for pair in pairs if pair.promised_us is not None)
    assert sum(pair.error is not None and abs(pair.error) <= WITHIN for pair in pairs) >= LEAST


def _recording(tmp_path: Path) -> Path:
    """Return a recording of the twins: that in REPORTGEN_TWINS, else a new one, which goes there where it is named."""
    named = os.environ.get("REPORTGEN_TWINS")
    place = Path(named) if named else tmp_path / "recording"
    if not place.exists():
        from reportgen.runner.run import RunOptions, record

        record(WORKLOAD, lambda workload, device: place, RunOptions(alternatives=()))
    return place


def _report(recording: Path) -> Report:
    from reportgen.recording import Recording
    from reportgen.report.assemble import assemble_recording

    return assemble_recording(Recording.open(recording), ReportInput(kind="recording", path=recording.name))[0]


def _pair(report: Report, name: str, rule: str) -> Pair:
    fault, fixed = (next(one for one in report.cases if one.name == f"{name}-{which}") for which in ("fault", "fixed"))
    assert fault.timing is not None, fault.reason
    assert fixed.timing is not None, fixed.reason
    step_us = fault.timing.step_us or 0.0
    promises = [_promised_us(one, step_us) for one in report.findings if (one.rule, one.case) == (rule, fault.name)]
    known = [us for us in promises if us is not None]
    return Pair(
        name=name,
        fault_us=step_us,
        fixed_us=fixed.timing.step_us or 0.0,
        # Several findings of one rule are places of one fault each; the largest is the one that the twin is without.
        promised_us=max(known, default=None),
        base_error=fault.replay.base_error if fault.replay else None,
    )


def _promised_us(finding: Finding, step_us: float) -> float | None:
    gain = finding.gain
    if gain is None or gain.method not in {"replay", "roofline"} or gain.share_of_step is None:
        return None
    return gain.share_of_step * step_us
