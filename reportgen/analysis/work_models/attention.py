"""Fused attention, forward and backward, of every backend.

With P pairs of a query and a key that it may see, B x H_q heads, and head sizes D (queries, keys) and D_v (values):

    forward   2 P B H_q (D + D_v)        scores = Q K^T, out = scores V
    backward  2 P B H_q (3 D + 2 D_v)    the scores once more, dV, dP, dQ, dK

P is S_q S_k, under a causal mask that starts at the first key the sum of min(i + 1, S_k) over queries i. Source: Dao,
FlashAttention-2 (2023), section 4.1; `torch.utils.flop_counter` counts the same without the mask. The softmax between
is left out, as there. Keys and values of grouped heads are read once for all their queries.
"""

from __future__ import annotations

import dataclasses

from reportgen.analysis.work_models.call import UNKNOWN, Call, Shape, Tensor, Work, WorkModel, size_bytes, total_bytes

# `custom_mask_type` of the efficient kernels: 0 none, 1 causal from the first key, 2 causal up to the last one.
_CAUSAL_MASK_TYPES = frozenset({"1", "2"})


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Layout:
    """Where a backend's operator keeps what the formula needs, as positions of its inputs."""

    query: int  # keys and values follow
    bias: int | None
    causal: int
    mask_type: bool = False  # the causal flag is a `custom_mask_type`
    heads_last: bool = False  # [B, S, H, D] instead of [B, H, S, D]
    lengths: int | None = None  # cumulative lengths of sequences packed into one
    backward: bool = False


@dataclasses.dataclass(frozen=True)
class _Sizes:
    batch: int
    heads: int
    queries: int
    keys: int
    head: int
    value_head: int


def _sizes(query: Shape, key: Shape, value: Shape, *, heads_last: bool, num_packed: int | None) -> _Sizes | None:
    if len(query) == 3 and num_packed:
        # Packed sequences, their lengths unknown: equal ones are the least work for self-attention.
        return _Sizes(num_packed, query[1], query[0] // num_packed, key[0] // num_packed, query[2], value[2])
    if len(query) != 4 or len(key) != 4 or len(value) != 4:
        return None
    sequence, heads = (1, 2) if heads_last else (2, 1)
    return _Sizes(query[0], query[heads], query[sequence], key[sequence], query[3], value[3])


def _pairs(queries: int, keys: int, *, causal: bool) -> float:
    if not causal:
        return float(queries) * keys
    growing = min(queries, keys)
    return growing * (growing + 1) / 2 + float(max(queries - keys, 0)) * keys


def _is_causal(call: Call, layout: _Layout) -> bool:
    text = call.value(layout.causal)
    return text in _CAUSAL_MASK_TYPES if layout.mask_type else text == "True"


def _num_packed(call: Call, layout: _Layout) -> int | None:
    offsets = call.tensor(layout.lengths) if layout.lengths is not None else None
    return offsets.numel - 1 if offsets is not None and offsets.numel > 1 else None


def _work(call: Call, layout: _Layout) -> Work:
    query, key, value = (call.tensor(layout.query + offset) for offset in range(3))
    if query is None or key is None or value is None:
        return UNKNOWN
    sizes = _sizes(
        query.shape,
        key.shape,
        value.shape,
        heads_last=layout.heads_last,
        num_packed=_num_packed(call, layout),
    )
    if sizes is None:
        return UNKNOWN
    pairs = _pairs(sizes.queries, sizes.keys, causal=_is_causal(call, layout)) * sizes.batch * sizes.heads
    bias = call.tensor(layout.bias) if layout.bias is not None else None
    given: list[Tensor] = [query, key, value, *([bias] if bias else [])]
    if layout.backward:
        flops = 2 * pairs * (3 * sizes.head + 2 * sizes.value_head)
        moved = [tensor.bytes for tensor in given]
        # The gradient and the output are as large as the queries' side of the output; three gradients are written.
        side = size_bytes((sizes.batch, sizes.heads, sizes.queries, sizes.value_head), query.type)
        written = [size_bytes(tensor.shape, tensor.type) for tensor in (query, key, value)]
        return Work(flops, total_bytes(*moved, side, side, *written))
    flops = 2 * pairs * (sizes.head + sizes.value_head)
    out = size_bytes((sizes.batch, sizes.heads, sizes.queries, sizes.value_head), query.type)
    return Work(flops, total_bytes(*(tensor.bytes for tensor in given), out))


def _model(layout: _Layout) -> WorkModel:
    return lambda call: _work(call, layout)


# Positions: the operators' schemas in torch 2.11, aten/src/ATen/native/native_functions.yaml.
_LAYOUTS: dict[str, _Layout] = {
    "aten::_scaled_dot_product_flash_attention": _Layout(query=0, bias=None, causal=4),
    "aten::_scaled_dot_product_efficient_attention": _Layout(query=0, bias=3, causal=6),
    "aten::_scaled_dot_product_cudnn_attention": _Layout(query=0, bias=3, causal=6),
    "aten::_scaled_dot_product_fused_attention_overrideable": _Layout(query=0, bias=3, causal=5),
    "aten::_scaled_dot_product_flash_attention_for_cpu": _Layout(query=0, bias=5, causal=4),
    "aten::_flash_attention_forward": _Layout(query=0, bias=None, causal=8, heads_last=True, lengths=3),
    "aten::_efficient_attention_forward": _Layout(
        query=0, bias=3, causal=9, mask_type=True, heads_last=True, lengths=4
    ),
    "aten::_cudnn_attention_forward": _Layout(query=0, bias=3, causal=10, lengths=4),
    "aten::_scaled_dot_product_flash_attention_backward": _Layout(query=1, bias=None, causal=11, backward=True),
    "aten::_scaled_dot_product_efficient_attention_backward": _Layout(query=1, bias=4, causal=11, backward=True),
    "aten::_scaled_dot_product_cudnn_attention_backward": _Layout(query=1, bias=8, causal=14, backward=True),
    "aten::_scaled_dot_product_flash_attention_for_cpu_backward": _Layout(query=1, bias=8, causal=7, backward=True),
    "aten::_flash_attention_backward": _Layout(
        query=1, bias=None, causal=11, heads_last=True, lengths=6, backward=True
    ),
    "aten::_efficient_attention_backward": _Layout(
        query=1, bias=4, causal=14, mask_type=True, heads_last=True, lengths=6, backward=True
    ),
    "aten::_cudnn_attention_backward": _Layout(query=1, bias=8, causal=14, lengths=9, backward=True),
}

MODELS: dict[str, WorkModel] = {name: _model(layout) for name, layout in _LAYOUTS.items()}
