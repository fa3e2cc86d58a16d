"""Memory: the peak and what stood under it, rises, the largest allocations, the allocator, growth."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from reportgen.analysis.model import CaseAnalysis, Memory
from reportgen.report.model import Report
from reportgen.report.view import cases
from reportgen.report.view.medium import Medium
from reportgen.report.view.memory_sentences import sentences_about
from reportgen.report.view.memory_tables import table_at_peak, table_of_largest, table_of_lines, table_of_spikes
from reportgen.report.view.tables import Table

_MOST_CASES = 2
MISSING = "No memory events were recorded: peak and allocations are left out. Record with profile_memory=True."


@dataclasses.dataclass(frozen=True, kw_only=True)
class CaseMemory:
    """The memory of one case; without `at_peak` or `largest` the sentences say what is missing."""

    case: str
    at_peak: Table | None
    lines: Table | None
    largest: Table | None
    spikes: Table | None
    sentences: tuple[tuple[str, str], ...]


def highest_peaks(analysed: Sequence[CaseAnalysis]) -> list[CaseAnalysis]:
    """Return the cases that memory is drawn for, and told of on paper: those with the highest peaks, in their order."""
    known = [case for case in analysed if case.memory is not None]
    ranked = sorted(known, key=lambda case: -(case.memory.peak_allocated_bytes or 0) if case.memory else 0)
    return sorted(ranked[:_MOST_CASES], key=known.index)


def view_memory(report: Report, medium: Medium) -> tuple[CaseMemory, ...]:
    """Return the memory of every case that has any; the page has room for two."""
    known = highest_peaks(report.cases) if medium.is_print else report.cases
    return tuple(_case(case, case.memory, medium) for case in known if case.memory)


def _case(case: CaseAnalysis, memory: Memory, medium: Medium) -> CaseMemory:
    return CaseMemory(
        case=cases.label(case),
        at_peak=table_at_peak(memory),
        lines=table_of_lines(memory, medium),
        largest=table_of_largest(memory, medium),
        spikes=table_of_spikes(memory, medium),
        sentences=sentences_about(memory),
    )
