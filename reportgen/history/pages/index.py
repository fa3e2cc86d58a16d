"""index.html: every night, newest first, with its verdict and the way to its reports."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from markupsafe import Markup

from reportgen import formatting as fmt
from reportgen.history.store.history import History
from reportgen.history.store.rows import Judgement, NightRow, ReportRow
from reportgen.report import templating

# More nights than this are on the trend page.
MOST_NIGHTS = 60


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReportLine:
    """A report of a night; `told` is what a reader should know, worst first."""

    workload: str
    href: str | None
    verdict: str
    told: tuple[str, ...]
    repeat: bool


@dataclasses.dataclass(frozen=True, kw_only=True)
class NightSection:
    """A night as the index shows it."""

    started: str
    verdict: str
    about: str
    remark: str | None
    reports: tuple[ReportLine, ...]


def render_index(history: History) -> str:
    """Return the index of the last nights as one HTML page."""
    nights = history.nights(MOST_NIGHTS)
    numbers = [night.id for night in nights]
    reports, judged = history.reports_of(numbers), history.judgements_of(numbers)
    return templating.render(
        "nights.html.j2",
        nights=[_night(night, reports.get(night.id, []), judged) for night in nights],
        styles=Markup(templating.stylesheet("shared.css", "screen.css")),
    )


def _night(
    night: NightRow, reports: Sequence[ReportRow], judged: dict[int, list[tuple[str, Judgement]]]
) -> NightSection:
    lines = tuple(_line(report, judged.get(report.id)) for report in reports)
    about = [night.host, f"reportgen {night.version}"]
    about += [f"commit {night.commit[:9]}"] if night.commit else []
    about += sorted({f"torch {report.torch}" for report in reports if report.torch})
    return NightSection(
        started=night.started_at.replace("T", " ").replace("Z", " UTC"),
        verdict=_night_verdict(night, lines),
        about=", ".join(about),
        remark=night.remark,
        reports=lines,
    )


def _night_verdict(night: NightRow, lines: Sequence[ReportLine]) -> str:
    if night.state != "done":
        return night.state
    order = ("worse", "failed", "better", "changed", "no change")
    return next((verdict for verdict in order if any(line.verdict == verdict for line in lines)), "nothing ran")


def _line(report: ReportRow, judged: Sequence[tuple[str, Judgement]] | None) -> ReportLine:
    rows = list(judged or ())
    told = [f"{case}: {text(row)}" for case, row in sorted(rows, key=lambda item: _rank(item[1])) if _is_told(row)]
    if report.failure:
        told.insert(0, fmt.legible(report.failure))
    return ReportLine(
        workload=report.workload,
        href=f"{report.folder}/report.html" if report.folder else None,
        verdict=_verdict(report, [row for _, row in rows], judged is not None),
        told=tuple(told),
        repeat=report.repeat > 0,
    )


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
    if report.failure:
        return "failed"
    if any(row.is_alarm for row in rows):
        return "worse"
    if report.repeat:
        return "measured again"
    if not judged:
        return "not judged"
    found = {row.verdict for row in rows}
    return "better" if found & {"better", "gone"} else "changed" if "changed" in found else "no change"
