"""Copies, casts, fills and concatenations: no arithmetic; what is read and what is written."""

from __future__ import annotations

from reportgen.analysis.work_models.call import UNKNOWN, Call, Work, WorkModel, size_bytes, total_bytes


def copy(call: Call) -> Work:
    """``copy_(to, from)``: the source read once, also where it is expanded, the destination written."""
    to, source = call.tensor(0), call.tensor(1)
    return UNKNOWN if to is None or source is None else Work(0.0, total_bytes(to.bytes, source.bytes))


def duplicate(call: Call) -> Work:
    """``clone`` and its like: read and written whole."""
    source = call.tensor(0)
    return UNKNOWN if source is None else Work(0.0, total_bytes(source.bytes, size_bytes(source.shape, source.type)))


def fill(call: Call) -> Work:
    """``fill_``, ``zero_`` and random fills: written, not read."""
    target = call.tensor(0)
    return UNKNOWN if target is None else Work(0.0, target.bytes)


def concatenate(call: Call) -> Work:
    """``cat``: every part read, the whole written, which is as much again."""
    parts = [size_bytes(tensor.shape, tensor.type) for tensor in call.tensors]
    read = total_bytes(*(tensor.bytes for tensor in call.tensors))
    return Work(0.0, total_bytes(read, *parts)) if parts else UNKNOWN


def count_up(call: Call) -> Work:
    """``arange(start, end, step)``: 8 bytes an element where the type is not told."""
    start, end, step = (call.integer(index) for index in range(3))
    if start is None or end is None or not step:
        return UNKNOWN
    given = call.tensor(3)
    item = (given.item_bytes if given else None) or 8
    return Work(0.0, float(max(0, -((start - end) // step)) * item))


def read_scalar(call: Call) -> Work:
    """``_local_scalar_dense``: one element, to the host."""
    source = call.tensor(0)
    return UNKNOWN if source is None or source.item_bytes is None else Work(0.0, float(source.item_bytes))


MODELS: dict[str, WorkModel] = {
    "aten::copy_": copy,
    **dict.fromkeys(("aten::clone", "aten::contiguous", "aten::roll", "aten::flip", "aten::repeat"), duplicate),
    **dict.fromkeys(("aten::fill_", "aten::zero_", "aten::normal_", "aten::uniform_", "aten::bernoulli_"), fill),
    **dict.fromkeys(("aten::cat", "aten::_cat"), concatenate),
    "aten::arange": count_up,
    "aten::_local_scalar_dense": read_scalar,
}
