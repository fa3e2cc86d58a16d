import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from reportgen.errors import InputUnreadable, UsageError
from reportgen.findings.model import RuleRecord
from reportgen.history.comparability import series_key
from reportgen.history.judge import judge_case
from reportgen.history.store import open_store, schema
from reportgen.history.store.rows import Judgement
from tests.night_builder import night, night_case, timed
from tests.report_builder import finding

ROOT = Path(__file__).resolve().parents[3]
KEY = series_key(night(), night_case())


def add_night(store, day, report=None, **fields):
    fields = {"version": "0.1.0"} | fields
    number = store.begin_night(f"2026-01-{day:02}T02:00:00Z", host="node7", pid=1, **fields)
    cases = store.add_report(number, report or night(), folder=f"night-{day}")
    store.end_night(number, f"2026-01-{day:02}T03:00:00Z")
    return number, cases


def test_the_migrations_lead_to_the_tables_that_the_code_knows(store):
    with store.engine.begin() as connection:
        assert compare_metadata(MigrationContext.configure(connection), schema.metadata) == []


def test_a_report_is_found_again_by_its_series(store):
    number, _ = add_night(store, 1, commit="abc")

    (point,) = store.series(KEY, "device_time")
    assert (point.night_id, point.values, point.commit) == (number, (200.0,), "abc")
    assert store.series("another", "device_time") == []


def test_a_second_measurement_joins_the_first_of_its_night(store):
    number, _ = add_night(store, 1)
    store.add_report(number, night([night_case(mm_us=121.0)]), repeat=1)

    assert [point.values for point in store.series(KEY, "device_time")] == [(200.0, 201.0)]


def test_storing_a_report_twice_leaves_one(store):
    number, _ = add_night(store, 1)
    store.add_report(number, night([night_case(mm_us=130.0)]))

    assert [point.values for point in store.series(KEY, "device_time")] == [(210.0,)]


def test_times_of_a_throttled_night_are_in_no_series_but_its_memory_is(store):
    add_night(store, 1, night(findings=[finding(rule="clock-throttled", severity="info")]))

    assert store.series(KEY, "device_time") == []
    assert len(store.series(KEY, "peak_memory")) == 1


def test_a_failed_case_is_in_no_series(store):
    add_night(store, 1, night([night_case(outcome="failed", reason="out of memory")]))

    assert store.series(KEY, "peak_memory") == []


def test_a_series_gives_its_last_nights_oldest_first(store):
    for day in (1, 2, 3):
        add_night(store, day, night([night_case(mm_us=100.0 + day)]))

    assert [point.values[0] for point in store.series(KEY, "device_time", last=2)] == [182.0, 183.0]


def test_the_last_good_night_is_one_without_an_alarm(store):
    _, good = add_night(store, 1)
    again, bad = add_night(store, 2)
    store.add_judgements(good["prefill"], [Judgement("device_time", "unchanged", 1.0, 1.0, None, None, "")])
    store.add_judgements(bad["prefill"], [Judgement("device_time", "worse", 1.0, 2.0, None, None, "")])
    store.add_report(again, night(), repeat=1, folder="night-2-again")

    assert store.last_good(KEY, "2026-01-03T02:00:00Z") == "night-1"
    assert store.last_good(KEY, "2026-01-01T02:00:00Z") is None


def test_pruning_forgets_nights_with_all_that_belongs_to_them(store):
    add_night(store, 1, night(findings=[finding()]))
    add_night(store, 2)

    assert store.prune("2026-01-02T00:00:00Z") == 1
    with store.engine.begin() as connection:
        counts = [
            connection.execute(sa.select(sa.func.count()).select_from(table)).scalar()
            for table in (schema.nights, schema.reports, schema.cases, schema.findings)
        ]
    assert counts == [1, 1, 1, 0]


def test_a_report_is_stored_whole_or_not_at_all(store):
    number, _ = add_night(store, 1)

    @sa.event.listens_for(store.engine, "before_cursor_execute")
    def _break(connection, cursor, statement, parameters, context, executemany):
        if statement.startswith("INSERT INTO findings"):
            raise InterruptedError

    with pytest.raises(InterruptedError):
        store.add_report(number, night(findings=[finding()]), repeat=1)

    assert [report.repeat for report in store.reports_of([number])[number]] == [0]
    assert [point.values for point in store.series(KEY, "device_time")] == [(200.0,)]


def test_a_database_that_goes_away_is_said_in_a_line(store):
    @sa.event.listens_for(store.engine, "before_cursor_execute")
    def _lose(connection, cursor, statement, parameters, context, executemany):
        raise sa.exc.OperationalError(statement, parameters, Exception("server closed the connection\nunexpectedly"))

    with pytest.raises(InputUnreadable, match=r"fails: server closed the connection$"):
        store.nights()


def test_two_writers_at_once_both_get_through(store_url):
    open_store(store_url).close()
    program = """
import sys
from reportgen.history.store import open_store
from tests.night_builder import night
store = open_store(sys.argv[1])
for number in range(10):
    night_id = store.begin_night("2026-01-01T00:00:00Z", host=sys.argv[2], pid=1, version="0")
    store.add_report(night_id, night())
    store.end_night(night_id, "2026-01-01T01:00:00Z")
"""
    command = [sys.executable, "-c", program, store_url]
    writers = [subprocess.Popen([*command, host], cwd=ROOT, env={"PYTHONPATH": str(ROOT)}) for host in ("a", "b")]

    assert [writer.wait(timeout=120) for writer in writers] == [0, 0]
    store = open_store(store_url)
    assert len(store.nights()) == 20
    assert len(store.series(KEY, "device_time")) == 20
    store.close()


def test_a_store_of_a_newer_version_is_refused(store_url):
    store = open_store(store_url)
    with store.engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    store.close()

    with pytest.raises(InputUnreadable, match="newer reportgen"):
        open_store(store_url)


def test_a_database_that_nothing_speaks_to_is_said_in_a_line():
    with pytest.raises(UsageError, match="no driver"):
        open_store("nosuchdatabase://host/name")


def test_a_store_that_is_only_read_is_not_made(tmp_path):
    with pytest.raises(InputUnreadable, match="no such store"):
        open_store(tmp_path / "history.sqlite", create=False)
    assert not list(tmp_path.iterdir())


def test_a_server_that_is_not_there_is_said_in_a_line(tmp_path):
    pytest.importorskip("psycopg", reason="the extra postgres is not installed")
    with pytest.raises(InputUnreadable, match="cannot be opened"):
        open_store(f"postgresql://test@/postgres?host={tmp_path}")


def verdicts(store, number, report):
    return {row.subject: row.verdict for row in judge_case(store, number, report, report.cases[0])}


def test_a_night_is_judged_by_the_nights_before(store):
    for day in (1, 2, 3):
        add_night(store, day)
    worse = night([night_case(mm_us=130.0, peak_bytes=2**31)])
    number, _ = add_night(store, 4, worse)

    judged = verdicts(store, number, worse)

    assert judged["device_time"] == "worse"
    assert judged["peak_memory"] == "worse"
    assert judged["activities"] == "unchanged"
    assert judged["step_time"] == "within-noise"


def test_what_a_second_measurement_does_not_confirm_is_no_alarm(store):
    add_night(store, 1)
    worse = night([night_case(mm_us=130.0)])
    number, _ = add_night(store, 2, worse)
    store.add_report(number, night(), repeat=1)

    assert verdicts(store, number, worse)["device_time"] == "unchanged"


def test_what_a_killed_night_measured_is_told_by_the_next(store):
    add_night(store, 1)
    worse = night([night_case(mm_us=130.0)], findings=[finding()])
    killed = store.begin_night("2026-01-02T02:00:00Z", host="node7", pid=1, version="0.1.0")
    store.add_report(killed, worse, folder="night-2")
    store.interrupt_night(killed)
    number, _ = add_night(store, 3, worse)

    assert verdicts(store, number, worse)["device_time"] == "worse"
    assert store.last_good(KEY, "2026-01-03T02:00:00Z") == "night-1"


def test_a_night_that_has_not_ended_sees_itself_and_no_other_like_it(store):
    add_night(store, 1)
    other = store.begin_night("2026-01-02T02:00:00Z", host="node8", pid=1, version="0.1.0")
    store.add_report(other, night([night_case(mm_us=130.0)]))
    own = store.begin_night("2026-01-02T02:00:00Z", host="node7", pid=1, version="0.1.0")
    store.add_report(own, night([night_case(mm_us=121.0)]))

    assert [point.values for point in store.series(KEY, "device_time", night_id=own)] == [(200.0,), (201.0,)]


def test_a_finding_is_new_after_five_nights_without_it(store):
    other = night(findings=[finding("F2")])
    for day in (1, 2, 3, 4):
        add_night(store, day, night(findings=[finding("F1")]))
    number, _ = add_night(store, 5, other)
    assert "finding:host-bound/prefill/F2" not in verdicts(store, number, other)

    store.prune("2027-01-01T00:00:00Z")
    for day in (1, 2, 3, 4, 5):
        add_night(store, day, night(findings=[finding("F1")]))
    number, _ = add_night(store, 6, other)
    assert verdicts(store, number, other)["finding:host-bound/prefill/F2"] == "new"


def test_what_a_newer_reportgen_finds_is_no_alarm(store):
    for day in (1, 2, 3, 4, 5):
        add_night(store, day)
    found = night([night_case(mm_us=130.0)], findings=[finding("F1")])
    number, _ = add_night(store, 6, found, version="0.2.0")

    rows = {row.subject: row for row in judge_case(store, number, found, found.cases[0])}

    told = rows["finding:host-bound/prefill/F1"]
    assert (told.verdict, told.text.partition(":")[0]) == ("changed", "finding new with reportgen 0.1.0 → 0.2.0")
    # Figures are judged all the same, and the version is named beside them.
    assert rows["device_time"].verdict == "worse"
    assert "(reportgen 0.1.0 → 0.2.0)" in rows["device_time"].text


def gone_on(store, presence, last=None):
    """On which days, from 1, the finding F1 is told to be gone; `presence` says of each night whether it is there."""
    told = []
    for day, there in enumerate(presence, 1):
        report = night(findings=[finding("F1")] if there else [])
        if last is not None and day == len(presence):
            report = msgspec.structs.replace(report, rules=(last,))
        number, _ = add_night(store, day, report)
        if verdicts(store, number, report).get("finding:host-bound/prefill/F1") == "gone":
            told.append(day)
    return told


def test_a_finding_is_gone_on_the_third_night_without_it_and_only_then(store):
    assert gone_on(store, [1, 1, 1, 0, 0, 0, 0]) == [6]


def test_a_finding_at_its_threshold_is_never_gone(store):
    assert gone_on(store, [1, 1, 0, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0]) == []


def test_what_could_not_be_looked_for_is_not_gone(store):
    undecided = RuleRecord(id="host-bound", case="prefill", outcome="not-evaluated", reason="between the limits")

    assert gone_on(store, [1, 1, 1, 0, 0, 0], undecided) == []


def test_a_finding_that_comes_and_goes_is_not_new(store):
    for day in range(1, 8):
        add_night(store, day, night(findings=[finding("F1")] if day == 2 else []))
    number, _ = add_night(store, 8, night(findings=[finding("F1")]))

    assert "finding:host-bound/prefill/F1" not in verdicts(store, number, night(findings=[finding("F1")]))


def test_on_a_night_that_could_time_no_step_only_findings_of_the_timeline_are_left_open(store):
    crowded = timed(*[9000.0] * 20, starved_us=[4000.0] * 20)
    waits = finding(rule="host-stall", fingerprint="host-stall/prefill/F1")
    grows = finding(rule="memory-growth", fingerprint="memory-growth/prefill/F2")
    for day in (1, 2, 3, 4, 5):
        add_night(store, day)
    busy = night([night_case(timing=crowded)], findings=[waits, grows])
    number, _ = add_night(store, 6, busy)
    assert verdicts(store, number, busy)["finding:memory-growth/prefill/F2"] == "new"
    assert "finding:host-stall/prefill/F1" not in verdicts(store, number, busy)

    free = night(findings=[waits, grows])
    number, _ = add_night(store, 7, free)
    assert verdicts(store, number, free)["finding:host-stall/prefill/F1"] == "new"


def test_a_change_names_what_else_changed_that_night(store):
    add_night(store, 1, commit="a" * 40)
    worse = night([night_case(mm_us=130.0)])
    number, _ = add_night(store, 2, worse, commit="b" * 40)

    (row,) = [row for row in judge_case(store, number, worse, worse.cases[0]) if row.subject == "device_time"]

    assert row.text.replace("\u00a0", " ") == (
        "device time per step 200 µs → 210 µs (+5.0 %) since 2026-01-02 (commit aaaaaaaaa → bbbbbbbbb)"
    )


def test_a_file_that_is_no_database_is_an_input_that_cannot_be_read(tmp_path):
    (tmp_path / "history.sqlite").write_text("not a database\n" * 50)
    with pytest.raises(InputUnreadable, match="cannot be opened: file is not a database"):
        open_store(tmp_path / "history.sqlite")


def test_a_store_that_cannot_be_made_where_it_is_wanted_is_told(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputUnreadable, match="cannot be made"):
        open_store(tmp_path / "file" / "history.sqlite")


def test_a_port_that_is_no_number_is_a_wrong_usage():
    with pytest.raises(UsageError, match="is no URL of a database"):
        open_store("postgresql://host:port/name")
