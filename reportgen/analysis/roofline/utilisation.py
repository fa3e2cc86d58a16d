"""The whole step against the ceilings: model FLOPs, bandwidth, the floor of a decode step, and energy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from reportgen.analysis.model import Utilisation
from reportgen.analysis.work_models import MATRIX_FAMILIES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reportgen.analysis.model import Timing
    from reportgen.analysis.roofline.shapes import GroupWork, ShapeWork
    from reportgen.recording import RecordedCase

# What a decode step cannot do without: the weights, all in products, and the cache, all in attention.
_STREAMED = frozenset({"matrix product", "attention"})
_POWER = "power_w"
Made = tuple[float, Literal["token", "sample"]]


def measure_utilisation(
    shapes: ShapeWork, timing: Timing | None, phase: str | None, recorded: RecordedCase | None
) -> Utilisation | None:
    """Return the step's arithmetic and traffic as rates and shares; None where no work is known.

    Model FLOPs are those of products, attention and convolutions, as `torch.utils.flop_counter` counts (under a causal
    mask the half that is needed). The share of the peak weighs each type by its own peak: it is the time at the peak
    over the step time.
    """
    counted = [
        (known, float(calls)) for known, calls in zip(shapes.groups, shapes.leaf_calls_per_step, strict=True) if known
    ]
    ran = [
        (known, float(calls)) for known, calls in zip(shapes.groups, shapes.device_calls_per_step, strict=True) if known
    ]
    flops = _sum((known.work.flops, calls) for known, calls in counted if known.family in MATRIX_FAMILIES)
    moved = _sum((known.work.bytes, calls) for known, calls in ran)
    if flops is None and moved is None:
        return None
    step_us = timing.step_us if timing and timing.step_us else None
    compute_us = _sum(
        (known.placement.compute_us, calls) for known, calls in counted if known.family in MATRIX_FAMILIES
    )
    memory_us = _sum((known.placement.memory_us, calls) for known, calls in ran)
    energy_j, item = _energy(recorded, step_us)
    floor_bytes, floor_us = _decode_floor(ran) if phase == "decode" else (None, None)
    return Utilisation(
        flops_per_step=flops,
        flops_per_s=flops / step_us * 1e6 if flops is not None and step_us else None,
        share_of_peak=compute_us / step_us if compute_us is not None and step_us else None,
        bytes_per_step=moved,
        bytes_per_s=moved / step_us * 1e6 if moved is not None and step_us else None,
        share_of_bandwidth=memory_us / step_us if memory_us is not None and step_us else None,
        roof_us_per_step=_sum((known.placement.roof_us, calls) for known, calls in ran),
        floor_bytes_per_step=floor_bytes,
        floor_us_per_step=floor_us,
        energy_j_per_step=energy_j,
        energy_j_per_item=energy_j / item[0] if energy_j is not None and item else None,
        energy_item=item[1] if energy_j is not None and item else None,
    )


def _sum(parts: Iterable[tuple[float | None, float]]) -> float | None:
    """Add ``amount x calls`` over what is known; None where nothing is."""
    known = [amount * calls for amount, calls in parts if amount is not None and calls]
    return float(sum(known)) if known else None


def _decode_floor(ran: list[tuple[GroupWork, float]]) -> tuple[float | None, float | None]:
    """Return what a step must read to make its tokens, weights and cache once, and its time at the bandwidth."""
    streamed = [(known, calls) for known, calls in ran if known.family in _STREAMED]
    return (
        _sum((known.work.bytes, calls) for known, calls in streamed),
        _sum((known.placement.memory_us, calls) for known, calls in streamed),
    )


def _energy(recorded: RecordedCase | None, step_us: float | None) -> tuple[float | None, Made | None]:
    """Return joules a step, from the mean power beside the timing, and what a step makes."""
    if recorded is None or recorded.timing is None or step_us is None:
        return None, None
    power = [float(value) for value in recorded.timing.conditions.get(_POWER, []) if isinstance(value, int | float)]
    joules = sum(power) / len(power) * step_us / 1e6 if power else None
    if recorded.tokens_per_step:
        return joules, (recorded.tokens_per_step, "token")
    return joules, (recorded.samples_per_step, "sample") if recorded.samples_per_step else None
