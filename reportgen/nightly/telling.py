"""What is told of a workload's night, with the operators behind it from the comparison with the last good night."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from reportgen.errors import InputUnreadable
from reportgen.history import wording
from reportgen.history.comparability import series_key
from reportgen.history.compare import compare_reports, read_report
from reportgen.history.comparison_files import write_comparison
from reportgen.history.model import CaseDifference, Moved, ReportDifference
from reportgen.history.spread import known_spreads
from reportgen.history.store import History
from reportgen.history.store.rows import Judgement
from reportgen.history.text import calls_text, first_moved, host_moved
from reportgen.nightly.summary import Told
from reportgen.report.model import Report

_FINDING = "finding:"
_MOST_MOVED = 3
# What made up less of a change of the step time is no explanation of it.
_LEAST_PART = 0.1


def write_what_changed(
    history: History, before: str, report: Report, parent: Path, folder: Path
) -> ReportDifference | None:
    """Compare `report` with that of the last good night before a time and write it beside; None where there is none."""
    keys = [series_key(report, case) for case in report.cases if case.outcome == "done"]
    goods = [good for key in keys if (good := history.last_good(key, before)) is not None]
    spreads = known_spreads(history, report)
    for good in dict.fromkeys(goods):
        try:
            base = read_report(parent / good)
        except InputUnreadable:  # another machine of the team has it, or somebody tidied up
            continue
        difference = compare_reports(base, report, (str(parent / good), str(folder)), spreads)
        write_comparison(difference, folder, ("html", "json", "md"))
        return difference
    return None


def began(judged: Mapping[str, Sequence[Judgement]], tonight: str) -> str:
    """Return since when what is told tonight is so: a change of the step time is told nights after it came."""
    return min((row.since for rows in judged.values() for row in rows if row.since is not None), default=tonight)


def tell(
    judged: Mapping[str, Sequence[Judgement]], report: Report, difference: ReportDifference | None
) -> tuple[Told, ...]:
    """Return what changed, what got worse first."""
    rules = {finding.fingerprint: finding.rule for finding in report.findings}
    found = []
    for case, rows in judged.items():
        for row in rows:
            if row.verdict in ("worse", "better", "changed", "new", "gone"):
                found.append(
                    Told(
                        case=case,
                        subject=row.subject,
                        verdict=row.verdict,
                        text=row.text,
                        base=row.base,
                        value=row.value,
                        rule=rules.get(row.subject.removeprefix(_FINDING)),
                        moved=_moved(difference, row, case),
                    )
                )
    order = ("worse", "new", "better", "gone", "changed")
    return tuple(sorted(found, key=lambda row: order.index(row.verdict)))


def _moved(difference: ReportDifference | None, told: Judgement, case: str) -> tuple[str, ...]:
    """Return what moved most behind a change of `case` that is told, in lines."""
    found = next((row for row in difference.cases if row.name == case), None) if difference else None
    if found is None or told.subject.startswith(_FINDING):
        return ()
    if told.subject != "step_time" or told.base is None or told.value is None:
        return _lines(first_moved(found))
    change_us = told.value - told.base
    return _lines(explaining(found, change_us))


def explaining(case: CaseDifference, change_us: float) -> list[Moved]:
    """Return the operators and functions that a longer or shorter step may come from: those that moved as it did.

    Of the device where it has any, else of the host, whose times move by themselves; each is a tenth of it or more.
    """
    rows = [*first_moved(case), *host_moved(case)]
    fitting = [
        row for row in rows if row.change_us * change_us > 0 and abs(row.change_us) >= _LEAST_PART * abs(change_us)
    ]
    basis = case.moved_basis if any(row.basis == case.moved_basis for row in fitting) else "host"
    unique = dict.fromkeys(row for row in fitting if row.basis == basis)
    return sorted(unique, key=lambda row: -abs(row.change_us))


def _lines(rows: Sequence[Moved]) -> tuple[str, ...]:
    return tuple(
        f"{wording.signed_time(row.change_us)} {wording.moved_name(row, 60)} ({calls_text(row)})"
        for row in rows[:_MOST_MOVED]
    )


def waiting(judged: Mapping[str, Sequence[Judgement]]) -> tuple[str, ...]:
    """Return the figures that tonight could not decide, a line each: they need more nights, or a host that is free."""
    return tuple(f"{case}: {row.text}" for case, rows in judged.items() for row in rows if row.is_open)
