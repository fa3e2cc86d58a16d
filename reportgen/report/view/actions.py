"""Actions in order: what to do, the step before and after, and how sure that is."""

from __future__ import annotations

import dataclasses

from reportgen import formatting as fmt
from reportgen.report.model import Report
from reportgen.report.view import cases, findings, tables
from reportgen.report.view.medium import Medium
from reportgen.report.view.tables import Cell, Row, Table


@dataclasses.dataclass(frozen=True, kw_only=True)
class Actions:
    """The section: a table, or a sentence where there is nothing to do."""

    table: Table | None
    sentence: str


def view_actions(report: Report, medium: Medium) -> Actions:
    """Return the findings that ask for something, in their order."""
    faults = cases.faults(report)
    if not faults:
        return Actions(table=None, sentence=f"Nothing to do: {findings.rules_sentence(report)}")
    unit, size = cases.step_unit(report.cases)
    before = [findings._step_before(report, finding) for finding in faults]
    after = [finding.gain.step_after_us if finding.gain else None for finding in faults]
    columns = [
        tables.figures([fmt.number(v / size) if v is not None else fmt.NOT_EVALUATED for v in values], values)
        for values in (before, after)
    ]
    rows = tuple(
        Row(
            cells=(
                Cell(text=finding.id, strong=True, href=f"#{finding.id}"),
                Cell(text=cases.label(finding.case)),
                Cell(text=cases.sentence(fmt.legible(finding.action, 300))),
                columns[0][index],
                dataclasses.replace(columns[1][index], strong=True),
                Cell(text=findings.method_words(finding.gain)),
                Cell(text=finding.confidence),
            )
        )
        for index, finding in enumerate(faults)
    )
    heads = (
        ("", 5.0, False), ("Case", 12.0, False), ("Do", 47.0, False), (f"Step, {unit}", 9.0, True),
        (f"after, {unit}", 9.0, True), ("Gain is", 11.0, False), ("Sure", 8.0, False),
    )  # fmt: skip
    caption = "The step before and after each action. Gains are not added up: an action may take what another promises."
    table = Table(caption=caption, columns=tables.columns(*heads), rows=rows)
    return Actions(table=table, sentence=_after_each(report))


def _after_each(report: Report) -> str:
    if report.input.command:
        return f"After each action run `{fmt.legible(report.input.command, 200)}` again and compare page one."
    return "After each action record the trace again and compare page one."
