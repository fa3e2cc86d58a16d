"""Which figures of two reports may be compared at all, and what else differs between them."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import msgspec

from reportgen import formatting as fmt
from reportgen.analysis.model import CaseAnalysis
from reportgen.history.quantities import crowding
from reportgen.recording import Environment
from reportgen.report.model import Report

_THROTTLED = "clock-throttled"


class Comparability(NamedTuple):
    """Reasons against comparing: anything of a case, its times, its step time alone."""

    case: tuple[str, ...]
    times: tuple[str, ...]
    step: tuple[str, ...]


def device_name(report: Report, case: CaseAnalysis) -> str:
    """Return the model of the device that `case` ran on, "CPU" where the host did the work."""
    if case.device_kind == "host":
        return "CPU"
    _, _, index = (case.device or "").partition(":")
    for device in report.devices:
        if not index or str(device.index) == index:
            return device.name
    return case.device or "a device that was not recorded"


def comparability(base: Report, before: CaseAnalysis, new: Report, after: CaseAnalysis) -> Comparability:
    """Return what speaks against comparing the case `before` of `base` with `after` of `new`."""
    return Comparability(
        case=tuple(_against_the_case(base, before, new, after)),
        times=tuple(_against_its_times(base, before, new, after)),
        step=tuple(_against_its_step(base, before, new, after)),
    )


def _against_the_case(base: Report, before: CaseAnalysis, new: Report, after: CaseAnalysis) -> list[str]:
    reasons = [
        f"{name} {case.outcome}: {case.reason or 'no reason was recorded'}"
        for name, case in (("base", before), ("new", after))
        if case.outcome != "done"
    ]
    old, now = device_name(base, before), device_name(new, after)
    if old != now:
        reasons.append(f"another device: {old}, then {now}")
    if before.phase != after.phase:
        reasons.append(f"another phase: {before.phase}, then {after.phase}")
    changed = [
        f"{key} {before.parameters.get(key)} → {after.parameters.get(key)}"
        for key in dict.fromkeys((*before.parameters, *after.parameters))
        if before.parameters.get(key) != after.parameters.get(key)
    ]
    if changed:
        reasons.append(f"other parameters: {fmt.listing(changed)}")
    return reasons


def _against_its_times(base: Report, before: CaseAnalysis, new: Report, after: CaseAnalysis) -> list[str]:
    """A clock held back makes every time longer, on the device too."""
    held = [is_throttled(base, before), is_throttled(new, after)]
    if held[0] == held[1]:
        return []
    return [f"other clocks: the device was throttled in {'base' if held[0] else 'new'} only"]


def _against_its_step(base: Report, before: CaseAnalysis, new: Report, after: CaseAnalysis) -> list[str]:
    old, now = base.environment, new.environment
    reasons = []
    if (old.processor, old.num_cores) != (now.processor, now.num_cores):
        reasons.append(f"another host: {_host(old)}, then {_host(now)}")
    if before.timing and after.timing and before.timing.mode != after.timing.mode:
        reasons.append(f"other steps: {before.timing.mode}, then {after.timing.mode}")
    crowded = [(name, crowding(case)) for name, case in (("base", before), ("new", after))]
    return reasons + [f"{reason} in {name}" for name, reason in crowded if reason]


def _host(environment: Environment) -> str:
    return f"{environment.processor or 'processor not recorded'}, {fmt.plural(environment.num_cores, 'core')}"


def also_changed(base: Report, new: Report) -> tuple[str, ...]:
    """Return what differs between the environments of two reports, a phrase each: "torch 2.11.0 → 2.12.0"."""
    old, now = base.environment, new.environment
    pairs: list[tuple[str, object, object]] = [
        (name, getattr(old, name), getattr(now, name)) for name in ("torch", "driver", "python", "transformers")
    ]
    pairs.append(("runtime", _runtime(old), _runtime(now)))
    pairs.append(("reportgen", base.generator.version, new.generator.version))
    pairs += [(flag, old.flags.get(flag), now.flags.get(flag)) for flag in sorted({*old.flags, *now.flags})]
    return tuple(f"{name} {_value(before)} → {_value(after)}" for name, before, after in pairs if before != after)


def _runtime(environment: Environment) -> str:
    return f"{environment.runtime.kind} {environment.runtime.version or ''}".strip()


def _value(value: object) -> str:
    return "none" if value is None else fmt.legible(str(value), 80)


def is_throttled(report: Report, case: CaseAnalysis) -> bool:
    """Tell whether the device's clock was held back while `case` was timed."""
    return any(finding.rule == _THROTTLED and finding.case in (None, case.name) for finding in report.findings)


def series_key(report: Report, case: CaseAnalysis) -> str:
    """Return what is alike for the nights of one case that can be compared with each other.

    It is made of workload, case, phase, parameters, device, processor, cores and the kind of step. Versions are not in
    it: whether a new torch is slower is what one wants to know; it is said beside the change.
    """
    environment = report.environment
    parts = (
        report.workload.name if report.workload else None,
        case.name,
        case.phase,
        case.parameters,
        device_name(report, case),
        environment.processor,
        environment.num_cores,
        case.timing.mode if case.timing else None,
    )
    return hashlib.sha256(msgspec.json.encode(parts, order="deterministic")).hexdigest()[:16]
