"""What a night says of a case, next to the nights before it."""

from __future__ import annotations

from collections.abc import Sequence

from reportgen.analysis.model import CaseAnalysis
from reportgen.history import wording
from reportgen.history.comparability import series_key
from reportgen.history.quantities import BY_NAME, QUANTITIES, Quantity, crowding, step_time
from reportgen.history.series import Reading, night_value, read_last
from reportgen.history.store.history import History
from reportgen.history.store.rows import Judgement, SeriesPoint
from reportgen.report.model import Report

# Nights that are looked back at.
HORIZON = 120
# Before a finding counts as new it was absent from so many nights; before it counts as gone it was in so many.
_FINDING_NIGHTS = 3
_FINDING_HORIZON = 30


def judge_case(history: History, night_id: int, report: Report, case: CaseAnalysis) -> list[Judgement]:
    """Return the judgements on `case` of the night `night_id`, which is in the store already."""
    key = series_key(report, case)
    found = []
    for quantity in QUANTITIES:
        points = history.series(key, quantity.name, HORIZON, night_id)
        if points and points[-1].night_id == night_id:
            found.append(_judge_quantity(quantity, points))
    if (reason := crowding(case)) is not None:
        found.append(_not_judged(step_time(case), reason))
    return found + _judge_findings(history, night_id, key, report)


def _not_judged(step_us: float | None, reason: str) -> Judgement:
    quantity = BY_NAME["step_time"]
    text = f"{quantity.label} {quantity.text(step_us)}, not judged: {reason}"
    return Judgement(quantity.name, "not-comparable", None, None, None, None, text)


def reduced(points: Sequence[SeriesPoint], quantity: Quantity) -> list[float]:
    """Return one figure a night, oldest first."""
    values: list[float] = []
    for point in points:
        values.append(night_value(point.values, values[-1] if values else None, quantity))
    return values


def _judge_quantity(quantity: Quantity, points: Sequence[SeriesPoint]) -> Judgement:
    values = reduced(points, quantity)
    reading = read_last(values, quantity)
    return Judgement(
        subject=quantity.name,
        verdict=reading.verdict,
        base=reading.base,
        value=reading.new,
        since=points[reading.start].started_at if reading.start is not None else None,
        needs_nights=reading.needs_nights,
        text=_text(quantity, reading, points),
    )


def _text(quantity: Quantity, reading: Reading, points: Sequence[SeriesPoint]) -> str:
    if reading.base is None:
        return f"{quantity.label} {quantity.text(reading.new)}: the first night"
    said = wording.moved_by(quantity, reading.base, reading.new)
    if reading.verdict == "unchanged":
        return f"{quantity.label} {quantity.text(reading.new)}"
    if reading.start is None:
        return said + wording.needs(reading.needs_nights)
    since = points[reading.start]
    before = points[reading.start - 1]
    return f"{said} since {since.started_at[:10]}{_beside(before, since)}"


def _beside(before: SeriesPoint, since: SeriesPoint) -> str:
    """Return what else changed between two nights."""
    also = []
    if before.torch != since.torch:
        also.append(f"torch {before.torch} → {since.torch}")
    if before.commit != since.commit:
        also.append(f"commit {wording.short(before.commit)} → {wording.short(since.commit)}")
    return f" ({', '.join(also)})" if also else ""


def _judge_findings(history: History, night_id: int, key: str, report: Report) -> list[Judgement]:
    """A finding is new or gone where every measurement of the night agrees, and enough nights before it do."""
    nights = history.fingerprints(key, _FINDING_HORIZON + 1, night_id)
    if len(nights) <= _FINDING_NIGHTS or nights[-1][0] != night_id:
        return []
    titles = {finding.fingerprint: finding.title for finding in report.findings if finding.severity != "info"}
    tonight, earlier = nights[-1][1], [set().union(*measured) for _, measured in nights[:-1]]
    known: set[str] = set().union(*earlier)
    new = set.intersection(*tonight) - known
    found = [
        Judgement(f"finding:{print_}", "new", None, None, None, None, titles[print_])
        for print_ in titles
        if print_ in new
    ]
    steady = set.intersection(*earlier[-_FINDING_NIGHTS:])
    gone = sorted(steady - set().union(*tonight))
    shown = history.faults(key, gone)
    return found + [
        Judgement(f"finding:{print_}", "gone", None, None, None, None, shown[print_])
        for print_ in gone
        if print_ in shown
    ]
