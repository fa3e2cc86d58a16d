"""Shapes: the cases side by side, and operators that occur at several shapes."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from reportgen import formatting as fmt
from reportgen.analysis.model import CaseAnalysis, Operator
from reportgen.report.model import Report
from reportgen.report.view import cases, tables
from reportgen.report.view.comparison import view_comparison
from reportgen.report.view.medium import Medium
from reportgen.report.view.tables import Cell, Row, Table

_MOST_SHARED = 6


@dataclasses.dataclass(frozen=True, kw_only=True)
class Shapes:
    """The section; a missing table leaves its sentence."""

    title: str
    side_by_side: tuple[Table, ...]
    compared: tuple[Table, ...]
    first_visits: Table | None
    several: Table | None
    utilisation: tuple[str, ...]
    missing: str | None


def view_shapes(report: Report, medium: Medium) -> Shapes:
    """Return the section's tables."""
    usable = [case for case in report.cases if case.operators.items]
    several = _several(usable[0], medium) if len(usable) == 1 else None
    missing = None
    if usable and all(item.input_shapes is None for case in usable for item in case.operators.items):
        missing = "No shapes were recorded: roofline and bounds are left out. Record with record_shapes=True."
    elif not usable:
        missing = "No operator was recorded, so no shape either."
    elif not any(item.bound for case in usable for item in case.operators.items):
        missing = _no_bounds(report)
    return Shapes(
        title=_title(usable),
        side_by_side=tables.side_by_side(_side_by_side(usable), medium) if len(usable) > 1 else (),
        compared=view_comparison(report, medium),
        first_visits=_first_visits(report, medium),
        several=several,
        utilisation=tuple(text for case in usable if (text := _utilisation(case, len(usable)))),
        missing=missing,
    )


def _utilisation(case: CaseAnalysis, num_cases: int) -> str | None:
    """Hold the whole step against the device's ceilings."""
    use = case.utilisation
    if use is None or use.share_of_peak is None:
        return None
    text = f"at the peak rate of its types the step’s matrix work would take {fmt.share(use.share_of_peak)} of the step"
    if use.share_of_bandwidth is not None:
        text += f", and at the copy rate the least bytes it can move {fmt.share(use.share_of_bandwidth)}"
    if use.floor_us_per_step is not None:
        text += f"; weights and cache read once take {fmt.step_time(use.floor_us_per_step)}"
    if use.energy_j_per_item is not None and use.energy_item:
        text += f"; {fmt.energy(use.energy_j_per_item)} a {use.energy_item}"
    return cases.lead(case, num_cases, f"{text}.")


def _no_bounds(report: Report) -> str | None:
    if all(case.device_kind == "host" for case in report.cases):
        return "Bounds and roofline: not evaluated; they are drawn for devices."
    if all(device.ceilings.method is None for device in report.devices):
        return "Bounds and roofline: not evaluated; the device’s ceilings are not known."
    return "Bounds and roofline: not evaluated; no operator with a known amount of work took device time."


def _title(usable: Sequence[CaseAnalysis]) -> str:
    if len(usable) == 2:
        return f"Shapes: {cases.label(usable[0])} against {cases.label(usable[1])}"
    return "Shapes and cases side by side" if len(usable) > 2 else "Shapes"


def _on_host(case: CaseAnalysis) -> bool:
    return case.device_kind == "host"


def _time(case: CaseAnalysis, item: Operator) -> float | None:
    return item.host_us_per_step if _on_host(case) else item.device_us_per_step


def _side_by_side(usable: Sequence[CaseAnalysis]) -> Table:
    rows: list[tuple[Cell, list[str]]] = [
        (Cell(text="Step"), [fmt.step_time(cases.step_us(case)) for case in usable]),
        (
            Cell(text=f"{cases.worker(usable[0]).capitalize()} works"),
            [fmt.step_time(cases.work_us(case)) for case in usable],
        ),
    ]
    if any(case.timing and case.timing.throughput for case in usable):
        rows.append((Cell(text="Work time a token or sample"), [_per_item(case) for case in usable]))
    if any(not _on_host(case) for case in usable):
        counts = [fmt.count(case.device_time.activities_per_step if case.device_time else None) for case in usable]
        rows.append((Cell(text="Activities a step"), counts))
        medians = [fmt.duration(case.launching.median_activity_us if case.launching else None) for case in usable]
        rows.append((Cell(text="Activity, median"), medians))
    if any(item.bound for case in usable for item in case.operators.items):
        rows += [
            (Cell(text=f"Device time bound by {bound}"), [_bound_share(case, bound) for case in usable])
            for bound in ("compute", "memory", "latency")
        ]
        rows.append((Cell(text="Device time without a bound"), [_bound_share(case, None) for case in usable]))
    for name in _shared(usable):
        rows.append((tables.name(name.removeprefix("aten::"), 24), [_per_call(case, name) for case in usable]))
    width = 72.0 / len(usable)
    heads = [("", 28.0, False), *[(cases.label(case, 16), width, True) for case in usable]]
    body = tuple(Row(cells=(name, *(tables.text(value) for value in values))) for name, values in rows)
    what = "host time" if all(_on_host(case) for case in usable) else "device time"
    that = "" if all(_on_host(case) for case in usable) else " that launches work,"
    caption = f"The same quantities in each case. Operators: {what} a call{that} over all its shapes, and its share."
    return Table(caption=caption, columns=tables.columns(*heads), rows=body)


def _per_item(case: CaseAnalysis) -> str:
    throughput, step_us, work_us = (
        (case.timing.throughput if case.timing else None),
        cases.step_us(case),
        cases.work_us(case),
    )
    if throughput is None or throughput.unit == "steps/s" or not step_us or work_us is None:
        return fmt.NOT_RECORDED
    return fmt.duration(work_us / (throughput.value * step_us / 1e6))


def _bound_share(case: CaseAnalysis, bound: str | None) -> str:
    """Write the share of all device time that has this bound; for None what is left when all bounds are taken."""
    shares = [(item.bound, item.share_of_device or 0.0) for item in case.operators.items]
    if not any(item for item, _ in shares):
        return fmt.NOT_EVALUATED
    if bound is None:
        return fmt.share(max(0.0, 1.0 - sum(share for item, share in shares if item is not None)), 0)
    return fmt.share(sum(share for item, share in shares if item == bound), 0)


def _shared(usable: Sequence[CaseAnalysis]) -> list[str]:
    """Return the operators that take time in every case, those with the most first."""
    sets = [{item.name for item in case.operators.items if _time(case, item)} for case in usable]
    common = set.intersection(*sets)
    total: dict[str, float] = dict.fromkeys(common, 0.0)
    for case in usable:
        for item in case.operators.items:
            if item.name in common:
                total[item.name] += _time(case, item) or 0.0
    return [name for name, us in sorted(total.items(), key=lambda pair: -pair[1])[:_MOST_SHARED] if us > 0]


def _per_call(case: CaseAnalysis, name: str) -> str:
    items = [item for item in case.operators.items if item.name == name]
    calls = sum(_calls(case, item) for item in items)
    time_us = sum(_time(case, item) or 0.0 for item in items)
    shares = [item.share_of_host if _on_host(case) else item.share_of_device for item in items]
    if not calls:
        return fmt.NOT_RECORDED
    return f"{fmt.duration(time_us / calls)}, {fmt.share(sum(share or 0.0 for share in shares))}"


def _calls(case: CaseAnalysis, item: Operator) -> float:
    """Return the calls that have time to show: on a device those that launched work themselves."""
    return item.calls_per_step if _on_host(case) else item.working_calls_per_step


def _us_per_call(case: CaseAnalysis, item: Operator) -> float:
    return (_time(case, item) or 0.0) / _calls(case, item)


def _first_visits(report: Report, medium: Medium) -> Table | None:
    pairs = [(case, visit) for case in report.cases for visit in case.first_visits]
    if not pairs:
        return None
    pairs.sort(key=lambda pair: -pair[1].excess_us_per_step)
    shown = pairs[: medium.small_rows]
    first = tables.times([visit.first_us for _, visit in shown], unit="ms")
    later = tables.times([visit.later_us for _, visit in shown], unit="ms")
    excess = tables.times([visit.excess_us_per_step for _, visit in shown], unit="ms")
    rows = tuple(
        Row(
            cells=(
                Cell(text=cases.label(case)),
                tables.name(visit.operator.removeprefix("aten::"), medium.name_limit),
                Cell(text=fmt.count(visit.num_signatures)),
                first[i],
                later[i],
                excess[i],
            )
        )
        for i, (case, visit) in enumerate(shown)
    )
    heads = (
        ("Case", 16.0, False), ("Operator", 32.0, False), ("Shapes", 10.0, True), ("First, ms", 13.0, True),
        ("Later, ms", 13.0, True), ("Excess a step, ms", 16.0, True),
    )  # fmt: skip
    caption = "Operators that take longer on the host at the first visit of a shape: host time of their own, profiled."
    return Table(caption=caption, columns=tables.columns(*heads), rows=rows)


def _several(case: CaseAnalysis, medium: Medium) -> Table | None:
    """Return the operators that occur at two shapes or more, with their shortest and longest call."""
    groups: dict[str, list[Operator]] = {}
    for item in case.operators.items:
        if (_time(case, item) or 0.0) > 0 and _calls(case, item) and item.input_shapes is not None:
            groups.setdefault(item.name, []).append(item)
    several = [(name, items) for name, items in groups.items() if len(items) > 1][: medium.small_rows]
    if not several:
        return None
    rows = []
    for name, items in several:
        ranked = sorted(items, key=lambda item: _us_per_call(case, item))
        cells = [tables.name(name.removeprefix("aten::"), medium.name_limit), Cell(text=fmt.count(len(items)))]
        for item in (ranked[0], ranked[-1]):
            shapes = fmt.shorten(fmt.shapes(item.input_shapes, item.input_types, item.name, limit=2), 34)
            cells.append(Cell(text=fmt.duration(_us_per_call(case, item)), note=shapes))
        rows.append(Row(cells=tuple(cells)))
    heads = (
        ("Operator", 26.0, False), ("Shapes", 8.0, True), ("Shortest call", 33.0, False), ("Longest call", 33.0, False),
    )  # fmt: skip
    what = "host time of its own" if _on_host(case) else "device time"
    return Table(
        caption=f"One operator at several shapes, by {what} a call.", columns=tables.columns(*heads), rows=tuple(rows)
    )
