"""Convolutions: every output point multiplies the filter with its window.

With a batch N, weights [C_out, C_in / groups, filter..] and P output points an image,

    2 N P prod(weights)

operations; of a transposed convolution P is the number of input points. Each gradient asked for costs the same again.
Source: `torch.utils.flop_counter.conv_flop_count` (padding counts as if it were data, a bias is left out). Output size:
``(size + 2 padding - dilation (filter - 1) - 1) // stride + 1``, the formula in torch's `Conv2d`.
"""

from __future__ import annotations

import dataclasses
import math

from reportgen.analysis.work_models.call import UNKNOWN, Call, Shape, Tensor, Work, WorkModel, size_bytes, total_bytes


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Layout:
    """Positions of the inputs."""

    stride: int
    padding: int
    dilation: int | None = None
    bias: int | None = None
    transposed: int | None = None  # position of a flag
    output_padding: int | None = None
    is_transposed: bool = False
    groups: int | None = None


def _spread(values: Shape | None, rank: int, default: int | None = None) -> Shape | None:
    """Return one value per dimension: a list of one stands for all."""
    if values is None:
        return None if default is None else (default,) * rank
    return values * rank if len(values) == 1 else values if len(values) == rank else None


def _output_points(size: Shape, window: Shape, stride: Shape, padding: Shape, dilation: Shape) -> Shape:
    return tuple(
        (length + 2 * pad - spread * (width - 1) - 1) // step + 1
        for length, width, step, pad, spread in zip(size, window, stride, padding, dilation, strict=True)
    )


def _transposed_points(size: Shape, window: Shape, stride: Shape, padding: Shape, dilation: Shape) -> Shape:
    return tuple(
        (length - 1) * step - 2 * pad + spread * (width - 1) + 1
        for length, width, step, pad, spread in zip(size, window, stride, padding, dilation, strict=True)
    )


def _forward(call: Call, layout: _Layout) -> Work:
    inputs, weight = call.tensor(0), call.tensor(1)
    if inputs is None or weight is None or len(inputs.shape) != len(weight.shape):
        return UNKNOWN
    size, window = inputs.shape[2:], weight.shape[2:]
    rank = len(size)
    stride, padding = (_spread(call.integers(index), rank) for index in (layout.stride, layout.padding))
    dilation = _spread(call.integers(layout.dilation) if layout.dilation is not None else None, rank, 1)
    if stride is None or padding is None or dilation is None:
        return UNKNOWN
    transposed = layout.is_transposed or (layout.transposed is not None and bool(call.truth(layout.transposed)))
    bias = call.tensor(layout.bias) if layout.bias is not None else None
    if transposed:
        points = _transposed_points(size, window, stride, padding, dilation)
        groups = (call.integer(layout.groups) if layout.groups is not None else None) or 1
        result = (inputs.shape[0], weight.shape[1] * groups, *points)
        flops = 2.0 * inputs.shape[0] * math.prod(size) * weight.numel
    else:
        points = _output_points(size, window, stride, padding, dilation)
        result = (inputs.shape[0], weight.shape[0], *points)
        flops = 2.0 * inputs.shape[0] * math.prod(points) * weight.numel
    given = [tensor.bytes for tensor in (inputs, weight, bias) if tensor is not None]
    return Work(flops, total_bytes(*given, size_bytes(result, inputs.type)))


def backward(call: Call) -> Work:
    """``convolution_backward``: the gradients of input and weight that `output_mask` asks for."""
    gradient, inputs, weight = (call.tensor(index) for index in range(3))
    if gradient is None or inputs is None or weight is None:
        return UNKNOWN
    points = inputs.shape[2:] if call.truth(7) else gradient.shape[2:]
    once = 2.0 * inputs.shape[0] * math.prod(points) * weight.numel
    mask = call.value(10)
    if mask is None:
        return UNKNOWN
    wanted = [word.strip() == "True" for word in mask.strip("[]").split(",")]
    read = {0: (gradient, weight), 1: (gradient, inputs)}
    used = {id(tensor): tensor for index, pair in read.items() if wanted[index] for tensor in pair}
    written = [tensor for tensor, asked in zip((inputs, weight), wanted, strict=False) if asked]
    moved = [tensor.bytes for tensor in used.values()] + [size_bytes(tensor.shape, tensor.type) for tensor in written]
    return Work(once * sum(wanted[:2]), total_bytes(*moved))


def input_gradient(call: Call) -> Work:
    """``cudnn_convolution_backward_input`` of torch 1.x: sizes, gradient, weight."""
    return _one_gradient(call.tensor(1), call.tensor(2), call.integers(0), call.tensor(2))


def weight_gradient(call: Call) -> Work:
    """``cudnn_convolution_backward_weight`` of torch 1.x: sizes, gradient, input."""
    sizes = call.integers(0)
    return _one_gradient(call.tensor(1), call.tensor(2), sizes, Tensor(sizes, None) if sizes else None)


def _one_gradient(gradient: Tensor | None, other: Tensor | None, result: Shape | None, weight: Tensor | None) -> Work:
    if gradient is None or other is None or weight is None:
        return UNKNOWN
    flops = 2.0 * gradient.shape[0] * math.prod(gradient.shape[2:]) * weight.numel
    written = size_bytes(result, gradient.type) if result else None
    return Work(flops, total_bytes(gradient.bytes, other.bytes, written))


def _model(layout: _Layout) -> WorkModel:
    return lambda call: _forward(call, layout)


_GENERAL = _Layout(bias=2, stride=3, padding=4, dilation=5, transposed=6, output_padding=7, groups=8)
# Positions: the operators' schemas in torch 2.11, aten/src/ATen/native/native_functions.yaml.
_LAYOUTS: dict[str, _Layout] = {
    "aten::convolution": _GENERAL,
    "aten::_convolution": _GENERAL,
    "aten::convolution_overrideable": _GENERAL,
    "aten::cudnn_convolution": _Layout(padding=2, stride=3, dilation=4),
    "aten::cudnn_convolution_relu": _Layout(bias=2, stride=3, padding=4, dilation=5),
    "aten::cudnn_convolution_transpose": _Layout(
        padding=2, output_padding=3, stride=4, dilation=5, groups=6, is_transposed=True
    ),
    "aten::miopen_convolution": _Layout(bias=2, padding=3, stride=4, dilation=5),
    "aten::mkldnn_convolution": _Layout(bias=2, padding=3, stride=4, dilation=5),
    "aten::_conv_depthwise2d": _Layout(bias=3, stride=4, padding=5, dilation=6),
    "aten::conv_depthwise3d": _Layout(bias=3, stride=4, padding=5, dilation=6),
    "aten::_slow_conv2d_forward": _Layout(bias=3, stride=4, padding=5),
}

MODELS: dict[str, WorkModel] = {
    **{name: _model(layout) for name, layout in _LAYOUTS.items()},
    "aten::convolution_backward": backward,
    "aten::cudnn_convolution_backward_input": input_gradient,
    "aten::cudnn_convolution_backward_weight": weight_gradient,
}
