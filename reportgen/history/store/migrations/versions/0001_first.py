"""Nights, reports, cases, figures, findings, judgements.

The tables are written out here, not taken from `schema`: this file says what the first version was, for ever.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make all tables."""
    op.create_table(
        "nights",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("started_at", sa.String(32), nullable=False, index=True),
        sa.Column("ended_at", sa.String(32)),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("host", sa.String(255), nullable=False),
        sa.Column("pid", sa.Integer, nullable=False),
        sa.Column("commit", sa.String(64)),
        sa.Column("version", sa.String(64), nullable=False),
        sa.Column("remark", sa.Text),
    )
    op.create_table(
        "reports",
        sa.Column("id", sa.Integer, primary_key=True),
        _parent("night"),
        sa.Column("created_at", sa.String(32), nullable=False),
        sa.Column("workload", sa.String(255), nullable=False),
        sa.Column("torch", sa.String(64)),
        sa.Column("driver", sa.String(64)),
        sa.Column("repeat", sa.Integer, nullable=False),
        sa.Column("folder", sa.Text),
        sa.Column("failure", sa.Text),
        sa.UniqueConstraint("night_id", "workload", "repeat", name="uq_reports_night_id"),
    )
    op.create_table(
        "cases",
        sa.Column("id", sa.Integer, primary_key=True),
        _parent("report"),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("device", sa.String(255), nullable=False),
        sa.Column("series", sa.String(64), nullable=False, index=True),
        sa.Column("outcome", sa.String(16), nullable=False),
        sa.Column("reason", sa.Text),
        sa.Column("throttled", sa.Integer, nullable=False),
    )
    _create_what_belongs_to_a_case()


def _create_what_belongs_to_a_case() -> None:
    op.create_table(
        "figures",
        _case(),
        sa.Column("quantity", sa.String(32), primary_key=True),
        sa.Column("value", sa.Float(53), nullable=False),
    )
    op.create_table(
        "findings",
        _case(),
        sa.Column("fingerprint", sa.String(255), primary_key=True),
        sa.Column("rule", sa.String(64), nullable=False),
        sa.Column("severity", sa.String(16), nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("promised_us", sa.Float(53)),
    )
    op.create_table(
        "judgements",
        _case(),
        sa.Column("subject", sa.String(280), primary_key=True),
        sa.Column("verdict", sa.String(16), nullable=False),
        sa.Column("base", sa.Float(53)),
        sa.Column("value", sa.Float(53)),
        sa.Column("since", sa.String(32)),
        sa.Column("needs_nights", sa.Integer),
        sa.Column("text", sa.Text, nullable=False),
    )


def _parent(table: str) -> sa.Column[int]:
    return sa.Column(
        f"{table}_id", sa.Integer, sa.ForeignKey(f"{table}s.id", ondelete="CASCADE"), nullable=False, index=True
    )


def _case() -> sa.Column[int]:
    return sa.Column("case_id", sa.Integer, sa.ForeignKey("cases.id", ondelete="CASCADE"), primary_key=True)
