"""The history: what is put into the store and what is asked of it. Each method is one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from reportgen.history.comparability import device_name, is_throttled, series_key
from reportgen.history.quantities import crowding, figures
from reportgen.history.store import schema
from reportgen.history.store.reading import Reader
from reportgen.history.store.rows import Judgement, NightRow
from reportgen.report.model import Report


class History(Reader):
    """A store that is open."""

    def close(self) -> None:
        """Let go of the database."""
        self.engine.dispose()

    # Nights

    def begin_night(
        self,
        started_at: str,
        *,
        host: str,
        pid: int,
        version: str,
        commit: str | None = None,
        remark: str | None = None,
    ) -> int:
        """Write down that a night has begun; return its number."""
        row = {"started_at": started_at, "host": host, "pid": pid, "version": version, "commit": commit}
        with self.transaction() as connection:
            return _insert(connection, schema.nights, **row, state="running", remark=remark)

    def end_night(self, night_id: int, ended_at: str) -> None:
        """Write down that a night is over."""
        self._set_state(night_id, state="done", ended_at=ended_at)

    def running_nights(self, host: str) -> list[NightRow]:
        """Return the nights of `host` that no one has ended."""
        query = sa.select(schema.nights).where(schema.nights.c.host == host, schema.nights.c.state == "running")
        with self.transaction() as connection:
            return [NightRow(*row) for row in connection.execute(query.order_by(schema.nights.c.id))]

    def interrupt_night(self, night_id: int) -> None:
        """Write down that the process of a night is gone."""
        self._set_state(night_id, state="interrupted")

    def remark(self, night_id: int, remark: str) -> None:
        """Write down something about the circumstances of a night."""
        self._set_state(night_id, remark=remark)

    def _set_state(self, night_id: int, **values: str) -> None:
        with self.transaction() as connection:
            connection.execute(sa.update(schema.nights).where(schema.nights.c.id == night_id).values(**values))

    # Reports

    def add_report(
        self, night_id: int, report: Report, *, repeat: int = 0, folder: str | None = None
    ) -> dict[str, int]:
        """Put all figures and findings of `report` into the store; return the number of each case by its name.

        What the same night holds already of this workload and repeat gives way, so that a retry leaves no second one.
        """
        workload = report.workload.name if report.workload else ""
        failures = [f"{case.name}: {case.reason}" for case in report.cases if case.outcome == "failed"]
        with self.transaction() as connection:
            _remove(connection, night_id, workload, repeat)
            report_id = _insert(
                connection,
                schema.reports,
                night_id=night_id,
                created_at=report.created_at,
                workload=workload,
                torch=report.environment.torch,
                driver=report.environment.driver,
                repeat=repeat,
                folder=folder,
                failure="; ".join(failures) or None,
            )
            return _insert_cases(connection, report_id, report)

    def add_failure(self, night_id: int, workload: str, created_at: str, failure: str, repeat: int = 0) -> None:
        """Write down that a workload left no report, and why."""
        with self.transaction() as connection:
            _remove(connection, night_id, workload, repeat)
            row = {"night_id": night_id, "created_at": created_at, "workload": workload, "repeat": repeat}
            _insert(connection, schema.reports, **row, failure=failure)

    def add_judgements(self, case_id: int, judgements: Sequence[Judgement]) -> None:
        """Keep what was judged of a case."""
        with self.transaction() as connection:
            connection.execute(sa.delete(schema.judgements).where(schema.judgements.c.case_id == case_id))
            rows = [{"case_id": case_id, **judgement._asdict()} for judgement in judgements]
            if rows:
                connection.execute(sa.insert(schema.judgements), rows)

    # Retention

    def prune(self, before: str) -> int:
        """Forget the nights that started before the time `before`; return how many."""
        with self.transaction() as connection:
            done = connection.execute(
                sa.delete(schema.nights).where(schema.nights.c.started_at < before, schema.nights.c.state != "running")
            )
            return done.rowcount

    def folders(self, before: str) -> list[str]:
        """Return the folders of the reports made in nights that started before `before`."""
        n, r = schema.nights.c, schema.reports.c
        query = (
            sa.select(r.folder)
            .select_from(schema.nights.join(schema.reports))
            .where(n.started_at < before, r.folder.is_not(None))
        )
        with self.transaction() as connection:
            return list(connection.execute(query).scalars())


def _insert(connection: sa.Connection, table: sa.Table, **values: object) -> int:
    key = connection.execute(sa.insert(table).values(**values)).inserted_primary_key
    if key is None:
        raise RuntimeError(f"{table.name} gave no number to a new row")
    return int(key[0])


def _remove(connection: sa.Connection, night_id: int, workload: str, repeat: int) -> None:
    r = schema.reports.c
    where = (r.night_id == night_id, r.workload == workload, r.repeat == repeat)
    connection.execute(sa.delete(schema.reports).where(*where))


def _insert_cases(connection: sa.Connection, report_id: int, report: Report) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for case in report.cases:
        numbers[case.name] = _insert(
            connection,
            schema.cases,
            report_id=report_id,
            name=case.name,
            device=device_name(report, case),
            series=series_key(report, case),
            outcome=case.outcome,
            reason=case.reason,
            throttled=int(is_throttled(report, case)),
        )
        values = [
            {"case_id": numbers[case.name], "quantity": name, "value": value}
            for name, value in figures(case).items()
            if name != "step_time" or crowding(case) is None
        ]
        if values:
            connection.execute(sa.insert(schema.figures), values)
    _insert_findings(connection, numbers, report)
    return numbers


def _insert_findings(connection: sa.Connection, numbers: Mapping[str, int], report: Report) -> None:
    rows = {}
    for finding in report.findings:
        if finding.case is not None and finding.case in numbers:
            rows[numbers[finding.case], finding.fingerprint] = {
                "case_id": numbers[finding.case],
                "fingerprint": finding.fingerprint,
                "rule": finding.rule,
                "severity": finding.severity,
                "title": finding.title,
                "promised_us": finding.gain.at_most_us_per_step if finding.gain else None,
            }
    if rows:
        connection.execute(sa.insert(schema.findings), list(rows.values()))
