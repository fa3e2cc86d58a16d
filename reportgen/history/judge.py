"""What a night says of a case, next to the nights before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from reportgen.analysis.model import CaseAnalysis
from reportgen.findings.rules import RULES
from reportgen.history import wording
from reportgen.history.comparability import series_key
from reportgen.history.quantities import BY_NAME, QUANTITIES, Quantity, crowding, step_time
from reportgen.history.series import Reading, night_value, read_last
from reportgen.history.store.history import History
from reportgen.history.store.rows import Judgement, SeriesPoint
from reportgen.report.model import Report

# Nights that are looked back at.
HORIZON = 120
# A finding at its threshold comes and goes by itself. It is new where it was in none of the nights before, at least so
# many; it is gone after so many nights without it, where before them it was in each since it came, at least so many.
_NIGHTS_BEFORE_NEW = 5
_NIGHTS_GONE = 3
_NIGHTS_STEADY = 3
_TIMELINE_RULES = frozenset(rule.id for rule in RULES if rule.checklist_step == 2)
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
    return found + _judge_findings(history, night_id, key, report, case)


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
    if before.version != since.version:
        also.append(f"reportgen {before.version} → {since.version}")
    if before.commit != since.commit:
        also.append(f"commit {wording.short(before.commit)} → {wording.short(since.commit)}")
    return f" ({', '.join(also)})" if also else ""


def _judge_findings(history: History, night_id: int, key: str, report: Report, case: CaseAnalysis) -> list[Judgement]:
    """Return which findings are new and which are gone; of the timeline only among nights that could time a step."""
    nights = history.fingerprints(key, _FINDING_HORIZON + 1, night_id)
    timed = {point.night_id for point in history.series(key, "step_time", HORIZON, night_id)}
    everywhere = _came_and_went(nights, night_id)
    in_time = _came_and_went([night for night in nights if night[0] in timed], night_id)
    new, gone = (
        {name for name in everywhere[part] if not _is_of_timeline(name)} | set(filter(_is_of_timeline, in_time[part]))
        for part in (0, 1)
    )
    titles = {row.fingerprint: row.title for row in report.findings if row.severity != "info" and row.case == case.name}
    shown = history.faults(key, gone)
    newer = _newer_version(history, [number for number, _ in nights])
    return [
        *(_came(name, title, newer) for name, title in titles.items() if name in new),
        *(
            _of_finding(name, "gone", shown[name])
            for name in sorted(gone)
            if name in shown and _was_looked_for(name, report, case)
        ),
    ]


def _came_and_went(nights: Sequence[tuple[int, list[set[str]]]], night_id: int) -> tuple[set[str], set[str]]:
    """Return which findings are new on the last of `nights`, in each of its measurements, and which are gone."""
    if not nights or nights[-1][0] != night_id:
        return set(), set()
    found = [set().union(*measured) for _, measured in nights]
    known: set[str] = set().union(*found[:-1])
    new = set.intersection(*nights[-1][1]) - known if len(found) > _NIGHTS_BEFORE_NEW else set()
    return new, {name for name in known if _has_gone(name, found)}


def _has_gone(name: str, nights: Sequence[set[str]]) -> bool:
    before, since = nights[:-_NIGHTS_GONE], nights[-_NIGHTS_GONE:]
    first = next((number for number, found in enumerate(before) if name in found), len(before))
    steady = len(before) - first >= _NIGHTS_STEADY and all(name in found for found in before[first:])
    return steady and not any(name in found for found in since)


def _was_looked_for(fingerprint: str, report: Report, case: CaseAnalysis) -> bool:
    """Tell whether the rule could decide tonight: "not evaluated" and "failed" are not "nothing found"."""
    rule = _rule_of(fingerprint)
    outcomes = [row.outcome for row in report.rules if row.id == rule and row.case == case.name]
    return not {"not-evaluated", "failed"} & set(outcomes)


def _rule_of(fingerprint: str) -> str:
    return fingerprint.partition("/")[0]


def _is_of_timeline(fingerprint: str) -> bool:
    """Tell whether a finding rests on what the host's time went into, which others who have the cores disturb."""
    return _rule_of(fingerprint) in _TIMELINE_RULES


def _newer_version(history: History, night_ids: Sequence[int]) -> str | None:
    """Return "reportgen 0.1.0 → 0.2.0" where the last night was another version's than the one before it."""
    versions = history.versions(night_ids[-2:])
    before, now = (versions.get(number) for number in night_ids[-2:]) if len(night_ids) > 1 else (None, None)
    return f"reportgen {before} → {now}" if before != now else None


def _came(name: str, title: str, newer: str | None) -> Judgement:
    """A finding is new; that a newer reportgen finds what an older one did not look for is no news of the program."""
    if newer is None:
        return _of_finding(name, "new", title)
    return _of_finding(name, "changed", f"finding new with {newer}: {title}")


def _of_finding(name: str, verdict: Literal["new", "gone", "changed"], title: str) -> Judgement:
    return Judgement(f"finding:{name}", verdict, None, None, None, None, title)
