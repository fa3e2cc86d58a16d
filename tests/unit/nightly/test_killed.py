"""A night that is killed, at ten points of its work with the store, and the one after it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa

from reportgen.history.store import open_store, schema
from tests.unit.nightly.nights import Nights

ROOT = Path(__file__).resolve().parents[3]
# Runs a night of two workloads and kills its own process before the statement with the given number.
_PROGRAM = """
import os, signal, sys
from pathlib import Path
import sqlalchemy as sa
from tests.unit.nightly.nights import Nights
left = int(sys.argv[2])

@sa.event.listens_for(sa.Engine, "before_cursor_execute")
def _count(connection, cursor, statement, *others):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)

Nights(Path(sys.argv[1]), sys.argv[3]).run(workloads=("gpt2", "bert"))
print("not killed")
"""


@pytest.mark.parametrize("statement", [1, 4, 9, 13, 16, 20, 24, 30, 40, 52])
def test_a_killed_night_leaves_a_consistent_store_and_the_next_one_goes_on(tmp_path, store_url, statement):
    killed = subprocess.run(
        [sys.executable, "-c", _PROGRAM, str(tmp_path), str(statement), store_url],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stdout + killed.stderr

    nights = Nights(tmp_path, store_url)
    nights.day = 1
    assert nights.run(workloads=("gpt2", "bert")).verdict == "no change"

    store = open_store(store_url)
    states = [row.state for row in store.nights()]
    assert states in (["done", "interrupted"], ["done"])
    with store.engine.begin() as connection:
        if store.engine.dialect.name == "sqlite":
            assert connection.execute(sa.text("PRAGMA integrity_check")).scalar() == "ok"
            assert connection.execute(sa.text("PRAGMA foreign_key_check")).all() == []
        whole = sa.select(schema.cases.c.id, sa.func.count()).join(schema.figures).group_by(schema.cases.c.id)
        figures = {count for _, count in connection.execute(whole)}
        lone = sa.select(schema.reports.c.id).where(~sa.exists().where(schema.cases.c.report_id == schema.reports.c.id))
        assert connection.execute(lone).all() == []
    assert len(figures) == 1  # every case has all of its figures
    store.close()
