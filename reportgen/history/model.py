"""How two reports differ: the content of comparison.json, of which every document of a comparison is a view."""

from __future__ import annotations

from typing import Literal

import msgspec

from reportgen.findings.model import Severity
from reportgen.history.quantities import QuantityName

SCHEMA_VERSION = "1.0"

# "changed": different, and neither better nor worse by itself. "unchanged": equal as far as it is ever equal.
Verdict = Literal["worse", "better", "changed", "within-noise", "unchanged", "not-comparable"]
MovedKind = Literal["operator", "shape", "kernel", "function"]
Basis = Literal["device", "host"]


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """One of the two reports: where it lies, and what it was made of."""

    path: str
    created_at: str
    workload: str | None
    device: str
    host: str | None = None
    torch: str | None = None
    driver: str | None = None
    generator: str | None = None


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One quantity on both sides; `change` is its share of the base. `needs_nights` where these runs cannot decide."""

    quantity: QuantityName
    base: float | None
    new: float | None
    change: float | None
    verdict: Verdict
    reason: str
    needs_nights: int | None = None


class Moved(msgspec.Struct, frozen=True, kw_only=True):
    """An operator, an operator at one shape, a kernel or a function that is not what it was; times per step."""

    kind: MovedKind
    name: str
    detail: str | None
    state: Literal["added", "gone", "changed"]
    base_us: float | None
    new_us: float | None
    base_calls: float | None = None
    new_calls: float | None = None
    # Whose time it is; of the host, that of the detail pass, which the profiler makes longer on both sides.
    basis: Basis = "device"

    @property
    def change_us(self) -> float:
        """Return by how much the step's time under it grew."""
        return (self.new_us or 0.0) - (self.base_us or 0.0)


class CaseDifference(msgspec.Struct, frozen=True, kw_only=True):
    """A case on both sides. `reasons` say why it is not comparable, or what else differs beside it."""

    name: str
    state: Literal["both", "added", "gone"]
    verdict: Verdict
    reasons: tuple[str, ...] = ()
    differences: tuple[Difference, ...] = ()
    # "device" or "host": whose time counts first. Where that is the device, `moved` holds the host's behind it.
    moved_basis: Basis = "device"
    moved: tuple[Moved, ...] = ()


class FindingDifference(msgspec.Struct, frozen=True, kw_only=True):
    """A finding on one side or both, recognised by its fingerprint.

    `promised_us` is the gain that the base promised, at most; of a finding that is gone, `realised_us` is by how much
    the step of its case got shorter, whatever else changed with it.
    """

    fingerprint: str
    rule: str
    case: str | None
    severity: Severity
    title: str
    state: Literal["new", "gone", "still"]
    promised_us: float | None = None
    realised_us: float | None = None


class ReportDifference(msgspec.Struct, frozen=True, kw_only=True):
    """Two reports side by side.

    `num_findings_not_compared` are on one side only, in a case that is not comparable: neither new nor gone.
    """

    schema_version: str = SCHEMA_VERSION
    base: Side
    new: Side
    verdict: Verdict
    # What else differs between the two, which may be the cause: versions, flags, driver.
    also: tuple[str, ...] = ()
    cases: tuple[CaseDifference, ...] = ()
    findings: tuple[FindingDifference, ...] = ()
    num_findings_not_compared: int = 0
