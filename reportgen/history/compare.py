"""Compare two reports: each case, what moved in it, and the findings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from reportgen import formatting as fmt
from reportgen.analysis.model import CaseAnalysis
from reportgen.findings.model import Finding
from reportgen.history import noise
from reportgen.history.comparability import Comparability, also_changed, comparability, device_name
from reportgen.history.model import CaseDifference, Difference, FindingDifference, ReportDifference, Side, Verdict
from reportgen.history.movement import moved, on_the_device
from reportgen.history.quantities import BY_NAME, QUANTITIES, Quantity, figures, spread_within, step_time
from reportgen.report.json import decode_report
from reportgen.report.model import Report
from reportgen.resources import is_folder

REPORT_NAME = "report.json"


class KnownSpread(NamedTuple):
    """What is known of how a case's step time moves by itself: the deviation of its logarithm, over how many nights.

    Of no nights it is that within one run, which two runs differ by at the least.
    """

    deviation: float
    num_nights: int


def read_report(path: Path) -> Report:
    """Read the report in the folder or file `path`; raise `InputUnreadable` where there is none."""
    file = path / REPORT_NAME if is_folder(path) else path
    return decode_report(file, Report)


def compare_reports(
    base: Report,
    new: Report,
    paths: tuple[str, str] = ("base", "new"),
    spreads: Mapping[str, KnownSpread] | None = None,
) -> ReportDifference:
    """Return how `new` differs from `base`. `spreads` are of step times between nights, by case, where known."""
    before = {case.name: case for case in base.cases}
    after = {case.name: case for case in new.cases}
    cases = []
    for name in dict.fromkeys((*before, *after)):
        if name in before and name in after:
            cases.append(_compare_case(base, before[name], new, after[name], (spreads or {}).get(name)))
        else:
            cases.append(_lone_case(before.get(name), after.get(name)))
    told, left_out = _findings_that_count(_compare_findings(base, new), cases, base, new)
    return ReportDifference(
        base=_side(base, paths[0]),
        new=_side(new, paths[1]),
        verdict=_joint(case.verdict for case in cases),
        also=also_changed(base, new),
        cases=tuple(cases),
        findings=told,
        num_findings_not_compared=left_out,
    )


def _side(report: Report, path: str) -> Side:
    return Side(
        path=path,
        created_at=report.created_at,
        workload=report.workload.name if report.workload else None,
        device=fmt.listing(list(dict.fromkeys(device_name(report, case) for case in report.cases))),
        host=report.environment.host,
        torch=report.environment.torch,
        driver=report.environment.driver,
        generator=report.generator.version,
    )


def _joint(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the first in this order that any of the cases has."""
    found = set(verdicts)
    order: tuple[Verdict, ...] = ("worse", "better", "changed", "not-comparable", "within-noise")
    return next((verdict for verdict in order if verdict in found), "unchanged")


# A case


def _compare_case(
    base: Report, before: CaseAnalysis, new: Report, after: CaseAnalysis, spread: KnownSpread | None
) -> CaseDifference:
    against = comparability(base, before, new, after)
    olds, news = figures(before), figures(after)
    spread = spread or KnownSpread(deviation=max(spread_within(before), spread_within(after)), num_nights=0)
    differences = tuple(
        compare_figure(quantity, olds.get(quantity.name), news.get(quantity.name), against, spread)
        for quantity in QUANTITIES
        if quantity.name in olds or quantity.name in news
    )
    return CaseDifference(
        name=before.name,
        state="both",
        verdict="not-comparable" if against.case else _of_case(differences),
        reasons=(*against.case, *against.times, *against.step),
        differences=differences,
        moved_basis="device" if on_the_device(before, after) else "host",
        moved=() if against.case else moved(before, after),
    )


def _lone_case(before: CaseAnalysis | None, after: CaseAnalysis | None) -> CaseDifference:
    case = before or after
    if case is None:
        raise ValueError("a case is on one side at least")
    values = figures(case)
    differences = tuple(
        Difference(
            quantity=quantity.name,
            base=values[quantity.name] if before else None,
            new=values[quantity.name] if after else None,
            change=None,
            verdict="not-comparable",
            reason="on one side only",
        )
        for quantity in QUANTITIES
        if quantity.name in values
    )
    return CaseDifference(
        name=case.name,
        state="gone" if before else "added",
        verdict="not-comparable",
        reasons=(f"the case is only in {'base' if before else 'new'}",),
        differences=differences,
    )


def _of_case(differences: Sequence[Difference]) -> Verdict:
    """Times, bytes and memory decide; the count of activities only where none of them moved."""
    comparable = [row for row in differences if row.verdict != "not-comparable"]
    if differences and not comparable:
        return "not-comparable"
    costs = _joint(row.verdict for row in comparable if BY_NAME[row.quantity].unit != "count")
    return costs if costs in ("worse", "better") else _joint(row.verdict for row in comparable)


def compare_figure(
    quantity: Quantity,
    base: float | None,
    new: float | None,
    against: Comparability,
    spread: KnownSpread | None = None,
) -> Difference:
    """Return the verdict on one quantity of a case, measured once on either side."""
    change = (new - base) / base if base and new is not None else None
    verdict, reason, needs = _judge(quantity, base, new, against, spread)
    return Difference(
        quantity=quantity.name,
        base=base,
        new=new,
        change=change,
        verdict=verdict,
        reason=reason,
        needs_nights=needs,
    )


def _judge(
    quantity: Quantity, base: float | None, new: float | None, against: Comparability, spread: KnownSpread | None
) -> tuple[Verdict, str, int | None]:
    if base is None or new is None:
        return "not-comparable", f"not measured in {'base' if base is None else 'new'}", None
    reasons = [*against.case]
    reasons += against.times if quantity.unit == "us" else ()
    reasons += against.step if quantity.stability == "timed" else ()
    if reasons:
        return "not-comparable", reasons[0], None
    if base == new:
        return "unchanged", "equal", None
    if quantity.stability == "timed":
        return _judge_step(base, new, spread)
    if not quantity.moved(base, new):
        return "within-noise", f"within {_tolerance(quantity)}", None
    moved_by = f"more than {_tolerance(quantity)}"
    if not quantity.decides:
        return "changed", moved_by, None
    return "worse" if new > base else "better", moved_by, None


def _tolerance(quantity: Quantity) -> str:
    if quantity.tolerance == 0.0:
        return f"{fmt.fixed(quantity.floor, 1)} a step"
    return f"{fmt.share(quantity.tolerance)} and {quantity.text(quantity.floor)}"


def _judge_step(base: float, new: float, known: KnownSpread | None) -> tuple[Verdict, str, int | None]:
    """One run a side: only what lies outside the spread between nights is a change."""
    effect = noise.log_ratio(base, new)
    num_nights, deviation = (known.num_nights, known.deviation) if known else (0, 0.0)
    if not num_nights:
        deviation = max(deviation, noise.ASSUMED_SPREAD)
    limit = noise.threshold(deviation, 1, 1, num_nights - 1 if num_nights else None)
    source = f"{fmt.share(deviation)} between nights, assumed"
    if num_nights:
        source = f"{fmt.share(deviation)} between {num_nights} nights"
    elif deviation > noise.ASSUMED_SPREAD:
        source = f"{fmt.share(deviation)} within one run; --store takes it from the nights before"
    if abs(effect) > limit:
        return "worse" if effect > 0 else "better", f"outside the spread ({source})", None
    needs = noise.nights_needed(effect, deviation)
    beyond = f"one run a side decides from {fmt.share(math.expm1(limit))} on ({source})"
    return "within-noise", beyond, needs


# Findings


def _compare_findings(base: Report, new: Report) -> tuple[FindingDifference, ...]:
    before = {finding.fingerprint: finding for finding in base.findings}
    after = {finding.fingerprint: finding for finding in new.findings}
    shorter = _shorter_steps(base, new)
    rows = [
        _finding(before.get(fingerprint), after.get(fingerprint), shorter)
        for fingerprint in dict.fromkeys((*after, *before))
    ]
    order = {"new": 0, "gone": 1, "still": 2}
    return tuple(sorted(rows, key=lambda row: order[row.state]))


def _findings_that_count(
    rows: Sequence[FindingDifference], cases: Sequence[CaseDifference], base: Report, new: Report
) -> tuple[tuple[FindingDifference, ...], int]:
    """Return the findings without those that came or went with a case, or its device, and how many faults these are.

    A case that is new has new findings. One that is gone, failed or ran elsewhere has not got rid of them.
    """
    after = {case.name: case for case in new.cases}
    apart = {case.name for case in base.cases if case.name not in after}
    apart |= {
        case.name for case in base.cases if case.name in after and comparability(base, case, new, after[case.name]).case
    }
    # A finding of no case is one of all of them.
    nothing = bool(cases) and all(case.name in apart or case.state == "added" for case in cases)
    kept = tuple(
        row for row in rows if row.state == "still" or not (nothing if row.case is None else row.case in apart)
    )
    lost = set(rows) - set(kept)
    return kept, sum(row.severity != "info" for row in lost)


def _finding(before: Finding | None, after: Finding | None, shorter: Mapping[str, float]) -> FindingDifference:
    finding = after or before
    if finding is None:
        raise ValueError("a finding is on one side at least")
    gain = before.gain if before else finding.gain
    gone = after is None
    return FindingDifference(
        fingerprint=finding.fingerprint,
        rule=finding.rule,
        case=finding.case,
        severity=finding.severity,
        title=finding.title,
        state="gone" if gone else "still" if before else "new",
        # A promise of the mean step cannot be held against steps that are medians.
        promised_us=gain.at_most_us_per_step if gain is not None and gain.base == "step" else None,
        realised_us=shorter.get(finding.case or "") if gone else None,
    )


def _shorter_steps(base: Report, new: Report) -> dict[str, float]:
    """Return by how much the step of each comparable case got shorter, in µs."""
    after = {case.name: case for case in new.cases}
    found = {}
    for case in base.cases:
        other = after.get(case.name)
        if other is None or any(comparability(base, case, new, other)):
            continue
        old_us, new_us = step_time(case), step_time(other)
        if old_us is not None and new_us is not None:
            found[case.name] = old_us - new_us
    return found
