"""Softmax and cross entropy: a row read once, its result written once.

Five operations an element forward (largest, subtract, exponential, sum, divide), four backward (product, sum, subtract,
product): the terms of ``exp(x - max) / sum`` and of ``y (dy - sum(y dy))``.
"""

from __future__ import annotations

from reportgen.analysis.work_models.call import UNKNOWN, Call, Work, WorkModel, size_bytes, total_bytes

_FORWARD, _BACKWARD = 5.0, 4.0
_HALF_TO_FLOAT = 2  # position of the flag: a result in fp32 of an input in half precision


def forward(call: Call) -> Work:
    """``_softmax`` and ``_log_softmax``."""
    inputs = call.tensor(0)
    if inputs is None:
        return UNKNOWN
    written = size_bytes(inputs.shape, "float" if call.truth(_HALF_TO_FLOAT) else inputs.type)
    return Work(_FORWARD * inputs.numel, total_bytes(inputs.bytes, written))


def backward(call: Call) -> Work:
    """Their backward: gradient and result read, a gradient written."""
    gradient, result = call.tensor(0), call.tensor(1)
    if gradient is None or result is None:
        return UNKNOWN
    written = size_bytes(gradient.shape, gradient.type)
    return Work(_BACKWARD * gradient.numel, total_bytes(gradient.bytes, result.bytes, written))


def picked(call: Call) -> Work:
    """``nll_loss_forward``: of every row the one element that its target names."""
    inputs, target = call.tensor(0), call.tensor(1)
    if inputs is None or target is None:
        return UNKNOWN
    read = None if inputs.item_bytes is None else float(target.numel * inputs.item_bytes)
    return Work(float(target.numel), total_bytes(read, target.bytes))


def picked_backward(call: Call) -> Work:
    """``nll_loss_backward``: the same elements written; the zeros around them are a fill of its own."""
    inputs, target = call.tensor(1), call.tensor(2)
    if inputs is None or target is None:
        return UNKNOWN
    written = None if inputs.item_bytes is None else float(target.numel * inputs.item_bytes)
    return Work(float(target.numel), total_bytes(written, target.bytes))


MODELS: dict[str, WorkModel] = {
    **dict.fromkeys(("aten::_softmax", "aten::_log_softmax", "aten::_safe_softmax"), forward),
    **dict.fromkeys(("aten::_softmax_backward_data", "aten::_log_softmax_backward_data"), backward),
    **dict.fromkeys(("aten::nll_loss_forward", "aten::nll_loss2d_forward"), picked),
    **dict.fromkeys(("aten::nll_loss_backward", "aten::nll_loss2d_backward"), picked_backward),
}
