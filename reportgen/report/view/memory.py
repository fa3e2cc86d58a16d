"""Memory: the peak and what stood under it, rises, the largest allocations, the allocator, growth."""

from __future__ import annotations

import dataclasses

from reportgen import formatting as fmt
from reportgen.analysis.model import CaseAnalysis, Memory
from reportgen.report.model import Report
from reportgen.report.view import cases, tables
from reportgen.report.view.medium import Medium
from reportgen.report.view.tables import Cell, Row, Table
from reportgen.report.view.waits import source_cell

MISSING = "No memory events were recorded: peak and allocations are left out. Record with profile_memory=True."


@dataclasses.dataclass(frozen=True, kw_only=True)
class CaseMemory:
    """The memory of one case; without `at_peak` or `largest` the sentences say what is missing."""

    case: str
    at_peak: Table | None
    largest: Table | None
    spikes: Table | None
    sentences: tuple[tuple[str, str], ...]


def view_memory(report: Report, medium: Medium) -> tuple[CaseMemory, ...]:
    """Return the memory of every case that has any; the page has room for two."""
    known = [case for case in report.cases if case.memory is not None]
    if medium.is_print:
        known = sorted(known, key=lambda case: -(case.memory.peak_allocated_bytes or 0) if case.memory else 0)[:2]
        known.sort(key=report.cases.index)
    return tuple(_case(case, case.memory, medium) for case in known if case.memory)


def _case(case: CaseAnalysis, memory: Memory, medium: Medium) -> CaseMemory:
    return CaseMemory(
        case=cases.label(case),
        at_peak=_at_peak(memory),
        largest=_largest(memory, medium),
        spikes=_spikes(memory, medium),
        sentences=tuple(_sentences(memory)),
    )


def _at_peak(memory: Memory) -> Table | None:
    if not memory.at_peak:
        return None
    values = [share.bytes for share in memory.at_peak]
    column = fmt.size_column(values, sum(values))
    cells = tables.figures([*column.cells, column.total])
    rows = [Row(cells=(Cell(text=share.category), cells[i])) for i, share in enumerate(memory.at_peak)]
    rows.append(Row(kind="total", cells=(Cell(text="peak"), cells[-1])))
    return Table(
        caption=f"Alive at the peak, {column.unit}",
        columns=tables.columns(("Category", 70.0, False), (column.unit, 30.0, True)),
        rows=tuple(rows),
    )


def _largest(memory: Memory, medium: Medium) -> Table | None:
    shown = memory.largest[: medium.small_rows]
    if not shown:
        return None
    column = fmt.size_column([item.bytes for item in shown])
    sizes = tables.figures(column.cells, [item.bytes for item in shown])
    limit = 30 if medium.is_print else 80
    rows = tuple(
        Row(
            cells=(
                sizes[i],
                Cell(text=fmt.count(item.count_per_step), sort=item.count_per_step),
                tables.name(
                    item.operator.removeprefix("aten::") if item.operator else None, 24 if medium.is_print else 80
                ),
                tables.text(fmt.shorten(fmt.shapes(item.input_shapes, None, item.operator or "", limit=3), limit)),
                Cell(text=fmt.duration(item.held_us), muted=item.held_us is None, sort=item.held_us),
                source_cell(item.source, limit),
            )
        )
        for i, item in enumerate(shown)
    )
    heads = (
        (f"Size, {column.unit}", 11.0, True), ("A step", 7.0, True), ("Operator", 20.0, False),
        ("Input shapes", 22.0, False), ("Held", 11.0, True), ("Function", 29.0, False),
    )  # fmt: skip
    return Table(
        caption="The largest allocations of a step",
        columns=tables.columns(*heads),
        rows=rows,
        sortable=not medium.is_print,
    )


def _spikes(memory: Memory, medium: Medium) -> Table | None:
    shown = memory.spikes[: medium.small_rows]
    if not shown:
        return None
    column = fmt.size_column([item.above_baseline_bytes for item in shown])
    sizes = tables.figures(column.cells)
    rows = tuple(
        Row(
            cells=(
                sizes[i],
                tables.name(item.operator.removeprefix("aten::") if item.operator else None, 28),
                Cell(text=fmt.duration(item.held_us), muted=item.held_us is None),
                source_cell(item.source, 40),
            )
        )
        for i, item in enumerate(shown)
    )
    heads = (
        (f"Rise, {column.unit}", 15.0, True),
        ("Operator", 30.0, False),
        ("Held", 15.0, True),
        ("Function", 40.0, False),
    )
    caption = "Rises that are gone again when their function returns"
    return Table(caption=caption, columns=tables.columns(*heads), rows=rows)


def _sentences(memory: Memory) -> list[tuple[str, str]]:
    basis = {"unprofiled": "without the profiler", "trace": "by the trace’s own counter", None: ""}[memory.basis]
    peak = f"{fmt.size(memory.peak_allocated_bytes)} allocated at the peak"
    if memory.start_bytes is not None:
        peak += f", {fmt.size(memory.start_bytes)} before the step"
    if memory.peak_reserved_bytes is not None:
        peak += f"; {fmt.size(memory.peak_reserved_bytes)} reserved"
    sentences = [("Peak:", f"{peak}{f' ({basis})' if basis else ''}.")]
    growth, ends = memory.growth_bytes_per_step, len(memory.step_end_bytes)
    if growth is None:
        sentences.append(("Growth:", f"{fmt.NOT_EVALUATED}; it needs the allocated bytes at the end of two steps."))
    else:
        over = f" over {fmt.plural(ends, 'step')}" if ends else ""
        word = f"{fmt.size(growth)} a step" if growth else "0 B a step"
        sentences.append(("Growth:", f"{word}{over}."))
    sentences.append(("Allocator:", _allocator(memory)))
    if memory.at_peak is None:
        sentences.append(
            ("Not known:", "what was alive at the peak; the allocator’s history or recorded shapes would tell.")
        )
    return sentences


def _allocator(memory: Memory) -> str:
    allocator = memory.allocator
    if allocator is None or allocator.device_mallocs_per_step is None:
        return f"calls into the driver {fmt.NOT_RECORDED}."
    if not allocator.device_mallocs_per_step and not allocator.device_frees_per_step:
        return "every allocation of the recorded steps is served from what is reserved: no call to the device."
    mallocs, frees = fmt.count(allocator.device_mallocs_per_step), fmt.count(allocator.device_frees_per_step)
    retries = f", {fmt.plural(allocator.retries, 'retry', 'retries')}" if allocator.retries is not None else ""
    return f"{mallocs} allocations on the device and {frees} frees a step{retries}."
