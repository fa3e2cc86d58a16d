"""What a step returns, compared with what it returned before a change."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import torch


def tensors_of(value: Any) -> tuple[torch.Tensor, ...]:
    """Return copies of the floating-point tensors in what a step returned, in order, whatever holds them."""
    return tuple(tensor.detach().clone() for tensor in _walk(value, set()) if tensor.is_floating_point())


def remembers_autograd(value: Any) -> bool:
    """Say whether a tensor in what a step returned keeps what a backward pass would need."""
    return any(tensor.requires_grad for tensor in _walk(value, set()))


def max_relative_difference(before: tuple[torch.Tensor, ...], after: tuple[torch.Tensor, ...]) -> float | None:
    """Return the largest ``‖after − before‖ / ‖before‖`` over pairs of tensors, computed in double precision.

    None where nothing can be compared: a step that returns no tensors, or tensors of other shapes.
    """
    if not before or len(before) != len(after):
        return None
    if any(one.shape != other.shape for one, other in zip(before, after, strict=True)):
        return None
    return max(_relative(one, other) for one, other in zip(before, after, strict=True))


def _relative(before: torch.Tensor, after: torch.Tensor) -> float:
    one, other = before.double(), after.double()
    scale = float(one.norm())
    difference = float((other - one).norm())
    return difference / scale if scale > 0 else difference


def _walk(value: Any, seen: set[int]) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
        return
    if id(value) in seen:
        return
    seen.add(id(value))
    parts: Any = ()
    if isinstance(value, Mapping):
        parts = value.values()
    elif isinstance(value, tuple | list):
        parts = value
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = [getattr(value, field.name) for field in dataclasses.fields(value)]
    for part in parts:
        yield from _walk(part, seen)
