"""Actions in order: what to do, the step before and after, and how sure that is."""

from __future__ import annotations

import dataclasses

from reportgen import formatting as fmt
from reportgen.analysis.model import StepTimes
from reportgen.report.model import Report
from reportgen.report.view import cases, tables
from reportgen.report.view.checklist import rules_sentence
from reportgen.report.view.finding_texts import action_in_short
from reportgen.report.view.gains import method_words, step_before, told_gain
from reportgen.report.view.medium import Medium
from reportgen.report.view.tables import Cell, Row, Table


@dataclasses.dataclass(frozen=True, kw_only=True)
class Actions:
    """The section: a table, or a sentence where there is nothing to do."""

    table: Table | None
    sentence: str
    tried: Table | None


def view_actions(report: Report, medium: Medium) -> Actions:
    """Return the findings that ask for something, in their order."""
    faults = cases.faults(report)
    if not faults:
        return Actions(table=None, sentence=f"Nothing to do: {rules_sentence(report)}", tried=_tried(report))
    unit, size = cases.step_unit(report.cases)
    told = [told_gain(report, finding) for finding in faults]
    before = [gain.before_us if gain else step_before(report, one) for gain, one in zip(told, faults, strict=True)]
    after = [gain.after_us if gain else None for gain in told]
    columns = [
        tables.figures([fmt.number(v / size) if v is not None else fmt.NOT_EVALUATED for v in values], values)
        for values in (before, after)
    ]
    rows = tuple(
        Row(
            cells=(
                Cell(text=finding.id, strong=True, href=f"#{finding.id}"),
                Cell(text=cases.label(finding.case)),
                Cell(text=action_in_short(finding) if medium.is_print else fmt.legible(finding.action, 300)),
                columns[0][index],
                dataclasses.replace(columns[1][index], strong=True),
                Cell(text=method_words(report, finding, unit)),
                Cell(text=finding.confidence),
            )
        )
        for index, finding in enumerate(faults)
    )
    heads = (
        ("", 5.0, False), ("Case", 12.0, False), ("Do", 47.0, False), (f"Step, {unit}", 9.0, True),
        (f"after, {unit}", 9.0, True), ("Gain is", 11.0, False), ("Sure", 8.0, False),
    )  # fmt: skip
    caption = (
        "The step before and after each action made alone, the surest large gain first. Gains are not added up: an "
        "action may take what another promises, and section 2 makes one after another."
    )
    table = Table(caption=caption, columns=tables.columns(*heads), rows=rows)
    return Actions(table=table, sentence=_after_each(report), tried=_tried(report))


def _after_each(report: Report) -> str:
    if report.input.command and report.input.kind != "trace":
        command = fmt.legible(report.input.command, 200)
        return f"After each action run `{command}` again and compare the step with what is promised here."
    return (
        "After each action record the trace anew, run `python -m reportgen analyze` on the new one, and compare its "
        "step with what is promised here."
    )


def _tried(report: Report) -> Table | None:
    """Return the alternatives that the runner measured, whatever came of them."""
    pairs = [(case, tried) for case in report.cases for tried in case.alternatives]
    if not pairs:
        return None
    unit, size = cases.step_unit(report.cases)
    before = tables.figures([_median(tried.original_us, size) for _, tried in pairs])
    after = tables.figures([_median(tried.step_us, size) for _, tried in pairs])
    rows = tuple(
        Row(
            cells=(
                Cell(text=fmt.legible(tried.name, 40), code=True),
                Cell(text=cases.label(case)),
                before[i],
                after[i],
                tables.text(f"{fmt.number(tried.speedup)}{fmt.TIMES}" if tried.speedup else fmt.NOT_RECORDED),
                Cell(
                    text=tried.outcome.replace("-", " "), note=fmt.legible(tried.reason, 80) if tried.reason else None
                ),
            )
        )
        for i, (case, tried) in enumerate(pairs)
    )
    heads = (
        ("Tried", 26.0, False), ("Case", 14.0, False), (f"Step, {unit}", 11.0, True), (f"tried, {unit}", 11.0, True),
        ("Faster", 10.0, True), ("Outcome", 28.0, False),
    )  # fmt: skip
    caption = (
        "Alternatives measured: blocks of the changed step in turn with blocks of the step as it is. The factor is of "
        "these two; the step itself was timed apart."
    )
    return Table(caption=caption, columns=tables.columns(*heads), rows=rows)


def _median(times: StepTimes | None, size: float) -> str:
    return fmt.number(times.median_us / size) if times else fmt.NOT_RECORDED
