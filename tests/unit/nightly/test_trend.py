"""The page of a year of nights."""

import time

import pytest
import sqlalchemy as sa

from reportgen.history.pages.chart import limits
from reportgen.history.pages.trend import render_trend
from reportgen.history.store import schema

NIGHTS, CASES = 365, 20


@pytest.fixture
def year(store):
    """A store with a year of nights of twenty cases."""
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
    return store


def test_the_trend_of_a_year_is_there_within_two_seconds(year):
    # Of this process and, on PostgreSQL, the wait for the other; the best of three, since the machine has other work.
    took = []
    for _ in range(3):
        before = time.monotonic()
        page = render_trend(year, "2026-01-01")
        took.append(time.monotonic() - before)

    assert min(took) < 2.0
    assert page.count("<svg") == 4 * CASES
    assert "torch 2.14.0" in page
    assert len(page) < 3_000_000


@pytest.mark.parametrize(
    ("values", "counts", "axis"),
    [
        ([1000.0, 1050.0], False, (800.0, 1200.0)),  # 15 % to either side of 1025 at least, in steps of 100
        ([1000.0] * 10, False, (800.0, 1200.0)),
        ([100.0, 900.0], False, (0.0, 1000.0)),  # below half the largest: from 0
        ([3.0, 3.0], True, (0.0, 4.0)),
        ([0.0], True, (0.0, 1.0)),
        ([], True, (0.0, 1.0)),
    ],
)
def test_an_axis_has_round_ends_that_make_a_change_of_five_per_cent_visible(values, counts, axis):
    assert limits(values, counts=counts) == axis


def test_the_page_begins_with_where_each_case_is_now(year):
    page = " ".join(render_trend(year, "2026-01-01").replace("\u00a0", " ").split())

    assert "<b>No case changed.</b>" in page
    row = page[page.index(">gpt2 case07<") :][:300]
    # The latest of these times is that of day 335, a year's last but for the last weeks: 1000 + 335 mod 7 us.
    assert '<td class="n">1.01 ms</td><td class="n">200 µs</td><td class="n">1.00 GiB</td><td class="n">0</td>' in row
