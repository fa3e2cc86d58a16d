"""The tables as they are now. How a store gets here from an older version: `migrations/versions`.

A night is one run of ``reportgen nightly``; it has reports, one a workload and measurement, a report has cases, a case
has figures and judgements. Times are text, ISO 8601 in UTC, which sorts as it is in every database.
"""

from __future__ import annotations

from sqlalchemy import Column, Float, ForeignKey, Index, Integer, MetaData, String, Table, Text, UniqueConstraint

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _parent(table: str) -> Column[int]:
    return Column(f"{table}_id", ForeignKey(f"{table}s.id", ondelete="CASCADE"), nullable=False, index=True)


nights = Table(
    "nights",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("started_at", String(32), nullable=False, index=True),
    Column("ended_at", String(32)),
    # running, done; interrupted where a later night found that its process is gone.
    Column("state", String(16), nullable=False),
    Column("host", String(255), nullable=False),
    Column("pid", Integer, nullable=False),
    Column("commit", String(64)),
    Column("version", String(64), nullable=False),
    # What was found on the device before it began: another process at work, a clock held back.
    Column("remark", Text),
)

reports = Table(
    "reports",
    metadata,
    Column("id", Integer, primary_key=True),
    _parent("night"),
    Column("created_at", String(32), nullable=False),
    Column("workload", String(255), nullable=False),
    Column("torch", String(64)),
    Column("driver", String(64)),
    # Which measurement of the night: 0, then 1 for the one that is to confirm it.
    Column("repeat", Integer, nullable=False),
    # Where its files lie, as seen from the folder of all reports.
    Column("folder", Text),
    Column("failure", Text),
    UniqueConstraint("night_id", "workload", "repeat"),
)

cases = Table(
    "cases",
    metadata,
    Column("id", Integer, primary_key=True),
    _parent("report"),
    Column("name", String(255), nullable=False),
    Column("device", String(255), nullable=False),
    # Alike for nights that can be compared: workload, case, parameters, device, processor.
    Column("series", String(64), nullable=False),
    Column("outcome", String(16), nullable=False),
    Column("reason", Text),
    Column("throttled", Integer, nullable=False),
    Index("ix_cases_series", "series"),
)

figures = Table(
    "figures",
    metadata,
    Column("case_id", ForeignKey("cases.id", ondelete="CASCADE"), primary_key=True),
    Column("quantity", String(32), primary_key=True),
    Column("value", Float(53), nullable=False),
)

findings = Table(
    "findings",
    metadata,
    Column("case_id", ForeignKey("cases.id", ondelete="CASCADE"), primary_key=True),
    Column("fingerprint", String(255), primary_key=True),
    Column("rule", String(64), nullable=False),
    Column("severity", String(16), nullable=False),
    Column("title", Text, nullable=False),
    Column("promised_us", Float(53)),
)

judgements = Table(
    "judgements",
    metadata,
    Column("case_id", ForeignKey("cases.id", ondelete="CASCADE"), primary_key=True),
    # A quantity, or "finding:" and a fingerprint.
    Column("subject", String(280), primary_key=True),
    Column("verdict", String(16), nullable=False),
    Column("base", Float(53)),
    Column("value", Float(53)),
    Column("since", String(32)),
    Column("needs_nights", Integer),
    Column("text", Text, nullable=False),
)
