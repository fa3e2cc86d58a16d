"""allocation-spike: a function takes memory for itself that sets the peak, and gives it back before it returns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen import formatting as fmt
from reportgen.analysis.allocations.spikes import LEAST_SPIKE_BYTES, SPIKE_SHARE, choose_spikes
from reportgen.findings.model import Evidence, Gain, Severity
from reportgen.findings.places import place_of
from reportgen.findings.rule import (
    Context,
    Draft,
    Measured,
    Rule,
    Threshold,
    Verdict,
    fired,
    not_evaluated,
    passed,
)

if TYPE_CHECKING:
    from reportgen.analysis.model import Memory, Spike

SHARE = Threshold(
    name="share",
    value=SPIKE_SHARE,
    unit="of the step's start",
    reason="less than a fifth above what the step began with moves no decision about batch size or device",
)
LEAST_MIB = Threshold(
    name="least-mib",
    value=LEAST_SPIKE_BYTES / 2**20,
    unit="MiB",
    reason="library workspaces reach tens of MiB and come and go in every step",
)
# Of the device's memory: a peak of a fifth of it is felt when somebody raises the batch.
_MUCH_OF_DEVICE = 0.2
# A spike that lasts as long as the step may as well be the step's own working set.
_WHOLE_STEP = 0.9

IN_SHORT_OPERATOR = "Give the operator inputs that its kernels take"
IN_SHORT_FUNCTION = "Work in pieces or in place"


def judge(context: Context) -> Verdict:
    """Find functions whose own temporaries stood above the step's start by ``max(20 %, 256 MiB)`` and made the peak.

    Own temporaries are blocks freed by the time the innermost user function that allocated them returns, or within
    one operator. What a function returns is none, nor is what it saves for the gradient; a rise under half of the
    highest does not make the peak.
    """
    memory = context.case.memory
    if memory is None or memory.transients is None or memory.start_bytes is None:
        return not_evaluated("what came and went with which function was not recorded")
    limits = context.thresholds
    limit = max(limits[SHARE.name] * memory.start_bytes, limits[LEAST_MIB.name] * 2**20)
    spikes = choose_spikes(memory.transients, int(limit))
    largest = max((it.bytes for it in memory.transients), default=0)
    measured = Measured(value=float(largest), threshold=float(limit), unit="bytes")
    if spikes:
        return fired(*(_draft(context, memory, group) for group in _by_function(spikes)), measured=measured)
    return passed(
        f"nothing that a function frees by its own end takes more than {fmt.size(largest)}; a spike is from "
        f"{fmt.size(limit)} on",
        measured,
    )


def _by_function(spikes: tuple[Spike, ...]) -> list[list[Spike]]:
    """Group the spikes by the function that is to be changed, in each group the largest first."""
    groups: dict[tuple[str, str], list[Spike]] = {}
    for spike in sorted(spikes, key=lambda spike: -spike.bytes):
        key = (spike.source.file, spike.source.function) if spike.source else ("", spike.operator or "")
        groups.setdefault(key, []).append(spike)
    return list(groups.values())


def _draft(context: Context, memory: Memory, spikes: list[Spike]) -> Draft:
    spike = spikes[0]
    by_operator = spike.operator and (spike.within_operator or spike.source is None)
    function = f"`{fmt.legible(spike.source.function, 20)}`" if spike.source else "a function"
    where = fmt.operator_name(spike.operator or "", 24) if by_operator else function
    spans_step = _spans_step(context, spike)
    return Draft(
        title=f"{where} takes {fmt.size(spike.bytes)} for itself",
        evidence=(*_evidence(memory, spike), *(_lesser(other) for other in spikes[1:3])),
        mechanism=_mechanism(memory, spike),
        short_action=IN_SHORT_OPERATOR if spike.within_operator else IN_SHORT_FUNCTION,
        action=_action(spike),
        verify=f"{context.check_command()}: the peak must fall below {fmt.size(memory.peak_allocated_bytes)}.",
        beware="The function spans the whole step: part of this is the step's own working set." if spans_step else None,
        confidence="medium" if spans_step else "high",
        # What lives as long as the step does may be no spike at all: say it, and do not cry.
        severity="low" if spans_step else _severity(memory, spike),
        gain=Gain(bytes=spike.bytes, resource="memory", method="bound", edit="do not hold these blocks at once"),
        source=spike.source,
        where=(spike.where,) if spike.where else (),
        identity=(spike.source.function if spike.source else "", spike.operator or ""),
    )


def _evidence(memory: Memory, spike: Spike) -> tuple[Evidence, ...]:
    at = place_of(spike.source)
    rows = [
        Evidence(
            text=f"{fmt.size(spike.above_baseline_bytes)} above the step's start at its highest"
            + (f", {at}" if at else ""),
            value=spike.above_baseline_bytes,
            unit="bytes",
        )
    ]
    if spike.num_blocks and spike.largest_block_bytes:
        shapes = f" of {fmt.shapes(spike.input_shapes)}" if spike.input_shapes else ""
        by = f" by {fmt.operator_name(spike.operator)}{shapes}" if spike.operator else ""
        blocks = fmt.plural(spike.num_blocks, "block")
        text = f"{blocks} at once, the largest of {fmt.size(spike.largest_block_bytes)}{by}"
        rows.append(Evidence(text=text, value=spike.largest_block_bytes, unit="bytes"))
    if spike.held_us is not None:
        times = f", {fmt.times(spike.count_per_step)} a step" if spike.count_per_step else ""
        held = f"held for {fmt.duration(spike.held_us)} of host time{times}"
        rows.append(Evidence(text=held, value=spike.held_us, unit="us"))
    if memory.peak_allocated_bytes:
        text = f"the step's peak is {fmt.size(memory.peak_allocated_bytes)}"
        rows.append(Evidence(text=text, value=memory.peak_allocated_bytes, unit="bytes"))
    return tuple(rows)


def _lesser(spike: Spike) -> Evidence:
    """Say of another rise of the same function what it takes, and how high it stands."""
    shapes = f" of {fmt.shapes(spike.input_shapes)}" if spike.input_shapes else ""
    by = f" by {fmt.operator_name(spike.operator)}{shapes}" if spike.operator else ""
    return Evidence(
        text=f"a lesser rise{by} takes {fmt.size(spike.bytes)}, to {fmt.size(spike.above_baseline_bytes)} above the "
        "step's start",
        value=spike.bytes,
        unit="bytes",
    )


def _action(spike: Spike) -> str:
    if spike.within_operator:
        return (
            "Give the operator inputs in the type and layout that its kernels take, or a smaller batch at a time: what "
            "it asks for itself is its workspace and copies of its inputs."
        )
    return "Work in pieces or in place, or with an operator that does not write its intermediate results out."


def _mechanism(memory: Memory, spike: Spike) -> str:
    peak, start = memory.peak_allocated_bytes, memory.start_bytes
    who = "operator" if spike.within_operator else "function"
    if peak and start is not None and spike.bytes * 2 >= peak - start:
        return (
            f"These blocks live only while the {who} runs, and they are {fmt.share(spike.bytes / peak)} of the "
            "peak: they decide how large a batch fits."
        )
    return f"These blocks live only while the {who} runs, on top of what the step holds anyway."


def _severity(memory: Memory, spike: Spike) -> Severity:
    device = memory.headroom.device_bytes if memory.headroom else None
    if device and spike.bytes >= _MUCH_OF_DEVICE * device:
        return "high"
    peak = memory.peak_allocated_bytes
    return "medium" if peak and 2 * spike.bytes >= peak else "low"


def _spans_step(context: Context, spike: Spike) -> bool:
    shortest = min((row.host_us for row in context.case.steps), default=0.0)
    return bool(shortest and spike.held_us and spike.held_us >= _WHOLE_STEP * shortest)


RULE = Rule(id="allocation-spike", checklist_step=3, judge=judge, thresholds=(SHARE, LEAST_MIB))
