"""The roofline: what limits an operator at a shape, and how long it would take at that limit.

A call of F operations and Q least bytes cannot be over before ``max(F / peak, Q / bandwidth)``, the *roof* (Williams,
Waterman and Patterson, 2009). Left of the ridge ``F / Q = peak / bandwidth`` memory limits, right of it arithmetic; a
call too short to come near either is limited by latency.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Literal

from reportgen.analysis.model import Bound
from reportgen.analysis.work_models import MATRIX_FAMILIES, Call, Family, Work
from reportgen.recording import Ceilings, Scalar

# Under both a call is too short to say more than that: launching and filling the device is what it consists of.
LATENCY_US = 10.0
LATENCY_SHARE = 0.25
# A kernel of unknown arithmetic that moves its bytes at this share of the bandwidth is limited by memory.
PROVEN_MEMORY_SHARE = 0.5
# What a measured roof may be beaten by before something is wrong: the spread of such a measurement.
OVER_ROOF = 1.05
# Reading alone and writing alone are quicker than the copy that measures the bandwidth, as the memory need not turn
# around: on an H200 a fill writes 4.70 TB/s, a sum of two moves 4.36 and a copy 4.28, of 4.8 TB/s that its memory has.
OVER_COPY = 1.15

_TYPES = {
    "c10::Half": "float16",
    "c10::BFloat16": "bfloat16",
    "double": "float64",
    "signed char": "int8",
}
_VECTOR_TYPE = "float32"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Placement:
    """Where a call stands: times in µs, rates per second; None where a ceiling or the work is not known."""

    intensity: float | None = None  # operations a byte
    flops_per_s: float | None = None
    bytes_per_s: float | None = None
    ceiling: str | None = None  # the type whose peak applies
    ridge: float | None = None  # operations a byte
    compute_us: float | None = None  # at the peak of arithmetic
    memory_us: float | None = None  # at the bandwidth
    roof_us: float | None = None
    roof_share: float | None = None
    bound: Bound | None = None


def beats_roof(placement: Placement) -> bool:
    """Tell whether a call is faster than the roof allows, by more than the roof itself is uncertain."""
    memory_us, compute_us = placement.memory_us or 0.0, placement.compute_us or 0.0
    return (placement.roof_share or 0.0) > (OVER_COPY if memory_us >= compute_us else OVER_ROOF)


def compute_type(call: Call, family: Family, flags: Mapping[str, Scalar]) -> str | None:
    """Return the type of `Ceilings.matmul_flops_per_s` whose peak a call is held against; None where unknown."""
    if family not in MATRIX_FAMILIES:
        return _VECTOR_TYPE
    kind = next((tensor.type for tensor in call.tensors if tensor.shape), None)
    if kind == "float":
        return "tf32" if is_tf32(call, family, flags) else "float32"
    if kind is not None and kind.startswith("c10::Float8"):
        return "float8"
    return _TYPES.get(kind or "")


def is_tf32(call: Call, family: Family, flags: Mapping[str, Scalar]) -> bool:
    """Return whether fp32 factors may be rounded to TF32.

    The recorded flags decide; without them torch's defaults hold: products no, convolutions by the flag that cuDNN's
    operator is called with, else yes.
    """
    if family == "convolution":
        own = call.truth(8) if call.name == "aten::cudnn_convolution" else None
        if own is not None:
            return own
        return flags.get("cudnn_conv_fp32_precision") == "tf32" or bool(flags.get("cudnn_tf32", True))
    return flags.get("matmul_fp32_precision") == "tf32" or bool(flags.get("matmul_tf32", False))


def place(work: Work, time_us: float | None, kind: str | None, family: Family, ceilings: Ceilings) -> Placement:
    """Place one call that took `time_us` on the device, None where that is not known; `kind` is its compute type."""
    peak = ceilings.matmul_flops_per_s.get(kind or "")
    compute_us = _microseconds(work.flops, peak)
    memory_us = _microseconds(work.bytes, ceilings.copy_bytes_per_s)
    placement = Placement(
        intensity=work.flops / work.bytes if work.flops and work.bytes else None,
        flops_per_s=work.flops / time_us * 1e6 if work.flops and time_us else None,
        bytes_per_s=work.bytes / time_us * 1e6 if work.bytes and time_us else None,
        ceiling=kind if peak else None,
        ridge=peak / ceilings.copy_bytes_per_s if peak and ceilings.copy_bytes_per_s else None,
        compute_us=compute_us,
        memory_us=memory_us,
    )
    if family not in MATRIX_FAMILIES and family != "generated":
        compute_us = compute_us or 0.0  # far left of every ridge: its peak need not be known
    if memory_us is None or (compute_us is None and family != "generated"):
        return placement
    roof_us = max(memory_us, compute_us or 0.0)
    share = roof_us / time_us if time_us else None
    side: Literal["compute", "memory"] = "compute" if (compute_us or 0.0) > memory_us else "memory"
    return dataclasses.replace(
        placement, roof_us=roof_us, roof_share=share, bound=_bound(time_us, share, side, known=compute_us is not None)
    )


def _bound(
    time_us: float | None, share: float | None, side: Literal["compute", "memory"], *, known: bool
) -> Bound | None:
    if not known:
        return side if share is not None and share >= PROVEN_MEMORY_SHARE else None
    if time_us is not None and share is not None and time_us < LATENCY_US and share < LATENCY_SHARE:
        return "latency"
    return side


def _microseconds(amount: float | None, per_second: float | None) -> float | None:
    return amount / per_second * 1e6 if amount is not None and per_second else None
