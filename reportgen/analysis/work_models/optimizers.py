"""Optimizer kernels over lists of tensors: each state read once, what changes written once.

Adam reads parameter, gradient and two moments and writes all but the gradient (with amsgrad a third moment as well);
its update is some 16 operations an element (Kingma and Ba, 2015, algorithm 1 with decoupled decay). The profiler leaves
out the shapes of long lists; then the work is unknown.
"""

from __future__ import annotations

from reportgen.analysis.work_models.call import UNKNOWN, Call, Work, WorkModel, total_bytes

_ADAM_OPERATIONS, _SGD_OPERATIONS = 16.0, 4.0
_AMSGRAD = -4  # position from the end


def _fused(call: Call, num_read: int, operations: float) -> Work:
    elements = sum(tensor.numel for tensor in call.tensors if tensor.shape)
    read = total_bytes(*(tensor.bytes for tensor in call.tensors))
    if not elements or read is None:
        return UNKNOWN
    per_list = elements / num_read
    return Work(operations * per_list, read * (2 * num_read - 1) / num_read)


def adam(call: Call) -> Work:
    """``_fused_adam_`` and ``_fused_adamw_``: 4 lists read, 3 written; with amsgrad 5 and 4."""
    return _fused(call, 5 if call.truth(_AMSGRAD) else 4, _ADAM_OPERATIONS)


def sgd(call: Call) -> Work:
    """``_fused_sgd_`` with momentum: 3 lists read, 2 written."""
    return _fused(call, 3, _SGD_OPERATIONS)


def adagrad(call: Call) -> Work:
    """``_fused_adagrad_``: parameter, gradient and sum of squares."""
    return _fused(call, 3, _SGD_OPERATIONS)


def one_list(call: Call) -> Work:
    """``_foreach_sqrt`` and its like: one list read, one written."""
    return _foreach(call, 1)


def one_or_two_lists(call: Call) -> Work:
    """``_foreach_add`` with a scalar or with a second list, which then repeats the shapes of the first."""
    shapes = [tensor.shape for tensor in call.tensors if tensor.shape]
    half = len(shapes) // 2
    return _foreach(call, 2 if len(shapes) % 2 == 0 and shapes[:half] == shapes[half:] and half else 1)


def three_lists(call: Call) -> Work:
    """``_foreach_addcdiv``."""
    return _foreach(call, 3)


def addcmul(call: Call) -> Work:
    """``_foreach_addcmul``: the two lists of factors may be one, as where a gradient is squared."""
    work = _foreach(call, 3)
    return work if work.bytes is None else Work(work.flops, work.bytes * 3 / 4)


def _foreach(call: Call, num_lists: int) -> Work:
    elements = sum(tensor.numel for tensor in call.tensors if tensor.shape)
    read = total_bytes(*(tensor.bytes for tensor in call.tensors))
    if not elements or read is None:
        return UNKNOWN
    return Work(elements / num_lists, read * (1 + 1 / num_lists))


_ONE = ["sqrt", "neg", "abs", "exp", "reciprocal", "zero", "sign", "rsqrt"]
_TWO = ["add", "sub", "mul", "div", "lerp", "pow", "maximum", "minimum", "copy", "clamp_min", "clamp_max"]

MODELS: dict[str, WorkModel] = {
    **dict.fromkeys(("aten::_fused_adam_", "aten::_fused_adamw_"), adam),
    "aten::_fused_sgd_": sgd,
    "aten::_fused_adagrad_": adagrad,
    **{f"aten::_foreach_{name}{suffix}": one_list for name in _ONE for suffix in ("", "_")},
    **{f"aten::_foreach_{name}{suffix}": one_or_two_lists for name in _TWO for suffix in ("", "_")},
    **dict.fromkeys(("aten::_foreach_addcdiv", "aten::_foreach_addcdiv_"), three_lists),
    **dict.fromkeys(("aten::_foreach_addcmul", "aten::_foreach_addcmul_"), addcmul),
}
