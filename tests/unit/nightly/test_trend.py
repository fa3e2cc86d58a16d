"""The page of a year of nights."""

import time

import pytest
import sqlalchemy as sa

from reportgen.history.pages.trend import render_trend
from reportgen.history.store import open_store, schema

NIGHTS, CASES = 365, 20


@pytest.fixture
def year(tmp_path):
    """A store with a year of nights of twenty cases."""
    store = open_store(tmp_path / "history.sqlite")
    nights, reports, cases, figures = [], [], [], []
    for day in range(NIGHTS):
        at = f"2026-{day // 28 % 12 + 1:02}-{day % 28 + 1:02}T02:{day // 336:02}:00Z"
        torch = "2.13.0" if day < 200 else "2.14.0"
        nights.append({"id": day + 1, "started_at": at, "state": "done", "host": "a", "pid": 1, "version": "0"})
        reports.append(
            {"id": day + 1, "night_id": day + 1, "created_at": at, "workload": "gpt2", "repeat": 0, "torch": torch}
        )
        for case in range(CASES):
            number = day * CASES + case + 1
            row = {"id": number, "report_id": day + 1, "name": f"case{case:02}", "device": "H200", "throttled": 0}
            cases.append({**row, "series": f"s{case:02}", "outcome": "done"})
            values = {"step_time": 1000.0 + day % 7, "device_time": 200.0, "peak_memory": 2.0**30, "activities": 10.0}
            figures += [{"case_id": number, "quantity": name, "value": value} for name, value in values.items()]
    with store.engine.begin() as connection:
        for table, rows in (
            (schema.nights, nights),
            (schema.reports, reports),
            (schema.cases, cases),
            (schema.figures, figures),
        ):
            connection.execute(sa.insert(table), rows)
    yield store
    store.close()


def test_the_trend_of_a_year_is_there_within_two_seconds(year):
    before = time.process_time()
    page = render_trend(year, "2026-01-01")
    took = time.process_time() - before

    assert took < 2.0
    assert page.count("<svg") == 4 * CASES
    assert "torch 2.14.0" in page
    assert len(page) < 3_000_000
