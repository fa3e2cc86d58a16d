"""A comparison as a page for the screen and as a PDF."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from markupsafe import Markup

from reportgen import formatting as fmt
from reportgen.history import wording
from reportgen.history.model import Basis, CaseDifference, Moved, MovedKind, ReportDifference, Side
from reportgen.history.quantities import BY_NAME
from reportgen.history.text import calls_text, faults, shows_host
from reportgen.report import templating
from reportgen.report.pdf import print_markup
from reportgen.report.view import tables
from reportgen.report.view.medium import SCREEN, Medium, page
from reportgen.report.view.tables import Row, Table, columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.history.model import FindingDifference

_KIND_WORDS: dict[MovedKind, str] = {
    "operator": "Operator",
    "shape": "Operator at one shape",
    "kernel": "Kernel",
    "function": "Function",
}
_MOST_PRINTED = 6


@dataclasses.dataclass(frozen=True, kw_only=True)
class CaseSection:
    """What the page shows of one case."""

    name: str
    verdict: str
    reasons: tuple[str, ...]
    tables: tuple[Table, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class ComparisonDocument:
    """All that the templates of a comparison print."""

    medium: Medium
    title: str
    subtitle: str
    lead: str
    headline: str
    sides: Table
    also: str
    cases: tuple[CaseSection, ...]
    findings: Table | None
    not_compared: str


def render_html(difference: ReportDifference) -> str:
    """Return `difference` as one HTML page that reaches for nothing outside itself."""
    return templating.render(
        "compare-screen.html.j2",
        document=view(difference, SCREEN),
        styles=Markup(templating.stylesheet("shared.css", "screen.css")),
    )


def render_pdf(difference: ReportDifference) -> bytes:
    """Return `difference` as PDF/UA-1; raise `PdfUnavailable` where Pango is missing."""
    markup = templating.render(
        "compare-print.html.j2",
        document=view(difference, page(len(difference.cases))),
        created=difference.new.created_at,
    )
    return print_markup(markup)


def view(difference: ReportDifference, medium: Medium) -> ComparisonDocument:
    """Return what the templates print of `difference`."""
    name = difference.new.workload or difference.base.workload or "Two reports"
    return ComparisonDocument(
        medium=medium,
        title=f"{name}: what changed",
        subtitle=f"{difference.base.device}, {fmt.date(difference.base.created_at)}; "
        f"{difference.new.device}, {fmt.date(difference.new.created_at)}",
        lead=wording.lead(difference),
        headline=wording.headline(difference),
        sides=_sides(difference),
        also=f"Also different: {fmt.listing(difference.also)}." if difference.also else "",
        cases=tuple(_case(case, medium) for case in difference.cases),
        findings=_findings(faults(difference)),
        not_compared=wording.not_compared(difference),
    )


def _sides(difference: ReportDifference) -> Table:
    def row(label: str, side: Side) -> Row:
        words = (side.created_at, side.device, side.host or fmt.NOT_RECORDED, side.torch or fmt.NOT_RECORDED)
        return Row(cells=(tables.text(label), *map(tables.text, words), tables.text(side.path, code=True)))

    heads = ("", "Made at", "Device", "Host", "torch", "Report")
    shares = (7, 20, 16, 12, 14, 31)
    return Table(
        caption="The two reports",
        columns=columns(*((head, share, False) for head, share in zip(heads, shares, strict=True))),
        rows=(row("base", difference.base), row("new", difference.new)),
    )


def _case(case: CaseDifference, medium: Medium) -> CaseSection:
    most = _MOST_PRINTED if medium.is_print else medium.small_rows
    bases: tuple[Basis, ...] = (case.moved_basis, "host") if shows_host(case) else (case.moved_basis,)
    moved = [
        _moved(kind, basis, case, most, medium)
        for basis in bases
        for kind in _KIND_WORDS
        if any(row.kind == kind and row.basis == basis for row in case.moved)
    ]
    return CaseSection(
        name=case.name,
        verdict=wording.case_verdict(case),
        reasons=tuple(f"{fmt.sentence_start(reason)}." for reason in case.reasons),
        tables=(_figures(case), *moved),
    )


def _figures(case: CaseDifference) -> Table:
    rows = []
    for row in wording.shown(case):
        quantity = BY_NAME[row.quantity]
        rows.append(
            Row(
                cells=(
                    tables.text(quantity.label),
                    tables.text(quantity.text(row.base)),
                    tables.text(quantity.text(row.new)),
                    tables.text(wording.percent(row.change)),
                    tables.text(wording.VERDICT_WORDS[row.verdict], strong=row.verdict in ("worse", "better")),
                    tables.text(wording.reason(row), muted=True),
                )
            )
        )
    return Table(
        caption=f"Figures of {case.name}",
        columns=columns(
            ("Figure", 20, False),
            ("Base", 12, True),
            ("New", 12, True),
            ("Change", 10, True),
            ("Verdict", 14, False),
            ("By what", 32, False),
        ),
        rows=tuple(rows),
    )


def _moved(kind: MovedKind, basis: Basis, case: CaseDifference, most: int, medium: Medium) -> Table:
    rows = [row for row in case.moved if row.kind == kind and row.basis == basis][:most]
    unit, _ = fmt.time_unit(max(max(row.base_us or 0.0, row.new_us or 0.0) for row in rows))
    befores = tables.times([row.base_us for row in rows], unit=unit)
    afters = tables.times([row.new_us for row in rows], unit=unit)
    return Table(
        caption=f"{_KIND_WORDS[kind]}: what moved in {case.name}, {basis} time per step",
        columns=columns(
            (_KIND_WORDS[kind], 46, False),
            (f"Base, {unit}", 12, True),
            (f"New, {unit}", 12, True),
            ("Change", 12, True),
            ("Calls", 18, False),
        ),
        rows=tuple(
            Row(cells=(_name(row, medium), before, after, tables.text(wording.signed_time(row.change_us)),
                       tables.text(calls_text(row))))
            for row, before, after in zip(rows, befores, afters, strict=True)
        ),
    )  # fmt: skip


def _name(row: Moved, medium: Medium) -> tables.Cell:
    return tables.name(wording.moved_name(row), 60 if medium.is_print else medium.name_limit)


def _findings(rows: Sequence[FindingDifference]) -> Table | None:
    if not rows:
        return None
    return Table(
        caption="Findings by fingerprint; a promise is at most, and a step may change by more than its finding",
        columns=columns(
            ("State", 10, False),
            ("Finding", 54, False),
            ("Promised", 12, True),
            ("Step shorter by", 14, True),
            ("Rule", 20, False),
        ),
        rows=tuple(
            Row(
                cells=(
                    tables.text({"new": "new", "gone": "gone", "still": "still there"}[row.state]),
                    tables.text(row.title),
                    tables.text(fmt.duration(row.promised_us) if row.promised_us else ""),
                    tables.text(wording.signed_time(row.realised_us) if row.realised_us is not None else ""),
                    tables.text(row.rule, code=True),
                )
            )
            for row in rows
        ),
    )
