"""The sentences of the memory section: a lead and what is true of it, each from one set of figures."""

from __future__ import annotations

from collections.abc import Iterator

from reportgen import formatting as fmt
from reportgen.analysis.model import Growth, Memory, PeakLine
from reportgen.report import wording

# Temporaries that are this share of what is alive at the peak are told with it.
_TOLD_SHARE = 0.05

_BASIS = {
    "unprofiled": "by the allocator’s counters in the timing pass, not profiled",
    "trace": "by the trace’s own counter",
    "snapshot": "by the memory snapshot",
}


def sentences_about(memory: Memory) -> tuple[tuple[str, str], ...]:
    """Return what the section says beside its tables, what is missing included."""
    return tuple(_sentences(memory))


def _sentences(memory: Memory) -> Iterator[tuple[str, str]]:
    yield "Peak:", _peak(memory)
    if makes := _makes_peak(memory):
        yield "At the peak:", makes
    if passes := _passes(memory):
        yield "Passes:", passes
    if memory.headroom is not None or memory.in_use_on_device_bytes is not None:
        yield "Device:", _device(memory)
    yield "Rises:", _rises(memory)
    yield "Growth:", _growth(memory.growth)
    yield "Allocator:", _allocator(memory)
    if memory.first_step is not None:
        first = memory.first_step
        yield (
            "First step of all:",
            f"{fmt.size(first.peak_allocated_bytes)} allocated and {fmt.size(first.peak_reserved_bytes)} reserved at "
            f"its peak, from {fmt.size(first.start_bytes)} that were there once the case was built.",
        )
    if memory.fragmentation is not None:
        yield "Holes:", _holes(memory)
    if memory.history_gap_bytes:
        gap = fmt.size(abs(memory.history_gap_bytes))
        yield (
            "Missing:",
            f"entries of the allocator’s history; it and the allocator’s state at its end differ by {gap}.",
        )
    if memory.at_peak is None:
        yield "Not known:", "what was alive at the peak; the allocator’s history or recorded allocations would tell."


def _peak(memory: Memory) -> str:
    if memory.since_recording:
        return (
            f"{fmt.size(memory.peak_allocated_bytes)} allocated since the recording began; what was there before, the "
            "model’s parameters for one, is not counted on a host."
        )
    text = f"{fmt.size(memory.peak_allocated_bytes)} allocated at the peak"
    if memory.start_bytes is not None:
        before = "the first timed step" if memory.basis == "unprofiled" else f"{_step_of(memory)}, which holds it"
        text += f", {fmt.size(memory.start_bytes)} before {before}"
    if memory.peak_reserved_bytes is not None:
        text += f"; {fmt.size(memory.peak_reserved_bytes)} reserved"
    return f"{text} ({_BASIS[memory.basis]})." if memory.basis else f"{text}."


def _step_of(memory: Memory) -> str:
    """Name the step that the curve is of, among those that were recorded beside it."""
    curve = memory.curve
    if curve is None or (step := wording.step_of_curve(curve)) is None:
        return "the step"
    return f"{step} (it settles)" if curve.ordinal == 1 else step


def _makes_peak(memory: Memory) -> str:
    """Name the place that allocated most of what is alive at the peak, and of what is gone again soon after it."""
    placed = [line for line in memory.peak_lines if line.source is not None]
    if not placed or not memory.at_peak_bytes:
        return ""
    whole = fmt.size(memory.at_peak_bytes)
    largest = max(placed, key=lambda line: line.bytes)
    text = f"{fmt.size(largest.bytes)} of {whole}, the most of one place, are {largest.category} of {_place(largest)}"
    brief = max((line for line in placed if line.category == "temporaries"), key=lambda line: line.bytes, default=None)
    if brief is None or brief is largest or brief.bytes < _TOLD_SHARE * memory.at_peak_bytes:
        return f"{text}."
    return f"{text}; the peak falls while {_place(brief)} holds {fmt.size(brief.bytes)} of temporaries."


def _place(line: PeakLine) -> str:
    source = line.source
    if source is None:
        return fmt.NOT_RECORDED
    within = f", through {fmt.legible(source.beneath, 60)}" if source.beneath else ""
    return f"`{fmt.legible(source.function, 40)}`{within}"


def _passes(memory: Memory) -> str:
    """Say from which pass each peak of the section is, and why they differ, where an own run shows several."""
    if memory.basis != "unprofiled" or memory.peak_allocated_bytes is None:
        return ""
    told = [("timing pass", memory.peak_allocated_bytes)]
    if memory.curve is not None:
        drawn = f"{wording.pass_of_curve(memory)} (chart: {_step_of(memory)})"
        told.append((drawn, max(memory.curve.allocated_bytes)))
    if memory.at_peak_bytes is not None:
        name = "memory pass" if memory.at_peak_basis == "snapshot" else "detail pass"
        told.append((f"{name} (tables)", memory.at_peak_bytes))
    column = fmt.size_column([value for _, value in told])
    if len(set(column.cells)) < 2:
        return ""
    figures = fmt.listing([f"{cell} in the {name}" for cell, (name, _) in zip(column.cells, told, strict=True)])
    reasons = []
    if memory.growth is not None and memory.growth.kind == "cache":
        reasons.append("each pass runs its steps at other lengths of the cache")
    if memory.at_peak_basis == "snapshot":
        reasons.append("the tables count what was asked for, the counters the whole blocks that were given")
    return f"peaks in {column.unit}: {figures}{': ' if reasons else ''}{', and '.join(reasons)}."


def _device(memory: Memory) -> str:
    parts = []
    if memory.in_use_on_device_bytes is not None:
        parts.append(f"{fmt.size(memory.in_use_on_device_bytes)} in use on the device, by all processes")
    room = memory.headroom
    if room is not None:
        whole = fmt.size(room.device_bytes)
        if room.in_use_share is not None:
            parts.append(f"{fmt.share(room.in_use_share)} of its {whole} in use at the peak")
        else:
            parts.append(f"{fmt.share(room.reserved_share)} of its {whole} reserved at the peak by this program")
    return f"{'; '.join(parts)}."


def _rises(memory: Memory) -> str:
    if memory.transients is None:
        return f"{fmt.NOT_EVALUATED}; it needs the trace of allocations with operators and functions."
    if memory.spikes:
        num = len(memory.spikes)
        return (
            f"{fmt.plural(num, 'rise')} from {fmt.size(memory.spike_threshold_bytes)} on, gone again when "
            f"{'its function' if num == 1 else 'their functions'} returned; the highest makes the peak."
        )
    highest = max((spike.bytes for spike in memory.transients), default=0)
    limit = fmt.size(memory.spike_threshold_bytes)
    return (
        f"no function took more than {fmt.size(highest)} that it gave back before it returned; from {limit} it would "
        "be listed. What a function returns or saves for the gradient is no rise."
    )


def _growth(growth: Growth | None) -> str:
    if growth is None:
        return f"{fmt.NOT_EVALUATED}; it needs the allocated bytes at the end of two steps."
    steps = fmt.plural(len(growth.rises_bytes) + 1, "step")
    rate = f"{fmt.size(growth.bytes_per_step)} a step over {steps}"
    if growth.kind == "cache":
        return f"{rate}: a cache whose blocks each step replaces by larger ones."
    if growth.kind == "kept":
        left = growth.steps_until_full
        full = f" The device is full after {fmt.count(left)} more steps." if left is not None else ""
        return f"{rate} stays behind; who allocated it is known, who keeps it is not.{full}"
    return f"{rate}." if growth.bytes_per_step else f"0 B a step over {steps}."


def _allocator(memory: Memory) -> str:
    allocator = memory.allocator
    if allocator is None or allocator.device_mallocs_per_step is None:
        return f"calls into the driver {fmt.NOT_RECORDED}."
    if not allocator.device_mallocs_per_step and not allocator.device_frees_per_step:
        return "every allocation of the recorded steps is served from what is reserved: no call to the device."
    mallocs, frees = fmt.count(allocator.device_mallocs_per_step), fmt.count(allocator.device_frees_per_step)
    retries = f", {fmt.plural(allocator.retries, 'retry', 'retries')}" if allocator.retries is not None else ""
    cost = (
        f"; the device waits {fmt.duration(allocator.cost_us_per_step)} for them" if allocator.cost_us_per_step else ""
    )
    return f"{mallocs} allocations on the device and {frees} frees a step{retries}{cost}."


def _holes(memory: Memory) -> str:
    holes = memory.fragmentation
    if holes is None:
        return fmt.NOT_RECORDED
    when = "at the peak" if holes.at == "peak" else "when the snapshot was taken"
    return (
        f"{fmt.size(holes.stranded_bytes)} of {fmt.size(holes.reserved_bytes)} reserved lie between live blocks "
        f"{when}, the largest of {fmt.size(holes.largest_hole_bytes)}; "
        f"{fmt.size(holes.idle_segment_bytes)} could go back."
    )
