"""Waits: the gaps, the synchronizations, and how the host feeds the device."""

from __future__ import annotations

from collections.abc import Sequence

from reportgen import formatting as fmt
from reportgen.analysis.model import CaseAnalysis, Gap, Source, Sync, WaitPlace, told_step
from reportgen.analysis.waiting.latency import LOW_QUANTILE
from reportgen.report import wording
from reportgen.report.model import Report
from reportgen.report.view import cases, tables
from reportgen.report.view.links import Links
from reportgen.report.view.medium import Medium
from reportgen.report.view.tables import Cell, Link, Row, Table


def source_cell(source: Source | None, limit: int) -> Cell:
    """Return a function and where it is; the line of a `def` is never shown as the line that acts."""
    if source is None:
        return Cell(text="not known", muted=True)
    place = f"{fmt.legible(source.file, limit)}:{source.line}"
    note = place if source.line_kind == "call" else f"def at {place}"
    return Cell(text=fmt.legible(source.function, limit), code=True, note=note)


def gaps_table(case: CaseAnalysis, num_cases: int, medium: Medium, links: Links) -> Table | None:
    """Return the longest gaps of a case; None where none was long enough to list."""
    gaps = case.gaps
    if gaps is None or not gaps.items:
        return None
    shown = gaps.items[: medium.small_rows]
    lengths = tables.times([gap.duration_us for gap in shown], unit="µs")
    rows = tuple(
        Row(cells=(tables.linked(lengths[i], links.place(case, gap.where)), *_gap_cells(gap, medium)))
        for i, gap in enumerate(shown)
    )
    heads = (
        ("Length, µs", 12.0, True), ("Step", 8.0, True), ("Waits for", 16.0, False), ("Operator", 30.0, False),
        ("Function", 34.0, False),
    )  # fmt: skip
    return Table(
        caption=cases.lead(case, num_cases, _gaps_caption(case, len(shown))),
        columns=tables.columns(*heads),
        rows=rows,
        sortable=not medium.is_print,
    )


def _gaps_caption(case: CaseAnalysis, num_shown: int) -> str:
    gaps = case.gaps
    if gaps is None:
        return ""
    over = f" over {fmt.duration(gaps.threshold_us)}" if gaps.threshold_us is not None else ""
    longest = "the longest" if num_shown == 1 else f"the {fmt.spelled(num_shown)} longest"
    return (
        f"{longest} of {fmt.plural(gaps.count_per_step, 'gap')} a step{over}, as the trace shows them. "
        f"All gaps are {fmt.duration(gaps.us_per_step)} of the step’s budget."
    )


def _gap_cells(gap: Gap, medium: Medium) -> tuple[Cell, ...]:
    return (
        Cell(text=str(told_step(gap.step, gap.ordinal))),
        Cell(text=wording.part_label(gap.cause), part=gap.cause),
        tables.name(gap.operator.removeprefix("aten::") if gap.operator else None, 30 if medium.is_print else 80),
        source_cell(gap.source, 34 if medium.is_print else 80),
    )


def places_table(case: CaseAnalysis, num_cases: int, medium: Medium, links: Links) -> Table | None:
    """Return the waits of a case by cause and function, the longest first; None where none is known."""
    places = case.gaps.places if case.gaps else ()
    if not places:
        return None
    shown = places[: medium.small_rows]
    spent = tables.times([place.us_per_step for place in shown], unit="µs")
    rows = tuple(
        Row(
            cells=(
                *_place_cells(place, medium, links.place(case, place.where)),
                Cell(text=fmt.count(place.count_per_step), sort=place.count_per_step),
                spent[i],
                tables.text(_of_step(case, place)),
            )
        )
        for i, place in enumerate(shown)
    )
    heads = (
        ("Waits for", 13.0, False), ("Operator of the longest", 25.0, False), ("Function", 32.0, False),
        ("Waits", 7.0, True), ("µs a step", 11.0, True), ("Share of step", 12.0, True),
    )  # fmt: skip
    left = len(places) - len(shown)
    where = " in the HTML" if medium.is_print else ""
    note = f"{fmt.plural(left, 'more place')}{where}." if left else None
    caption = cases.lead(
        case, num_cases, f"waits of the {cases.worker(case)} by the function they come from, the profiler’s share out."
    )
    return Table(caption=caption, columns=tables.columns(*heads), rows=rows, note=note, sortable=not medium.is_print)


def _of_step(case: CaseAnalysis, place: WaitPlace) -> str:
    return fmt.share(place.us_per_step / case.budget.step_us if case.budget and case.budget.step_us else None)


def _place_cells(place: WaitPlace, medium: Medium, link: Link | None) -> tuple[Cell, ...]:
    operator = place.operator.removeprefix("aten::") if place.operator else None
    return (
        Cell(text=wording.part_label(place.cause), part=place.cause),
        tables.linked(tables.name(operator, 28 if medium.is_print else 80), link),
        source_cell(place.source, 30 if medium.is_print else 80),
    )


def syncs_table(report: Report, medium: Medium, links: Links) -> Table | None:
    """Return the synchronizations of all cases, the costliest first; None where the program asked for none."""
    pairs = [(case, sync) for case in report.cases for sync in case.syncs.items]
    if not pairs:
        return None
    pairs.sort(key=lambda pair: (-pair[1].best_cost_us, -pair[1].cost_us_per_step))
    shown = pairs[: medium.small_rows]
    blocked = tables.times([sync.blocked_us_per_step for _, sync in shown], unit="µs")
    cost = tables.times([sync.best_cost_us for _, sync in shown], unit="µs")
    recorded = tables.times([sync.cost_us_per_step for _, sync in shown], unit="µs")
    profiled = any(cases.is_profiled(case) for case in report.cases)
    several = len(report.cases) > 1
    rows = tuple(
        Row(
            cells=(
                *((Cell(text=cases.label(case, 14)),) if several else ()),
                *_sync_cells(sync, medium, links.place(case, sync.where)),
                blocked[i],
                cost[i],
                *((recorded[i],) if profiled else ()),
                source_cell(sync.source, 34 if medium.is_print else 80),
            )
        )
        for i, (case, sync) in enumerate(shown)
    )
    heads = [
        ("Call", 23.0, False), ("Operator", 20.0, False), ("A step", 7.0, True), ("Blocked, µs", 11.0, True),
        ("Cost, µs", 10.0, True), *([("Recorded, µs", 11.0, True)] if profiled else []), ("Function", 29.0, False),
    ]  # fmt: skip
    heads = [("Case", 12.0, False), *heads] if several else heads
    caption = (
        "Synchronizations a step. Blocked: the host waits. Cost: what the device loses, refilling its queue included"
        f"{', the profiler’s share out; recorded: the same with it' if profiled else ''}."
    )
    return Table(caption=caption, columns=tables.columns(*heads), rows=rows, sortable=not medium.is_print)


def _sync_cells(sync: Sync, medium: Medium, link: Link | None) -> tuple[Cell, ...]:
    limit = 26 if medium.is_print else 80
    return (
        tables.linked(tables.name(sync.call, limit), link),
        tables.name(sync.operator.removeprefix("aten::") if sync.operator else None, limit, "none"),
        Cell(text=fmt.count(sync.count_per_step), sort=sync.count_per_step),
    )


def launching_table(known: Sequence[CaseAnalysis]) -> Table | None:
    """Return how the host feeds the device, cases side by side; None where no case tells."""
    told = [case for case in known if case.launching is not None]
    if not told:
        return None
    rows: list[tuple[str, list[str]]] = [
        ("Launches a step", [fmt.count(case.launching.launches_per_step) for case in told if case.launching]),
        ("Activity, median", [fmt.duration(case.launching.median_activity_us) for case in told if case.launching]),
        (
            f"Launch latency on an idle device, {fmt.share(LOW_QUANTILE, 0)} quantile",
            [fmt.duration(case.launching.latency_us) for case in told if case.launching],
        ),
        ("Host’s lead, median", [fmt.duration(case.launching.median_lead_us) for case in told if case.launching]),
        (
            "Waiting in launches for a full queue, a step",
            [fmt.duration(case.launching.blocked_us_per_step) for case in told if case.launching],
        ),
        (
            "Activities shorter than their launch interval, a step",
            [fmt.count(case.launching.short_kernels_per_step) for case in told if case.launching],
        ),
        (
            "Host’s own time a step",
            [fmt.spread(case.launching.host_low_us, case.launching.host_high_us) for case in told if case.launching],
        ),
        ("Device busy a step", [fmt.step_time(cases.work_us(case)) for case in told]),
        ("Who sets the pace", [_pace(case) for case in told]),
    ]
    heads = [("", 40.0, False), *[(cases.label(case, 18), 60.0 / len(told), True) for case in told]]
    body = tuple(Row(cells=(Cell(text=name), *(tables.text(value) for value in values))) for name, values in rows)
    caption = (
        "How the host feeds the device. The host’s own time is that of issuing "
        "work: without its waits for the device and for input, without allocating, without building plans or kernels, "
        "without stalls, and without the profiler’s share."
    )
    return Table(caption=caption, columns=tables.columns(*heads), rows=body)


def _pace(case: CaseAnalysis) -> str:
    verdict = case.launching.verdict if case.launching else None
    if verdict is None:
        return fmt.NOT_EVALUATED
    return {"host-bound": "the host", "device-bound": "the device", "undecided": "not decided: the profiler’s share"}[
        verdict
    ]
