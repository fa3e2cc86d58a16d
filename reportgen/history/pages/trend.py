"""trend.html: each case's step time, device time, memory and findings over the nights."""

from __future__ import annotations

import dataclasses
import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from markupsafe import Markup

from reportgen import formatting as fmt
from reportgen.history.pages.chart import Mark, Series, draw
from reportgen.history.pages.index import text
from reportgen.history.quantities import BY_NAME, QuantityName
from reportgen.history.series import night_value
from reportgen.history.store.history import History
from reportgen.history.store.rows import Judgement, TrendRow
from reportgen.report import templating

_SHOWN: tuple[QuantityName, ...] = ("step_time", "device_time", "peak_memory")
# The heads of the columns that say what the figures are now.
HEADS = ("Step time", "Device time", "Peak memory", "Findings")
# Changes listed under a case, the newest.
_MOST_CHANGES = 8


@dataclasses.dataclass(frozen=True, kw_only=True)
class CaseTrend:
    """A case on the trend page."""

    title: str
    about: str
    # What the figures are now, in the order of `HEADS`, and the last change that was told of any of them.
    now: tuple[str, ...]
    last_change: str | None
    charts: tuple[Markup, ...]
    changes: tuple[str, ...]


def render_trend(history: History, since: str) -> str:
    """Return the nights that started at `since` or later as one HTML page."""
    faults, changes = history.finding_counts(since), history.changes(since)
    cases = [
        _case(list(rows), faults, changes.get(series, []))
        for series, rows in itertools.groupby(history.trend(since), key=lambda row: row.series)
    ]
    return templating.render(
        "trend.html.j2",
        cases=cases,
        heads=HEADS,
        lead=_lead(cases),
        since=since[:10],
        styles=Markup(templating.stylesheet("shared.css", "screen.css")),
    )


def _lead(cases: Sequence[CaseTrend]) -> str:
    changed = sum(case.last_change is not None for case in cases)
    return f"{changed} of {fmt.plural(len(cases), 'case')} changed." if changed else "No case changed."


def _case(
    rows: Sequence[TrendRow], faults: Mapping[tuple[str, int], int], changes: Sequence[tuple[str, Judgement]]
) -> CaseTrend:
    first = rows[0]
    nights = _nights(rows)
    marks = _marks(list(nights.values()))
    charts, now = [], []
    for name in _SHOWN:
        quantity = BY_NAME[name]
        points = _points(rows, name)
        now.append(quantity.text(points[max(points)]) if points else fmt.NOT_RECORDED)
        if points:
            known = tuple(at for at, row in changes if row.subject == name)
            charts.append(draw(Series(quantity.label, points, quantity.text, known), list(nights), marks))
    counts = {night.started_at: float(faults.get((night.series, night.night_id), 0)) for night in nights.values()}
    charts.append(draw(Series("findings", counts, fmt.count, (), counts=True), list(nights), marks))
    last = list(nights.values())[-1]
    now.append(fmt.count(counts[last.started_at]))
    told = tuple(f"{at[:10]}: {text(row)}" for at, row in changes[::-1])
    about = f"{first.device}, {fmt.plural(len(nights), 'night')}, torch {last.torch or fmt.NOT_RECORDED}"
    return CaseTrend(
        title=f"{first.workload} {first.case}",
        about=about,
        now=tuple(now),
        last_change=told[0] if told else None,
        charts=tuple(charts),
        changes=told[:_MOST_CHANGES],
    )


def _nights(rows: Iterable[TrendRow]) -> dict[str, TrendRow]:
    return {row.started_at: row for row in rows}


def _points(rows: Iterable[TrendRow], name: QuantityName) -> dict[str, float]:
    """Return one value a night, by the night's time."""
    measured: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if row.quantity == name:
            measured[row.started_at].append(row.value)
    points: dict[str, float] = {}
    before: float | None = None
    for at, values in measured.items():
        before = points[at] = night_value(values, before, BY_NAME[name])
    return points


def _marks(nights: Sequence[TrendRow]) -> tuple[Mark, ...]:
    """Return where the commit or the version of torch is another than the night before."""
    marks = []
    for before, night in itertools.pairwise(nights):
        if before.torch != night.torch:
            marks.append(Mark(night.started_at, f"torch {night.torch}", strong=True))
        elif before.commit != night.commit:
            marks.append(Mark(night.started_at, f"commit {(night.commit or 'unknown')[:9]}", strong=False))
    return tuple(marks)
