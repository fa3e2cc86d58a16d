"""Where the time goes: budget, waits, launching, steps and what the profiler does to them."""

from __future__ import annotations

import dataclasses

from reportgen import formatting as fmt
from reportgen.analysis.model import CaseAnalysis, StepRow, told_step
from reportgen.report import wording
from reportgen.report.model import Report
from reportgen.report.view import cases, tables, waits
from reportgen.report.view.budget import budget_table
from reportgen.report.view.links import Links
from reportgen.report.view.medium import Medium
from reportgen.report.view.tables import Cell, Row, Table


@dataclasses.dataclass(frozen=True, kw_only=True)
class Time:
    """The section; a missing table leaves its sentence."""

    budget: tuple[Table, ...]
    budget_missing: str
    places: tuple[Table, ...]
    gaps: tuple[Table, ...]
    gaps_missing: str
    syncs: Table | None
    syncs_missing: str
    launching: tuple[Table, ...]
    steps: tuple[Table, ...]
    distortion: Table | None
    distortion_missing: str
    streams: str | None


def view_time(report: Report, medium: Medium, links: Links) -> Time:
    """Return the section's tables."""
    waiting = [case for case in report.cases if not medium.is_print or (case.gaps and case.gaps.us_per_step > 0)]
    by_gaps = sorted(waiting, key=lambda case: -(case.gaps.us_per_step if case.gaps else 0.0))
    most = 2 if medium.is_print else len(by_gaps)
    number = len(report.cases)
    places = tuple(table for case in by_gaps[:most] if (table := waits.places_table(case, number, medium, links)))
    gaps = tuple(table for case in by_gaps[:most] if (table := waits.gaps_table(case, number, medium, links)))
    if medium.is_print and places:
        gaps = ()  # each single gap is for the screen
    devices = [case for case in report.cases if case.device_kind == "device"]
    budget, launching = budget_table(report), waits.launching_table(devices)
    return Time(
        budget=tables.side_by_side(budget, medium, last=1) if budget else (),
        budget_missing=_budget_missing(report),
        places=places,
        gaps=gaps,
        gaps_missing=_gaps_missing(report),
        syncs=waits.syncs_table(report, medium, links),
        syncs_missing=_syncs_missing(report),
        launching=tables.side_by_side(launching, medium) if launching else (),
        steps=()
        if medium.is_print
        else tuple(t for case in report.cases if (t := steps_table(case, len(report.cases)))),
        distortion=_distortion(report),
        distortion_missing=_distortion_missing(report),
        streams=_streams(devices),
    )


def _budget_missing(report: Report) -> str:
    is_trace = report.input.kind == "trace"
    if any(case.device_kind == "not-recorded" and (is_trace or case.steps) for case in report.cases):
        return (
            "No budget: the trace holds no device activity, so work and waits of the device cannot be told apart. "
            "Record with ProfilerActivity.CUDA."
        )
    if is_trace:
        return "No budget: no whole step was recorded. Record at least two steps with `prof.step()`."
    # What to do depends on how the steps were to be told, which whoever recorded them has put down.
    num_cases = len(report.cases)
    reasons = [cases.lead(case, num_cases, fmt.legible(case.reason)) for case in report.cases if case.reason]
    return " ".join(["No budget: no whole step was recorded.", *map(cases.sentence, reasons)])


def _gaps_missing(report: Report) -> str:
    if all(case.gaps is None for case in report.cases):
        if report.cases and all(case.device_kind == "host" for case in report.cases):
            return "There is no device that could wait: gaps are left out."
        return f"Gaps: {fmt.NOT_EVALUATED}; they need device activity and a whole step."
    return "No gap longer than the trace’s own launch latency."


def _syncs_missing(report: Report) -> str:
    if report.cases and all(case.device_kind == "host" for case in report.cases):
        return "There is no device to wait for: synchronizations are left out."
    if all(case.device_kind == "not-recorded" for case in report.cases):
        return f"Synchronizations: {fmt.NOT_EVALUATED}; the trace holds no device activity."
    return "The program asked for no wait inside the recorded steps."


def steps_table(case: CaseAnalysis, num_cases: int) -> Table | None:
    """Return the recorded steps of a case, one row each."""
    if not case.steps:
        return None
    interval = tables.times([row.interval_us for row in case.steps], unit="ms")
    host = tables.times([row.host_us for row in case.steps], unit="ms")
    device = tables.times([row.device_us for row in case.steps], unit="ms")
    rows = tuple(
        Row(
            cells=(
                Cell(text=str(told_step(row.index, row.ordinal))),
                interval[i]
                if row.interval_us is not None
                else Cell(text="settling" if row.settling else "not recorded", muted=True),
                host[i],
                device[i],
                tables.text(fmt.count(row.activities)),
                Cell(text=_remark(row)),
            )
        )
        for i, row in enumerate(case.steps)
    )
    heads = (
        ("Step", 12.0, False), ("Interval, ms", 18.0, True), ("Host, ms", 18.0, True), ("Device, ms", 18.0, True),
        ("Activities", 16.0, True), ("", 18.0, False),
    )  # fmt: skip
    caption = cases.lead(case, num_cases, "the recorded steps. Interval: from one completion to the next.")
    first = case.steps[0].index
    note = f"Step 1 is ProfilerStep#{first} of the trace." if first != 1 and case.steps[0].ordinal == 1 else None
    return Table(caption=caption, columns=tables.columns(*heads), rows=rows, note=note, sortable=True)


def _remark(row: StepRow) -> str:
    if row.settling:
        return "settling"
    if not row.outlier:
        return ""
    if row.differs_in is None:
        return "outlier"
    return f"outlier: {wording.part_label(row.differs_in)} {fmt.duration(row.differs_by_us)} longer"


def _distortion(report: Report) -> Table | None:
    told = [
        case
        for case in report.cases
        if case.timing
        and case.timing.basis == "unprofiled"
        and (case.timing.profiled_step_us.timeline or case.timing.profiled_step_us.detail)
    ]
    if not told:
        return None
    columns = [
        tables.times([case.step_us for case in told], unit="ms"),
        tables.times([case.timing.profiled_step_us.timeline if case.timing else None for case in told], unit="ms"),
        tables.times([case.timing.profiled_step_us.detail if case.timing else None for case in told], unit="ms"),
    ]
    rows = tuple(
        Row(cells=(Cell(text=cases.label(case)), *(column[i] for column in columns), Cell(text=_slower(case))))
        for i, case in enumerate(told)
    )
    heads = (
        ("Case", 20.0, False), ("No profiler, ms", 20.0, True), ("Timeline pass, ms", 20.0, True),
        ("Detail pass, ms", 20.0, True), ("Slowest over unprofiled", 20.0, True),
    )  # fmt: skip
    return Table(caption="The same step under each pass.", columns=tables.columns(*heads), rows=rows)


def _slower(case: CaseAnalysis) -> str:
    timing = case.timing
    if timing is None:
        return fmt.NOT_RECORDED
    worst = max(timing.profiled_step_us.timeline or 0.0, timing.profiled_step_us.detail or 0.0)
    return fmt.factor(worst, timing.step_us)


def _distortion_missing(report: Report) -> str:
    return (
        "What the profiler does to the step is known as an interval only: no step was timed without it. "
        "`python -m reportgen WORKLOAD` times it."
    )


def _streams(devices: list[CaseAnalysis]) -> str | None:
    texts = []
    for case in devices:
        streams = case.streams
        if streams is None or (
            streams.num_streams < 2 and not streams.copy_us_per_step and not streams.communication_us_per_step
        ):
            continue
        parts = [f"{fmt.plural(streams.num_streams, 'stream')}"]
        if streams.num_streams > 1 and streams.concurrency is not None:
            parts.append(f"{fmt.number(streams.concurrency)} activities at once while the device works")
        if streams.copy_us_per_step:
            parts.append(_hidden("copies", streams.copy_hidden_us_per_step, streams.copy_us_per_step))
        if streams.communication_us_per_step:
            hidden_us = streams.communication_hidden_us_per_step
            parts.append(_hidden("communication", hidden_us, streams.communication_us_per_step))
        texts.append(cases.lead(case, len(devices), f"{', '.join(parts)}."))
    return " ".join(texts) or None


def _hidden(what: str, hidden_us: float, whole_us: float) -> str:
    """Say how much of `what` runs while other work does: "1.20 of 3.15 ms a step of copies beside other work"."""
    if not hidden_us:
        return f"{fmt.duration(whole_us)} a step of {what}, none of it beside other work"
    return f"{fmt.duration_of(hidden_us, whole_us)} a step of {what} beside other work"
