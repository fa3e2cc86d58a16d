"""Reductions, sorts and pooling: every element read once, one operation each; what is left is written."""

from __future__ import annotations

from reportgen.analysis.work_models.call import UNKNOWN, Call, Shape, Work, WorkModel, size_bytes, total_bytes

_INDEX = "long int"  # type of positions


def _remaining(shape: Shape, reduced: Shape | None) -> Shape:
    """Return the sizes that a reduction over the dimensions `reduced` leaves; none of them or all leave one element."""
    if not reduced:
        return ()
    dropped = {dimension % len(shape) for dimension in reduced if shape}
    return tuple(size for index, size in enumerate(shape) if index not in dropped)


def reduce(call: Call) -> Work:
    """``sum``, ``mean``, ``amax`` and their like; the dimensions are the second input."""
    inputs = call.tensor(0)
    if inputs is None:
        return UNKNOWN
    single = call.integer(1)
    dimensions = call.integers(1) or (None if single is None else (single,))
    written = size_bytes(_remaining(inputs.shape, dimensions), inputs.type)
    return Work(float(inputs.numel), total_bytes(inputs.bytes, written))


def norm(call: Call) -> Work:
    """Vector norms: two operations an element; the dimensions are the third input."""
    inputs = call.tensor(0)
    if inputs is None:
        return UNKNOWN
    written = size_bytes(_remaining(inputs.shape, call.integers(2)), inputs.type)
    return Work(2.0 * inputs.numel, total_bytes(inputs.bytes, written))


def order(call: Call) -> Work:
    """``sort``: values and positions of all elements are written."""
    inputs = call.tensor(0)
    if inputs is None:
        return UNKNOWN
    written = (size_bytes(inputs.shape, inputs.type), size_bytes(inputs.shape, _INDEX))
    return Work(float(inputs.numel), total_bytes(inputs.bytes, *written))


def largest(call: Call) -> Work:
    """``topk(x, k, dim)``: values and positions of k elements of every row."""
    inputs, kept = call.tensor(0), call.integer(1)
    if inputs is None or kept is None or not inputs.shape:
        return UNKNOWN
    dimension = call.integer(2)
    rows = inputs.numel // max(inputs.shape[-1 if dimension is None else dimension], 1)
    written = (size_bytes((rows, kept), inputs.type), size_bytes((rows, kept), _INDEX))
    return Work(float(inputs.numel), total_bytes(inputs.bytes, *written))


def pool(call: Call) -> Work:
    """Pooling forward: the result's size follows from window and stride (inputs 1 and 2) and padding (3).

    Where `stride` is empty it is the window. ``max_pool2d_with_indices`` also writes a position for each result.
    """
    inputs, window = call.tensor(0), call.integers(1)
    if inputs is None or window is None:
        return UNKNOWN
    rank = len(window)
    stride, padding = call.integers(2) or window, call.integers(3) or (0,) * rank
    points = tuple(
        (size + 2 * pad - width) // step + 1
        for size, width, step, pad in zip(inputs.shape[-rank:], window, stride, padding, strict=False)
    )
    result = (*inputs.shape[:-rank], *points)
    positions = size_bytes(result, _INDEX) if "with_indices" in call.name else 0.0
    return Work(float(inputs.numel), total_bytes(inputs.bytes, size_bytes(result, inputs.type), positions))


def pool_adaptively(call: Call) -> Work:
    """``_adaptive_avg_pool2d``: the result's size is given."""
    inputs, size = call.tensor(0), call.integers(1)
    if inputs is None or size is None:
        return UNKNOWN
    result = (*inputs.shape[: -len(size)], *size)
    return Work(float(inputs.numel), total_bytes(inputs.bytes, size_bytes(result, inputs.type)))


def pool_backward(call: Call) -> Work:
    """Pooling backward: the gradient (and the positions) read, a gradient of the input's size written."""
    gradient, inputs = call.tensor(0), call.tensor(1)
    if gradient is None or inputs is None:
        return UNKNOWN
    positions = [tensor.bytes for tensor in call.tensors if tensor.type in {"long", _INDEX}]
    return Work(float(inputs.numel), total_bytes(gradient.bytes, size_bytes(inputs.shape, inputs.type), *positions))


_REDUCTIONS = (
    "sum", "nansum", "mean", "amax", "amin", "max", "min", "prod", "all", "any", "var", "std", "var_mean", "argmax",
    "argmin", "logsumexp", "aminmax",
)  # fmt: skip

MODELS: dict[str, WorkModel] = {
    **{f"aten::{name}": reduce for name in _REDUCTIONS},
    **dict.fromkeys(("aten::norm", "aten::linalg_vector_norm"), norm),
    "aten::sort": order,
    "aten::topk": largest,
    **dict.fromkeys(("aten::max_pool2d_with_indices", "aten::avg_pool2d", "aten::avg_pool3d"), pool),
    **dict.fromkeys(("aten::_adaptive_avg_pool2d", "aten::_adaptive_avg_pool3d"), pool_adaptively),
    **dict.fromkeys(
        (
            "aten::max_pool2d_with_indices_backward",
            "aten::avg_pool2d_backward",
            "aten::_adaptive_avg_pool2d_backward",
        ),
        pool_backward,
    ),
}
