"""Operators and kernels: who takes the device's time, or the host's where there is no device."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from reportgen import formatting as fmt
from reportgen.analysis.model import CaseAnalysis, Kernel, Operator
from reportgen.analysis.roofline.roofline import OVER_COPY
from reportgen.findings.samples import recorded_steps
from reportgen.report.model import Report
from reportgen.report.operator_table import FILE_NAME
from reportgen.report.view import cases, tables
from reportgen.report.view.anchors import ranked_operators
from reportgen.report.view.links import Links
from reportgen.report.view.medium import Medium
from reportgen.report.view.sums import left_over
from reportgen.report.view.tables import Cell, Link, Row, Table

# Characters of a kernel's name: two lines of the column.
_NAME_ON_A_PAGE, _NAME_ON_A_WIDE_PAGE = 84, 190
# Of one case, and of each of two that share the page.
_KERNELS_ALONE, _KERNELS_SHARING = 12, 7
_NO_OPERATOR = "no operator"


@dataclasses.dataclass(frozen=True, kw_only=True)
class CaseOperators:
    """The operators and kernels of one case; a missing table leaves its sentence."""

    case: str
    operators: Table | None
    kernels: Table | None
    sentence: str
    is_wide: bool  # the kernels, for a page of 170 mm


def view_operators(report: Report, medium: Medium, links: Links) -> tuple[CaseOperators, ...]:
    """Return the tables of every case."""
    return tuple(_case(case, len(report.cases), medium, links) for case in report.cases)


def _case(case: CaseAnalysis, num_cases: int, medium: Medium, links: Links) -> CaseOperators:
    ranked = ranked_operators(case)
    # Paper has a wide page for long names of kernels; kernels stand in the operators' place where there are none.
    longest = max((len(kernel.name) for kernel in case.kernels.items[:_KERNELS_SHARING]), default=0)
    is_wide = bool(ranked) and medium.is_print and longest > _NAME_ON_A_PAGE
    return CaseOperators(
        case=cases.label(case),
        operators=_table(case, ranked, num_cases, medium, links) if ranked else None,
        kernels=_kernels(case, num_cases, medium, links, is_wide=is_wide),
        sentence="" if ranked else _missing(case),
        is_wide=is_wide,
    )


def _missing(case: CaseAnalysis) -> str:
    if case.outcome == "failed":
        return "The case failed before an operator was recorded."
    if case.device_kind == "not-recorded":
        return (
            "No device activity was recorded: device time by operator is left out. Record with ProfilerActivity.CUDA."
        )
    if case.kernels.items:
        return "No operator was recorded: device time is shown by kernel alone. Record with ProfilerActivity.CPU."
    return "No operator was recorded. Record with ProfilerActivity.CPU."


def _time(operator: Operator, *, on_host: bool) -> float | None:
    return operator.host_us_per_step if on_host else operator.device_us_per_step


def _share(operator: Operator, *, on_host: bool) -> float | None:
    return operator.share_of_host if on_host else operator.share_of_device


def _table(case: CaseAnalysis, ranked: Sequence[Operator], num_cases: int, medium: Medium, links: Links) -> Table:
    on_host = case.device_kind == "host"
    shown = ranked[: medium.operator_rows]
    values = [_time(item, on_host=on_host) or 0.0 for item in shown]
    rest_us = sum(_time(item, on_host=on_host) or 0.0 for item in ranked[len(shown) :]) + (case.operators.other_us or 0)
    none_us = 0.0 if on_host else _of_no_operator(case)
    left = [(name, us) for name, us in ((_rest_name(case, ranked, len(shown)), rest_us), (_NO_OPERATOR, none_us)) if us]
    values_all = [*values, *(us for _, us in left)]
    total_us = sum(values_all)
    cells = tables.times(values_all, total_us, unit="µs")
    roofs = any(item.roof_share is not None for item in shown)
    apart = told_apart(shown)
    most = max((_share(item, on_host=on_host) or 0.0 for item in shown), default=0.0)
    rows = [
        Row(
            id=links.anchors(case).row("operator", index),
            cells=(
                *_name_cells(item, medium, apart[index], links.of_operator(case, item)),
                cells[index],
                _share_cell(item, most, on_host=on_host),
                *_roof_cells(item, roofs=roofs),
            ),
        )
        for index, item in enumerate(shown)
    ]
    blank = (Cell(text=""),) * (3 if roofs else 0)
    for index, (name, us) in enumerate(left, len(shown)):
        lead = (Cell(text=name), Cell(text=""), Cell(text=""))
        rows.append(Row(kind="rest", cells=(*lead, cells[index], Cell(text=fmt.share(us / total_us)), *blank)))
    whole = Cell(text=f"100{fmt.NBSP}%")
    name = "operators’ own host time" if on_host else "device time"
    rows.append(Row(kind="total", cells=(Cell(text=name), Cell(text=""), Cell(text=""), cells[-1], whole, *blank)))
    return Table(
        caption=cases.lead(case, num_cases, _caption(case, len(shown), on_host=on_host)),
        columns=_columns(case, roofs=roofs),
        rows=tuple(rows),
        sortable=not medium.is_print,
        note=_note(case, shown, medium, roofs=roofs),
    )


def _rest_name(case: CaseAnalysis, ranked: Sequence[Operator], num_shown: int) -> str:
    """Name the rows left out by how many have time; of those that report.json cut they may be fewer."""
    num_cut = max(0, case.operators.total - len(case.operators.items)) if case.operators.other_us else 0
    shapes = fmt.plural(len(ranked) - num_shown + num_cut, "shape")
    return f"other, at most {shapes}" if num_cut > 1 else f"other, {shapes}"


def _of_no_operator(case: CaseAnalysis) -> float:
    """Return the device time a step that no operator is known to have launched, as that of a replayed graph."""
    if case.device_time is None:
        return 0.0
    listed = [item.device_us_per_step or 0.0 for item in case.operators.items]
    return left_over(case.device_time.activity_sum_us_per_step or 0.0, [*listed, case.operators.other_us or 0.0])


def _columns(case: CaseAnalysis, *, roofs: bool) -> tuple[tables.Column, ...]:
    share = "Share of host" if case.device_kind == "host" else "Share of device"
    heads = [
        ("Operator", 24.2 if roofs else 28.0, False), ("Input shapes", 17.6 if roofs else 32.0, False),
        ("Calls", 6.3, True), ("µs a step", 8.7, True), (share, 11.6 if roofs else 20.0, False),
    ]  # fmt: skip
    if roofs:
        heads += [("Rate", 12.6, True), ("Roof", 9.0, True), ("Bound", 10.0, False)]
    return tables.columns(*heads)


def told_apart(shown: Sequence[Operator]) -> list[str | None]:
    """Return what tells each row from others of its operator and shapes: types, else strides, else the module."""
    told: list[str | None] = []
    for item in shown:
        twins = [
            other
            for other in shown
            if other is not item
            and (other.name, other.input_shapes, other.direction) == (item.name, item.input_shapes, item.direction)
        ]
        if not twins or item.input_shapes is None:
            told.append(None)
        elif any(other.input_types == item.input_types for other in twins):
            same = [other for other in twins if other.input_types == item.input_types]
            by_stride = item.input_strides is not None and any(o.input_strides != item.input_strides for o in same)
            told.append(fmt.strides(item.input_strides) if by_stride else fmt.legible(item.module or "", 40))
        else:
            told.append(fmt.data_types(item.input_types))
    return told


def _name_cells(item: Operator, medium: Medium, apart: str | None, links: tuple[Link, ...]) -> tuple[Cell, ...]:
    name = dataclasses.replace(tables.name(item.name.removeprefix("aten::"), medium.name_limit), links=links)
    if item.direction == "backward":
        name = dataclasses.replace(name, note="backward")
    return (
        name,
        dataclasses.replace(tables.text(_shapes(item, medium)), note=apart),
        Cell(text=fmt.count(item.calls_per_step), sort=item.calls_per_step),
    )


def _shapes(item: Operator, medium: Medium) -> str:
    """Write as many shapes as there is room for whole, the rest counted: half a shape would be another one."""
    room = 38 if medium.is_print else 90
    texts = [
        fmt.shapes(item.input_shapes, item.input_types, item.name, n) for n in ((3, 2) if medium.is_print else (6, 2))
    ]
    return next((text for text in texts if len(text) <= room), fmt.shorten(texts[-1], room))


def _share_cell(item: Operator, most: float, *, on_host: bool) -> Cell:
    share = _share(item, on_host=on_host)
    if share is None:
        return tables.text(fmt.NOT_RECORDED)
    return Cell(text=fmt.share(share), bar=round(share / most * 100, 1) if most else 0.0, sort=share)


def _roof_cells(item: Operator, *, roofs: bool) -> tuple[Cell, ...]:
    if not roofs:
        return ()
    call_us = item.device_us_per_call
    rate = fmt.NOT_EVALUATED
    if call_us and item.flops and _is_right_of_ridge(item):
        rate = fmt.flop_rate(item.flops / call_us * 1e6)
    elif call_us and item.bytes:
        rate = fmt.byte_rate(item.bytes / call_us * 1e6)
    roof = fmt.share(item.roof_share, 0) if item.roof_share is not None else fmt.NOT_EVALUATED
    bound = tables.text(item.bound or fmt.NOT_EVALUATED)
    return (tables.text(rate), dataclasses.replace(tables.text(roof), sort=item.roof_share), bound)


def _is_right_of_ridge(item: Operator) -> bool:
    """Tell whether the roof's share is of the arithmetic's peak: the rate beside it is of the same."""
    if item.bound == "latency" and item.intensity is not None and item.ridge is not None:
        return item.intensity > item.ridge
    return item.bound == "compute"


def _caption(case: CaseAnalysis, num_shown: int, *, on_host: bool) -> str:
    which = "operator shape" if num_shown == 1 else f"{fmt.spelled(num_shown)} operator shapes"
    what = "host time of their own, as profiled" if on_host else "device time"
    return f"the {which} with the most {what}, n{fmt.NBSP}={fmt.NBSP}{recorded_steps(case)}."


def _note(case: CaseAnalysis, shown: Sequence[Operator], medium: Medium, *, roofs: bool) -> str | None:
    texts = []
    num_listed, num_all = len(case.operators.items), case.operators.total
    if roofs:
        texts.append(
            "Roof: the time at the device’s ceilings over the time taken. Latency: under 10 µs a call and under "
            f"25{fmt.NBSP}% of the roof; compute and memory: the roof above it, however far."
        )
    if any(item.roof_share is not None and item.roof_share > 1 for item in shown):
        texts.append(
            f"Over 100{fmt.NBSP}%: to {fmt.share(OVER_COPY, 0)} as writing alone is quicker than the copy that gives "
            "the roof, beyond it from the cache (L2), or by an error in the model of the work."
        )
    if max(num_all, num_listed) > len(shown) and medium.is_print:
        listed = f"All {fmt.plural(num_all, 'shape')}" if num_listed == num_all else f"{fmt.count(num_listed)} shapes"
        without = num_listed - len(ranked_operators(case))
        what = "host" if case.device_kind == "host" else "device"
        if without:
            listed += f", {fmt.count(without)} of them without {what} time,"
        texts.append(f"{listed} are in report.json and in {FILE_NAME}, which are attached to this PDF.")
    return " ".join(texts) or None


def _kernels(case: CaseAnalysis, num_cases: int, medium: Medium, links: Links, *, is_wide: bool) -> Table | None:
    kernels = case.kernels.items
    if not kernels:
        return None
    limit = medium.name_limit if not medium.is_print else _NAME_ON_A_WIDE_PAGE if is_wide else _NAME_ON_A_PAGE
    most = _KERNELS_ALONE if num_cases == 1 else _KERNELS_SHARING
    shown = kernels[: most if is_wide else medium.small_rows]
    spent = tables.times([kernel.us_per_step for kernel in shown], unit="µs")
    means = tables.times([kernel.mean_us for kernel in shown], unit="µs")
    rows = tuple(
        Row(
            id=links.anchors(case).row("kernel", index),
            cells=(
                *_kernel_cells(kernel, limit, links.of_kernel(case, kernel)),
                spent[index],
                Cell(text=fmt.share(kernel.share_of_device), sort=kernel.share_of_device),
                means[index],
                Cell(text=f"{fmt.number(kernel.min_us)} to {fmt.number(kernel.max_us)}"),
            ),
        )
        for index, kernel in enumerate(shown)
    )
    heads = (
        ("Kernel", 90.0 if is_wide else 39.5, False), ("Kind", 13.5, False), ("Calls", 7.0, True),
        ("µs a step", 10.0, True), ("Share", 8.0, True), ("Mean, µs", 9.0, True), ("Range, µs", 13.0, True),
    )  # fmt: skip
    left = max(case.kernels.total, len(kernels)) - len(shown)
    note = (
        f"{fmt.plural(left, 'more kernel')}{' in the HTML and' if medium.is_print else ''} in report.json."
        if left > 0
        else None
    )
    caption = cases.lead(case, num_cases, "kernels, copies and fills by device time.")
    columns = tables.columns(*heads)
    return Table(caption=caption, columns=columns, rows=rows, note=note, breaks=True, sortable=not medium.is_print)


def _kernel_cells(kernel: Kernel, limit: int, links: tuple[Link, ...]) -> tuple[Cell, ...]:
    return (
        dataclasses.replace(tables.name(kernel.name, limit), links=links),
        Cell(text=kernel.category),
        Cell(text=fmt.count(kernel.calls_per_step), sort=kernel.calls_per_step),
    )
