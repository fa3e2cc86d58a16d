"""Memory of a case: the high-water mark, what stood under it, the spikes, the growth and the allocator's own cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reportgen.analysis.allocations.curve import draw_curve
from reportgen.analysis.allocations.driver import measure_allocator
from reportgen.analysis.allocations.evidence import gather_evidence
from reportgen.analysis.allocations.fragmentation import measure_fragmentation
from reportgen.analysis.allocations.growth import measure_growth
from reportgen.analysis.allocations.largest import list_largest
from reportgen.analysis.allocations.peak import blocks_at_end, describe_peak
from reportgen.analysis.allocations.snapshot_history import history_of_snapshot
from reportgen.analysis.allocations.spikes import choose_spikes, find_transients, spike_threshold
from reportgen.analysis.allocations.trace_history import HOST_TYPE, history_of_trace, select_events
from reportgen.analysis.model import FirstStepMemory, Headroom, Memory
from reportgen.analysis.steps.window import count

if TYPE_CHECKING:
    from reportgen.analysis.allocations.evidence import Evidence
    from reportgen.analysis.allocations.history import History
    from reportgen.analysis.attribution.attribution import Attribution
    from reportgen.analysis.model import Fragmentation
    from reportgen.analysis.waiting.budget_result import BudgetResult
    from reportgen.recording import MemoryMarks, RecordedCase
    from reportgen.trace.memory_columns import MemoryHistory


def measure_memory(
    attribution: Attribution | None,
    *,
    recorded: RecordedCase | None = None,
    snapshot: MemoryHistory | None = None,
    budget: BudgetResult | None = None,
) -> Memory | None:
    """Measure the memory of a case from whatever recorded it; None where nothing did.

    Peaks come from the counters of an unprofiled run where there are any, else from the trace's own `[memory]` events
    (of the device's allocator, on a run without a device of the host's), else from the snapshot. What stood at the
    peak comes from the snapshot's history, which knows the lines and the model's own tensors, else from the trace.
    """
    marks = recorded.memory if recorded is not None else None
    of_trace, of_snapshot = gather_evidence(
        attribution,
        history_of_trace(attribution) if attribution is not None else None,
        history_of_snapshot(snapshot) if snapshot is not None else None,
        snapshot,
    )
    main = of_trace or of_snapshot
    if main is None and marks is None and snapshot is None:
        return None
    history = main.history if main is not None else None
    fragmentation = measure_fragmentation(snapshot, of_snapshot.history if of_snapshot else None) if snapshot else None
    device_bytes = _device_bytes(attribution)
    marked = _marked(marks, history, fragmentation)
    allocator = None
    if attribution is not None:
        retries = marks.retries if marks is not None else None
        allocator = measure_allocator(attribution, count(attribution.detail), budget, retries)
    return Memory(
        **marked,
        since_recording=marked["basis"] == "trace" and attribution is not None and _is_of_host(attribution),
        **(_blocks(main, device_bytes) if main is not None else {"growth_bytes_per_step": None}),
        **(_at_peak(of_snapshot or of_trace, snapshot)),
        **(_transients(of_trace, attribution, marked["start_bytes"])),
        allocator=allocator,
        fragmentation=fragmentation,
        headroom=_headroom(marks, marked["peak_reserved_bytes"], device_bytes),
        first_step=_first_step(recorded.first_step_memory if recorded is not None else None),
    )


def _marked(marks: MemoryMarks | None, history: History | None, fragmentation: Fragmentation | None) -> dict[str, Any]:
    """Return the peaks and the start from the best source there is."""
    if marks is not None:
        return {
            "peak_allocated_bytes": marks.peak_allocated_bytes,
            "peak_reserved_bytes": marks.peak_reserved_bytes,
            "start_bytes": marks.start_bytes,
            "in_use_on_device_bytes": marks.in_use_on_device_bytes,
            "basis": "unprofiled",
        }
    if history is not None:
        reserved = history.reserved
        return {
            "peak_allocated_bytes": history.peak_bytes or None,
            "peak_reserved_bytes": None if reserved is None else int(reserved.max()),
            "start_bytes": history.bytes_before_peak,
            "basis": history.basis,
        }
    # A snapshot without a history shows one moment: what is there then is the least that the peak can have been.
    return {
        "peak_allocated_bytes": fragmentation.allocated_bytes if fragmentation else None,
        "peak_reserved_bytes": fragmentation.reserved_bytes if fragmentation else None,
        "start_bytes": None,
        "basis": "snapshot",
    }


def _blocks(evidence: Evidence, device_bytes: int | None) -> dict[str, Any]:
    history = evidence.history
    growth = measure_growth(evidence, device_bytes)
    return {
        "growth_bytes_per_step": growth.bytes_per_step if growth is not None else None,
        "step_end_bytes": tuple(history.counter(history.steps.end).tolist()),
        "largest": list_largest(evidence),
        "growth": growth,
        "curve": draw_curve(history),
    }


def _at_peak(evidence: Evidence | None, snapshot: MemoryHistory | None) -> dict[str, Any]:
    tensors = snapshot.tensors if snapshot is not None else None
    if evidence is None:
        return {"peak_blocks": blocks_at_end(snapshot)} if snapshot is not None else {}
    found = describe_peak(evidence, tensors)
    if found is None:
        return {}
    return {
        "at_peak": found.shares,
        "at_peak_bytes": found.bytes,
        "at_peak_basis": evidence.history.basis,
        "history_gap_bytes": evidence.history.mismatch_bytes if evidence.history.basis == "snapshot" else None,
        "peak_lines": found.lines,
        "peak_blocks": found.blocks,
    }


def _transients(evidence: Evidence | None, attribution: Attribution | None, start_bytes: int | None) -> dict[str, Any]:
    """Return the spikes; only a trace with its frames and operators tells what came and went with what."""
    if evidence is None or attribution is None or start_bytes is None:
        return {}
    found = find_transients(evidence, attribution)
    limit = spike_threshold(start_bytes)
    return {
        "spikes": choose_spikes(found, limit),
        "transients": found,
        "spike_threshold_bytes": limit,
    }


def _is_of_host(attribution: Attribution) -> bool:
    """Tell whether the trace's counter is that of the host's allocator."""
    rows = select_events(attribution.detail)
    return len(rows) > 0 and bool(attribution.detail.memory.device_type[rows[0]] == HOST_TYPE)


def _device_bytes(attribution: Attribution | None) -> int | None:
    """Return the size of the device whose allocator is told of, None for a host's or where the trace does not say."""
    if attribution is None:
        return None
    trace = attribution.detail
    rows = select_events(trace)
    if _is_of_host(attribution):
        return None
    index = int(trace.memory.device[rows[0]]) if len(rows) else 0
    return next((device.memory_bytes for device in trace.info.devices if device.index == index), None)


def _headroom(marks: MemoryMarks | None, peak_reserved: int | None, device_bytes: int | None) -> Headroom | None:
    if not device_bytes or peak_reserved is None:
        return None
    in_use = marks.in_use_on_device_bytes if marks is not None else None
    others = None if in_use is None else max(in_use - peak_reserved, 0)
    return Headroom(
        device_bytes=device_bytes,
        reserved_share=peak_reserved / device_bytes,
        in_use_share=None if others is None else (peak_reserved + others) / device_bytes,
        others_bytes=others,
    )


def _first_step(marks: MemoryMarks | None) -> FirstStepMemory | None:
    if marks is None:
        return None
    return FirstStepMemory(
        start_bytes=marks.start_bytes,
        peak_allocated_bytes=marks.peak_allocated_bytes,
        peak_reserved_bytes=marks.peak_reserved_bytes,
    )
