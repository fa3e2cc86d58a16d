"""Matrix products: ``2 M N K`` operations; each factor read once, the result written once.

Source: one multiplication and one addition for each of K terms of M x N sums, the count of LAPACK Working Note 41 and
of `torch.utils.flop_counter`. The addition of a bias (M N) is left out there and here.
"""

from __future__ import annotations

import math

from reportgen.analysis.work_models.call import (
    UNKNOWN,
    Call,
    Tensor,
    Work,
    WorkModel,
    broadcast,
    size_bytes,
    total_bytes,
)

# torch.ScalarType numbers as the profiler writes an `out_dtype`.
_SCALAR_TYPES = {5: "c10::Half", 6: "float", 7: "double", 15: "c10::BFloat16"}


def _product(first: Tensor | None, second: Tensor | None, *added: Tensor | None, out_type: str | None = None) -> Work:
    """Multiply [.., M, K] by [.., K, N], a vector being a matrix of one row or column; batches are broadcast."""
    if first is None or second is None or not first.shape or not second.shape:
        return UNKNOWN
    left = first.shape if len(first.shape) > 1 else (1, *first.shape)
    right = second.shape if len(second.shape) > 1 else (*second.shape, 1)
    batch = broadcast(left[:-2], right[:-2])
    if batch is None or left[-1] != right[-2]:
        return UNKNOWN
    result = (*batch, left[-2], right[-1])
    given = [tensor.bytes for tensor in (first, second, *added) if tensor is not None]
    written = size_bytes(result, out_type or first.type)
    return Work(2.0 * math.prod(result) * left[-1], total_bytes(*given, written))


def plain(call: Call) -> Work:
    """``A @ B``: mm, bmm, mv, dot, matmul."""
    return _product(call.tensor(0), call.tensor(1))


def added(call: Call) -> Work:
    """``C + A @ B``: addmm, baddbmm, addmv; C is read as it is stored, a bias once."""
    return _product(call.tensor(1), call.tensor(2), call.tensor(0))


def linear(call: Call) -> Work:
    """``x @ W.T + b``: the leading dimensions of x count as rows, W is [out, in]."""
    inputs, weight = call.tensor(0), call.tensor(1)
    if inputs is None or weight is None or len(weight.shape) != 2:
        return UNKNOWN
    turned = Tensor(weight.shape[::-1], weight.type)
    return _product(inputs, turned, call.tensor(2))


def scaled(call: Call) -> Work:
    """``_scaled_mm``: 8-bit factors, their scales, and a result of the type asked for (`out_dtype`, else bfloat16)."""
    out_type = _SCALAR_TYPES.get(call.integer(6) or 15)
    return _product(call.tensor(0), call.tensor(1), call.tensor(2), call.tensor(3), out_type=out_type)


def grouped(call: Call) -> Work:
    """``_grouped_mm`` of [T, K] rows with [G, K, N] matrices: every row meets one matrix, 2 T K N operations."""
    rows, weights = call.tensor(0), call.tensor(1)
    if rows is None or weights is None or len(rows.shape) != 2 or len(weights.shape) != 3:
        return UNKNOWN
    num_rows, inner = rows.shape
    written = size_bytes((num_rows, weights.shape[2]), rows.type)
    return Work(2.0 * num_rows * inner * weights.shape[2], total_bytes(rows.bytes, weights.bytes, written))


MODELS: dict[str, WorkModel] = {
    **dict.fromkeys(("aten::mm", "aten::bmm", "aten::mv", "aten::dot", "aten::matmul", "aten::_int_mm"), plain),
    **dict.fromkeys(
        ("aten::addmm", "aten::addmm_", "aten::baddbmm", "aten::baddbmm_", "aten::addmv", "aten::_addmm_activation"),
        added,
    ),
    "aten::linear": linear,
    "aten::_scaled_mm": scaled,
    "aten::_grouped_mm": grouped,
}
