"""What a night has to say: the JSON that ``--notify COMMAND`` gets on its standard input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from reportgen.report.terminal import plain

SCHEMA_VERSION = "1.0"

NightVerdict = Literal["worse", "failed", "better", "changed", "no change"]


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that changed. `moved` are the operators that moved most, first the one that did most."""

    case: str
    subject: str  # a quantity, or "finding:" and a fingerprint
    verdict: Literal["worse", "better", "changed", "new", "gone"]
    text: str
    base: float | None = None
    value: float | None = None
    rule: str | None = None
    moved: tuple[str, ...] = ()


class WorkloadSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one workload. `waiting` says which figures tonight could not decide, and why.

    On its first night on a machine like this there is nothing to compare with: "no change" is no verdict then.
    """

    workload: str
    verdict: NightVerdict
    folder: str | None = None
    failure: str | None = None
    measured_again: bool = False
    told: tuple[Told, ...] = ()
    waiting: tuple[str, ...] = ()
    first_night: bool = False


class NightSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the night."""

    schema_version: str = SCHEMA_VERSION
    started_at: str
    ended_at: str
    host: str
    commit: str | None
    verdict: NightVerdict
    gate_failed: bool
    remark: str | None
    index: str
    workloads: tuple[WorkloadSummary, ...]


def joint_verdict(verdicts: Sequence[NightVerdict]) -> NightVerdict:
    """Return the verdict that weighs most."""
    order: tuple[NightVerdict, ...] = ("worse", "failed", "better", "changed")
    return next((verdict for verdict in order if verdict in verdicts), "no change")


def verdict_of(told: Sequence[Told], failure: str | None) -> NightVerdict:
    """Return the verdict on one workload."""
    found = {row.verdict for row in told}
    if found & {"worse", "new"}:
        return "worse"
    if failure:
        return "failed"
    return "better" if found & {"better", "gone"} else "changed" if found else "no change"


def gate_fails(workloads: Sequence[WorkloadSummary], gates: Sequence[str]) -> bool:
    """Tell whether what came up is what ``--fail-on`` asked for."""
    came: set[str] = set()
    for row in (row for workload in workloads for row in workload.told):
        if row.verdict == "worse":
            came |= {"regression"} | ({"memory"} if row.subject == "peak_memory" else set())
        elif row.verdict == "new":
            came.add(f"finding:{row.rule}")
    return not came.isdisjoint(gates)


def lines(summary: NightSummary) -> list[str]:
    """Return the night in plain lines, worst first."""
    said = []
    for workload in summary.workloads:
        again = ", measured again" if workload.measured_again else ""
        is_first = workload.first_night and workload.verdict == "no change"
        verdict = "first night, nothing to compare with" if is_first else workload.verdict
        said.append(f"{workload.workload}: {verdict}{again}")
        if workload.failure:
            said.append(f"  {workload.failure}")
        for row in workload.told:
            kind = f"finding {row.verdict}: " if row.verdict in ("new", "gone") else ""
            said.append(f"  {row.case}: {kind}{row.text}")
            said += [f"    {moved}" for moved in row.moved]
        said += [f"  {text}" for text in workload.waiting]
    return [plain(line) for line in said]
