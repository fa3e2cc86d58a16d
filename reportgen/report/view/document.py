"""The whole document as plain values: what the templates are given."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from reportgen.analysis.one_step.step_export import StepExport
from reportgen.report.charts.model import Chart
from reportgen.report.model import Report
from reportgen.report.verdict import VerdictText, verdict
from reportgen.report.view.actions import Actions, view_actions
from reportgen.report.view.anchors import find_anchors
from reportgen.report.view.curves import Curve, view_curves
from reportgen.report.view.drawings import Drawings
from reportgen.report.view.figures import KeyFigures, view_figures
from reportgen.report.view.findings import Findings, view_findings
from reportgen.report.view.fixes import TITLE as FIXES_TITLE
from reportgen.report.view.fixes import CaseFixes, view_fixes
from reportgen.report.view.head import Head, Sureness, view_head, view_notices, view_sureness
from reportgen.report.view.links import Links
from reportgen.report.view.medium import Medium
from reportgen.report.view.memory import MISSING as NO_MEMORY
from reportgen.report.view.memory import CaseMemory, view_memory
from reportgen.report.view.method import Appendices, Method, view_appendices, view_method
from reportgen.report.view.operators import CaseOperators, view_operators
from reportgen.report.view.regions import view_regions
from reportgen.report.view.shapes import Shapes, view_shapes
from reportgen.report.view.sources import MISSING as NO_SOURCES
from reportgen.report.view.sources import view_sources
from reportgen.report.view.strips import Strip, view_strips
from reportgen.report.view.tables import Table
from reportgen.report.view.time import Time, view_time
from reportgen.report.view.top import Top, view_top


@dataclasses.dataclass(frozen=True, kw_only=True)
class Section:
    """An entry of the contents. `name` is its word in the bar on top of the screen."""

    id: str
    title: str
    name: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Document:
    """All that a template prints."""

    medium: Medium
    head: Head
    verdict: VerdictText
    description: str
    figures: KeyFigures
    step_title: str
    step_missing: str
    budget_chart: Chart | None
    top: Top
    sureness: tuple[Sureness, ...]
    notices: tuple[str, ...]
    contents: tuple[Section, ...]
    time: Time
    step_times_chart: Chart | None
    timelines: tuple[Strip, ...]
    fixes: tuple[CaseFixes, ...]
    findings: Findings
    operators: tuple[CaseOperators, ...]
    sources: tuple[Table, ...]
    sources_missing: str
    regions: tuple[Table, ...]
    shapes: Shapes
    roofline_chart: Chart | None
    memory: tuple[CaseMemory, ...]
    curves: tuple[Curve, ...]
    memory_missing: str
    actions: Actions
    method: Method
    appendices: Appendices


def view(report: Report, drawings: Drawings, medium: Medium, steps: Sequence[StepExport] = ()) -> Document:
    """Return the document of `report` for `medium`; on the screen `steps`, one of a case, can be explored."""
    anchors = find_anchors(report, medium)
    strips = view_strips(report, drawings.timelines, steps, anchors)
    links = Links(report, anchors, strips)
    on_host = bool(report.cases) and all(case.device_kind == "host" for case in report.cases)
    shapes = view_shapes(report, medium)
    words = verdict(report)
    return Document(
        medium=medium,
        head=view_head(report),
        verdict=words,
        description=f"{words.limits} {words.changes}",
        figures=view_figures(report, medium),
        step_title=f"The step, by what the {'host' if on_host else 'device'} does or waits for",
        step_missing="The step is not drawn: no whole step with its activities was recorded.",
        budget_chart=_budget_chart(drawings, medium),
        top=view_top(report),
        sureness=view_sureness(report),
        notices=view_notices(report, medium),
        contents=_contents(shapes, on_host=on_host, fixes=any(one.fixes for one in report.fixes)),
        time=view_time(report, medium, links),
        step_times_chart=drawings.step_times,
        timelines=strips,
        fixes=view_fixes(report, drawings.fixes, medium),
        findings=view_findings(report, medium, links),
        operators=view_operators(report, medium, links),
        sources=view_sources(report, medium, links),
        sources_missing=NO_SOURCES,
        regions=view_regions(report, medium),
        shapes=shapes,
        roofline_chart=drawings.roofline,
        memory=view_memory(report, medium),
        curves=view_curves(report, drawings.memory, medium),
        memory_missing=NO_MEMORY,
        actions=view_actions(report, medium),
        method=view_method(report),
        appendices=view_appendices(report, medium),
    )


def refit(document: Document, report: Report, drawings: Drawings, medium: Medium) -> Document:
    """Return `document` with its page one shortened for `medium`; what follows page one is the same at every fit."""
    return dataclasses.replace(
        document,
        medium=medium,
        figures=view_figures(report, medium),
        budget_chart=_budget_chart(drawings, medium),
        top=view_top(report),
        notices=view_notices(report, medium),
    )


def _budget_chart(drawings: Drawings, medium: Medium) -> Chart | None:
    return drawings.budget_short if medium.fit >= 3 and drawings.budget_short else drawings.budget


def _contents(shapes: Shapes, *, on_host: bool, fixes: bool) -> tuple[Section, ...]:
    operators = "Operators by host time" if on_host else "Operators and kernels by device time"
    titles = (
        ("time", "Where the time goes", "Time"),
        *((("fixes", FIXES_TITLE, "Fixes"),) if fixes else ()),
        ("findings", "Findings", "Findings"),
        ("operators", operators, "Operators"),
        ("shapes", shapes.title, "Shapes"),
        ("memory", "Memory", "Memory"),
        ("actions", "Actions in order", "Actions"),
        ("checklist", "The checklist", "Checklist"),
        ("method", "Method and environment", "Method"),
        ("appendices", "Appendices", "Appendices"),
    )
    return tuple(
        Section(id=id_, title=f"{number} {title}", name=name) for number, (id_, title, name) in enumerate(titles, 1)
    )
