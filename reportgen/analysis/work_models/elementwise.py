"""Elementwise operators and casts: one operation an element; every input read once, the result written once.

One operation is the convention of the roofline's authors (Williams, Waterman and Patterson, 2009) for arithmetic that
always lies left of the ridge; a tanh costs more, and stays memory-bound all the same.
"""

from __future__ import annotations

from reportgen.analysis.work_models.call import (
    FLOATING,
    ITEM_BYTES,
    UNKNOWN,
    Call,
    Tensor,
    Work,
    WorkModel,
    broadcast,
    size_bytes,
    total_bytes,
)


def _result_type(tensors: tuple[Tensor, ...]) -> str | None:
    """Return the type that `tensors` are promoted to: tensors with dimensions decide, floating ones first."""
    deciding = [tensor.type for tensor in tensors if tensor.shape] or [tensor.type for tensor in tensors]
    if None in deciding:
        return None
    known = [name for name in deciding if name is not None]
    return max(known, key=lambda name: (name in FLOATING, ITEM_BYTES.get(name, 0)), default=None)


def _num_read(name: str) -> int:
    """Return how many tensors the operator reads at most; one that is given beyond these is its `out`."""
    plain = name.removeprefix("aten::").rstrip("_")
    return 1 if plain in _OF_ONE else 3 if plain in _OF_THREE else 2


def _pointwise(call: Call, result_type: str | None = None) -> Work:
    tensors = call.tensors[: _num_read(call.name)]
    shape = broadcast(*(tensor.shape for tensor in tensors))
    if not tensors or shape is None:
        return UNKNOWN
    if call.name.endswith("_"):  # in place: the first input is the result
        shape, result_type = tensors[0].shape, tensors[0].type
    written = size_bytes(shape, result_type or _result_type(tensors))
    elements = 1.0
    for size in shape:
        elements *= size
    return Work(elements, total_bytes(*(tensor.bytes for tensor in tensors), written))


def arithmetic(call: Call) -> Work:
    """Every operator whose result has the promoted type of its inputs."""
    return _pointwise(call)


def addcmul(call: Call) -> Work:
    """``addcmul(a, b, c)``: factors alike are counted once, since an optimizer's second moment squares its gradient.

    A trace does not say whether two inputs are one tensor; the least bytes are those of one.
    """
    work, factors = _pointwise(call), call.tensors[1:3]
    if len(factors) < 2 or factors[0] != factors[1] or work.bytes is None:
        return work
    return Work(work.flops, work.bytes - (factors[1].bytes or 0.0))


def comparison(call: Call) -> Work:
    """Operators whose result is of type bool."""
    return _pointwise(call, "bool")


def where(call: Call) -> Work:
    """``where(condition, a, b)``: the type of the result is that of a and b."""
    tensors = call.tensors
    return _pointwise(call, _result_type(tensors[1:]) if len(tensors) > 1 else None)


def dropout(call: Call) -> Work:
    """``native_dropout``: the result, and a mask of one byte an element."""
    work, inputs = _pointwise(call), call.tensor(0)
    return UNKNOWN if inputs is None else Work(work.flops, total_bytes(work.bytes, float(inputs.numel)))


_ARITHMETIC = (
    "abs", "add", "addcdiv", "addcmul", "atan", "atan2", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor",
    "cauchy", "ceil", "celu", "clamp", "clamp_max", "clamp_min", "cos", "cosh", "cumsum", "cumprod", "div", "elu",
    "elu_backward", "erf", "erfc", "exp", "exp2", "expm1", "floor", "floor_divide", "fmod", "frac", "gelu",
    "gelu_backward", "hardshrink", "hardsigmoid", "hardsigmoid_backward", "hardswish", "hardswish_backward",
    "hardtanh", "hardtanh_backward", "leaky_relu", "leaky_relu_backward", "lerp", "log", "log10", "log1p", "log2",
    "log_sigmoid_forward", "log_sigmoid_backward", "logaddexp", "logit", "logit_backward", "masked_fill", "maximum",
    "minimum", "mish", "mul", "nan_to_num", "neg", "pow", "reciprocal", "relu", "remainder", "round",
    "rsqrt", "rsub", "sigmoid", "sigmoid_backward", "sign", "silu", "silu_backward", "sin", "sinh", "softplus",
    "softplus_backward", "sqrt", "square", "sub", "tan", "tanh", "tanh_backward", "threshold", "threshold_backward",
    "tril", "triu", "trunc", "native_dropout_backward",
)  # fmt: skip
_OF_ONE = frozenset((
    "abs", "atan", "bitwise_not", "ceil", "celu", "cos", "cosh", "cumsum", "cumprod", "elu", "erf", "erfc", "exp",
    "exp2", "expm1", "floor", "frac", "gelu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "isfinite", "isinf",
    "isnan", "leaky_relu", "log", "log10", "log1p", "log2", "log_sigmoid_forward", "logical_not", "logit", "mish",
    "nan_to_num", "neg", "reciprocal", "relu", "round", "rsqrt", "sigmoid", "sign", "silu", "sin", "sinh", "softplus",
    "sqrt", "square", "tan", "tanh", "threshold", "tril", "triu", "trunc",
))  # fmt: skip
_OF_THREE = frozenset(("addcdiv", "addcmul", "clamp", "lerp", "where"))
_COMPARISONS = (
    "eq", "ge", "gt", "isfinite", "isinf", "isnan", "le", "logical_and", "logical_not", "logical_or", "logical_xor",
    "lt", "ne",
)  # fmt: skip

MODELS: dict[str, WorkModel] = {
    **{f"aten::{name}{suffix}": arithmetic for name in _ARITHMETIC for suffix in ("", "_")},
    **{f"aten::{name}{suffix}": comparison for name in _COMPARISONS for suffix in ("", "_")},
    **dict.fromkeys(("aten::addcmul", "aten::addcmul_"), addcmul),
    "aten::where": where,
    "aten::native_dropout": dropout,
}
