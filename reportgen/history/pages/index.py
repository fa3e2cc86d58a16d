"""index.html: how the last night ended, and every night before it with what was told and the way to its reports."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from markupsafe import Markup

from reportgen import formatting as fmt
from reportgen.history.store.history import History
from reportgen.history.store.rows import Judgement, NightRow, ReportRow, is_first_night
from reportgen.report import templating

# More nights than this are on the trend page.
MOST_NIGHTS = 60
# What a reader looks for in a report's folder, best first, and what it says of the changes.
_DOCUMENTS = ("report.html", "report.json")
_COMPARISON = "comparison.html"


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReportLine:
    """A report of a night; `told` is what a reader should know, worst first."""

    workload: str
    href: str | None
    changes_href: str | None
    verdict: str
    told: tuple[str, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class NightLine:
    """A night as the index shows it: the reports with something to tell apart from those without."""

    day: str
    time: str
    verdict: str
    is_loud: bool
    about: str
    remark: str | None
    telling: tuple[ReportLine, ...]
    quiet: tuple[ReportLine, ...]


def render_index(history: History, parent: Path) -> str:
    """Return the index of the last nights, whose reports lie under `parent`, as one HTML page."""
    nights = history.nights(MOST_NIGHTS)
    numbers = [night.id for night in nights]
    reports, judged = history.reports_of(numbers), history.judgements_of(numbers)
    lines = [_night(night, reports.get(night.id, []), judged, parent) for night in nights]
    return templating.render(
        "nights.html.j2",
        nights=lines,
        lead=_lead(lines),
        rest=_rest(lines),
        styles=Markup(templating.stylesheet("shared.css", "screen.css")),
    )


def _lead(nights: Sequence[NightLine]) -> str:
    return f"The last night: {nights[0].verdict}." if nights else ""


def _rest(nights: Sequence[NightLine]) -> str:
    """Return what the last night's verdict rests on, or when something was told last."""
    if not nights:
        return ""
    told = [f"{line.workload} {line.told[0]}." for line in nights[0].telling if line.verdict in _LOUD]
    if told:
        return " ".join(told[:2])
    if nights[0].verdict == _FIRST:
        return "There is nothing to compare it with yet."
    for night in nights[1:]:
        for line in night.telling:
            if line.verdict in _LOUD:
                return f"The last change was told on {night.day}: {line.workload} {line.told[0]}."
    return "No change was told on any night."


def _night(
    night: NightRow, reports: Sequence[ReportRow], judged: Mapping[int, list[tuple[str, Judgement]]], parent: Path
) -> NightLine:
    lines = [_line(report, judged.get(report.id), parent) for report in reports if not report.repeat]
    measured = Counter(report.workload for report in reports)
    about = [f"{name} measured {fmt.times(number)}" for name, number in sorted(measured.items()) if number > 1]
    about += [night.host, f"reportgen {night.version}"]
    about += [f"commit {night.commit[:9]}"] if night.commit else []
    about += sorted({f"torch {report.torch}" for report in reports if report.torch})
    verdict = _night_verdict(night, lines)
    day, _, time = night.started_at.partition("T")
    return NightLine(
        day=day,
        time=time[:5],
        verdict=verdict,
        is_loud=verdict in (*_LOUD, "interrupted"),
        about=", ".join(about),
        remark=night.remark,
        telling=tuple(line for line in lines if line.told),
        quiet=tuple(line for line in lines if not line.told),
    )


_LOUD = ("worse", "failed", "better", "changed")
_FIRST = "first night"


def _night_verdict(night: NightRow, lines: Sequence[ReportLine]) -> str:
    if night.state != "done":
        return night.state
    order = (*_LOUD, "no change", _FIRST)
    return next((verdict for verdict in order if any(line.verdict == verdict for line in lines)), "nothing ran")


def _line(report: ReportRow, judged: Sequence[tuple[str, Judgement]] | None, parent: Path) -> ReportLine:
    rows = list(judged or ())
    told = [f"{case}: {text(row)}" for case, row in sorted(rows, key=lambda item: _rank(item[1])) if _is_told(row)]
    if report.failure:
        told.insert(0, fmt.legible(report.failure))
    verdict = _verdict(report, [row for _, row in rows], judged is not None)
    return ReportLine(
        workload=report.workload,
        href=_existing(parent, report.folder, _DOCUMENTS),
        changes_href=_existing(parent, report.folder, (_COMPARISON,)) if verdict in _LOUD else None,
        verdict=verdict,
        told=tuple(told),
    )


def _existing(parent: Path, folder: str | None, names: Sequence[str]) -> str | None:
    """Return the first of `names` that lies in a report's folder; another machine of the team may have the folder."""
    if folder is None:
        return None
    return next((f"{folder}/{name}" for name in names if (parent / folder / name).is_file()), None)


_ORDER = ("worse", "new", "better", "gone", "changed")


def _rank(row: Judgement) -> int:
    return _ORDER.index(row.verdict) if row.verdict in _ORDER else len(_ORDER)


def _is_told(row: Judgement) -> bool:
    return row.verdict in _ORDER or row.is_open


def text(row: Judgement) -> str:
    """Return a judgement in words: a finding that came or went is named as one."""
    if row.verdict in ("new", "gone"):
        return f"finding {row.verdict}: {row.text}"
    return row.text


def _verdict(report: ReportRow, rows: Sequence[Judgement], judged: bool) -> str:
    if any(row.is_alarm for row in rows):
        return "worse"
    if report.failure:
        return "failed"
    if not judged:
        return "not judged"
    if is_first_night(rows):
        return _FIRST
    found = {row.verdict for row in rows}
    return "better" if found & {"better", "gone"} else "changed" if "changed" in found else "no change"
