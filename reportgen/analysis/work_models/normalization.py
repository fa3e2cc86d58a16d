"""Normalisations: input read once, result written once, with the parameters and the statistics kept for backward.

Operations an element, from the textbook formulas (Ba, Kiros and Hinton, 2016; Ioffe and Szegedy, 2015; Zhang and
Sennrich, 2019): mean 1, variance 3, normalise 2, scale and shift 2, so 8 forward (4 for RMS); backward twice that. A
kernel that cannot keep a row on chip reads it again: that is not the least, and shows as a lower share of the roof.
"""

from __future__ import annotations

import math

from reportgen.analysis.work_models.call import UNKNOWN, Call, Work, WorkModel, size_bytes, total_bytes

_FORWARD, _FORWARD_RMS, _BACKWARD, _BACKWARD_RMS = 8.0, 4.0, 16.0, 8.0


def _layer(call: Call, operations: float, num_statistics: int) -> Work:
    inputs, normalized = call.tensor(0), call.integers(1)
    if inputs is None:
        return UNKNOWN
    parameters = [tensor.bytes for tensor in call.tensors[1:]]
    if normalized is None:  # not recorded: the shape of the weight is that of what is normalised
        normalized = call.tensors[1].shape if len(call.tensors) > 1 else inputs.shape[-1:]
    rows = inputs.numel / max(math.prod(normalized), 1)
    written = size_bytes(inputs.shape, inputs.type)
    return Work(operations * inputs.numel, total_bytes(inputs.bytes, written, *parameters, 4.0 * num_statistics * rows))


def layer_norm(call: Call) -> Work:
    """``native_layer_norm``: mean and reciprocal deviation of every row are kept, in fp32."""
    return _layer(call, _FORWARD, 2)


def rms_norm(call: Call) -> Work:
    """``_fused_rms_norm``: only the reciprocal root is kept."""
    return _layer(call, _FORWARD_RMS, 1)


def group_norm(call: Call) -> Work:
    """``native_group_norm``: statistics of every group are too few to count."""
    inputs = call.tensor(0)
    if inputs is None:
        return UNKNOWN
    moved = [tensor.bytes for tensor in call.tensors]
    return Work(_FORWARD * inputs.numel, total_bytes(*moved, size_bytes(inputs.shape, inputs.type)))


def batch_norm(call: Call) -> Work:
    """``native_batch_norm`` and cuDNN's and MIOpen's: running statistics are written back where they are trained."""
    return group_norm(call)


def _backward(call: Call, operations: float) -> Work:
    gradient = call.tensor(0)
    if gradient is None:
        return UNKNOWN
    # All inputs are read; the gradient of the input is written, those of the parameters are as large as these.
    parameters = [tensor for tensor in call.tensors if len(tensor.shape) == 1][:2]
    written = [size_bytes(tensor.shape, tensor.type) for tensor in (gradient, *parameters)]
    return Work(operations * gradient.numel, total_bytes(*(tensor.bytes for tensor in call.tensors), *written))


def backward(call: Call) -> Work:
    """Backward of layer, group and batch normalisation."""
    return _backward(call, _BACKWARD)


def rms_norm_backward(call: Call) -> Work:
    """Backward of RMS normalisation."""
    return _backward(call, _BACKWARD_RMS)


MODELS: dict[str, WorkModel] = {
    "aten::native_layer_norm": layer_norm,
    "aten::_fused_rms_norm": rms_norm,
    "aten::native_group_norm": group_norm,
    **dict.fromkeys(
        (
            "aten::native_batch_norm",
            "aten::cudnn_batch_norm",
            "aten::miopen_batch_norm",
            "aten::_native_batch_norm_legit",
            "aten::_batch_norm_with_update",
        ),
        batch_norm,
    ),
    **dict.fromkeys(
        (
            "aten::native_layer_norm_backward",
            "aten::native_group_norm_backward",
            "aten::native_batch_norm_backward",
            "aten::cudnn_batch_norm_backward",
            "aten::miopen_batch_norm_backward",
        ),
        backward,
    ),
    "aten::_fused_rms_norm_backward": rms_norm_backward,
}
