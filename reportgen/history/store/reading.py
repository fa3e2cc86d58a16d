"""What is asked of a store: series, nights, and what the pages show. Each method is one transaction."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Collection, Iterator

import sqlalchemy as sa
from sqlalchemy.exc import DatabaseError, OperationalError

from reportgen.errors import InputUnreadable
from reportgen.history.quantities import BY_NAME, QUANTITIES, QuantityName
from reportgen.history.store import schema
from reportgen.history.store.rows import Judgement, NightRow, ReportRow, SeriesPoint, TrendRow

# How often a case is measured in a night at most, before what looks worse is measured once more.
MOST_REPEATS = 10
_TIMES = tuple(quantity.name for quantity in QUANTITIES if quantity.unit == "us")


def shown_url(engine: sa.Engine) -> str:
    """Return where a store lies, without the password."""
    return engine.url.render_as_string(hide_password=True)


def first_line(error: DatabaseError) -> str:
    """Return what the database said, in a line."""
    return (str(error.orig).strip() or "no reason given").splitlines()[0]


def _counts(night_id: int | None) -> sa.ColumnElement[bool]:
    """Return which nights are looked back at: those that came to their end, and the one that is asking.

    What a killed night measured was told to nobody: were it looked back at, its change would be the level of the next
    night, and no alarm.
    """
    n = schema.nights.c
    done = n.state == "done"
    return done if night_id is None else sa.or_(done, n.id == night_id)


class Reader:
    """A store as it is read."""

    def __init__(self, engine: sa.Engine) -> None:
        self.engine = engine

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sa.Connection]:
        """Begin a transaction; raise `InputUnreadable` where the database is gone or does not let anybody write."""
        try:
            with self.engine.begin() as connection:
                yield connection
        except OperationalError as error:
            raise InputUnreadable(f"the store {shown_url(self.engine)} fails: {first_line(error)}") from error

    def nights(self, limit: int | None = None) -> list[NightRow]:
        """Return the nights, newest first."""
        query = sa.select(schema.nights).order_by(schema.nights.c.started_at.desc(), schema.nights.c.id.desc())
        with self.transaction() as connection:
            return [NightRow(*row) for row in connection.execute(query.limit(limit))]

    def series(
        self, key: str, quantity: QuantityName, last: int | None = None, night_id: int | None = None
    ) -> list[SeriesPoint]:
        """Return one quantity of the series `key`, oldest first, at most the `last` nights that are done or `night_id`.

        A case that failed is not in it, nor are times taken while the clock was held back.
        """
        n, r, c, f = schema.nights.c, schema.reports.c, schema.cases.c, schema.figures.c
        query = (
            sa.select(n.id, n.started_at, f.value, n.commit, r.torch, n.version)
            .select_from(schema.nights.join(schema.reports).join(schema.cases).join(schema.figures))
            .where(c.series == key, f.quantity == quantity, c.outcome == "done", _counts(night_id))
            .order_by(n.started_at.desc(), n.id.desc(), r.repeat)
        )
        if BY_NAME[quantity].unit == "us":
            query = query.where(c.throttled == 0)
        with self.transaction() as connection:
            rows = connection.execute(query.limit((MOST_REPEATS + 1) * last if last else None)).all()
        points: dict[int, SeriesPoint] = {}
        for night_id, started_at, value, *circumstances in rows:
            known = points.get(night_id)
            values = (*known.values, value) if known else (value,)
            points[night_id] = SeriesPoint(night_id, started_at, values, *circumstances)
        newest = list(points.values())[:last]
        return newest[::-1]

    def fingerprints(self, key: str, last: int, night_id: int) -> list[tuple[int, list[set[str]]]]:
        """Return the findings of each of the `last` nights of a series, oldest first, a set a measurement.

        Nights that are not done are left out, but for `night_id`.
        """
        n, r, c, f = schema.nights.c, schema.reports.c, schema.cases.c, schema.findings.c
        query = (
            sa.select(n.id, r.id, f.fingerprint)
            .select_from(schema.nights.join(schema.reports).join(schema.cases).outerjoin(schema.findings))
            .where(c.series == key, c.outcome == "done", n.id.in_(self._last_nights(key, last, night_id)))
            .order_by(n.started_at, n.id, r.repeat)
        )
        found: dict[int, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
        with self.transaction() as connection:
            for night_id, report_id, fingerprint in connection.execute(query):
                found[night_id][report_id] |= {fingerprint} - {None}
        return [(night_id, list(measured.values())) for night_id, measured in found.items()]

    def versions(self, night_ids: Collection[int]) -> dict[int, str]:
        """Return with which version of reportgen each of these nights was measured."""
        n = schema.nights.c
        with self.transaction() as connection:
            rows = connection.execute(sa.select(n.id, n.version).where(n.id.in_(night_ids)))
            return {row.id: row.version for row in rows}

    def faults(self, key: str, fingerprints: Collection[str]) -> dict[str, str]:
        """Return the titles, as last seen in a series, of those of `fingerprints` that are faults."""
        c, f = schema.cases.c, schema.findings.c
        query = (
            sa.select(f.fingerprint, f.title)
            .select_from(schema.cases.join(schema.findings))
            .where(c.series == key, f.severity != "info", f.fingerprint.in_(fingerprints))
            .order_by(c.id)
        )
        with self.transaction() as connection:
            return {row.fingerprint: row.title for row in connection.execute(query)}

    def last_good(self, key: str, before: str) -> str | None:
        """Return the folder of the last report of a series before a time on whose night nothing of it got worse."""
        n, r, c, j = schema.nights.c, schema.reports.c, schema.cases.c, schema.judgements.c
        alarm = sa.exists().where(j.case_id == c.id, j.verdict.in_(("worse", "new")))
        query = (
            sa.select(r.folder)
            .select_from(schema.nights.join(schema.reports).join(schema.cases))
            # What confirms a measurement has no judgements of its own.
            .where(n.state == "done", n.started_at < before, r.repeat == 0)
            .where(c.series == key, c.outcome == "done", r.folder.is_not(None), ~alarm)
            .order_by(n.started_at.desc(), n.id.desc())
            .limit(1)
        )
        with self.transaction() as connection:
            return connection.execute(query).scalar()

    def _last_nights(self, key: str, last: int, night_id: int) -> list[int]:
        n, c = schema.nights.c, schema.cases.c
        query = (
            sa.select(n.id, n.started_at)
            .select_from(schema.nights.join(schema.reports).join(schema.cases))
            .where(c.series == key, c.outcome == "done", _counts(night_id))
            .distinct()
            .order_by(n.started_at.desc(), n.id.desc())
            .limit(last)
        )
        with self.transaction() as connection:
            return list(connection.execute(query).scalars())

    def reports_of(self, night_ids: Collection[int]) -> dict[int, list[ReportRow]]:
        """Return the reports of each of these nights, in the order they were made."""
        r = schema.reports.c
        query = sa.select(r.id, r.night_id, r.created_at, r.workload, r.torch, r.repeat, r.folder, r.failure)
        found: dict[int, list[ReportRow]] = defaultdict(list)
        with self.transaction() as connection:
            for row in connection.execute(query.where(r.night_id.in_(night_ids)).order_by(r.id)):
                found[row.night_id].append(ReportRow(*row))
        return found

    def judgements_of(self, night_ids: Collection[int]) -> dict[int, list[tuple[str, Judgement]]]:
        """Return what was judged in each of these reports' nights, by report, each with the name of its case."""
        r, c, j = schema.reports.c, schema.cases.c, schema.judgements.c
        query = (
            sa.select(c.report_id, c.name, j.subject, j.verdict, j.base, j.value, j.since, j.needs_nights, j.text)
            .select_from(schema.reports.join(schema.cases).join(schema.judgements))
            .where(r.night_id.in_(night_ids))
            .order_by(c.id)
        )
        found: dict[int, list[tuple[str, Judgement]]] = defaultdict(list)
        with self.transaction() as connection:
            for report_id, name, *judgement in connection.execute(query):
                found[report_id].append((name, Judgement(*judgement)))
        return found

    def trend(self, since: str) -> list[TrendRow]:
        """Return every figure of every case since a time, a series after the other, oldest first within each."""
        n, r, c, f = schema.nights.c, schema.reports.c, schema.cases.c, schema.figures.c
        columns = (c.series, r.workload, c.name, c.device, n.id, n.started_at, n.commit, r.torch, f.quantity, f.value)
        query = (
            sa.select(*columns)
            .select_from(schema.nights.join(schema.reports).join(schema.cases).join(schema.figures))
            .where(n.started_at >= since, c.outcome == "done", sa.or_(c.throttled == 0, f.quantity.not_in(_TIMES)))
            .order_by(r.workload, c.name, c.series, n.started_at, n.id, r.repeat)
        )
        with self.transaction() as connection:
            return [TrendRow._make(row) for row in connection.execute(query)]

    def finding_counts(self, since: str) -> dict[tuple[str, int], int]:
        """Return how many faults each series had on each night since a time, by series and night."""
        n, c, f = schema.nights.c, schema.cases.c, schema.findings.c
        query = (
            sa.select(c.series, n.id, sa.func.count(sa.distinct(f.fingerprint)))
            .select_from(schema.nights.join(schema.reports).join(schema.cases).join(schema.findings))
            .where(n.started_at >= since, f.severity != "info")
            .group_by(c.series, n.id)
        )
        with self.transaction() as connection:
            return {(series, night_id): count for series, night_id, count in connection.execute(query)}

    def changes(self, since: str) -> dict[str, list[tuple[str, Judgement]]]:
        """Return what got worse, better or came new since a time: by series, with the night's time, oldest first."""
        n, c, j = schema.nights.c, schema.cases.c, schema.judgements.c
        query = (
            sa.select(c.series, n.started_at, j.subject, j.verdict, j.base, j.value, j.since, j.needs_nights, j.text)
            .select_from(schema.nights.join(schema.reports).join(schema.cases).join(schema.judgements))
            .where(n.started_at >= since, j.verdict.in_(("worse", "better", "changed", "new", "gone")))
            .order_by(n.started_at, n.id)
        )
        found: dict[str, list[tuple[str, Judgement]]] = defaultdict(list)
        with self.transaction() as connection:
            for series, started_at, *judgement in connection.execute(query):
                found[series].append((started_at, Judgement(*judgement)))
        return found
