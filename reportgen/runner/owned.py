"""Whose the memory is: parameters, optimizer state, gradients as they come, and what the workload itself holds."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import Any, Literal

import msgspec
import torch

from reportgen.runner.held import tensors_held
from reportgen.workload import Step

Category = Literal["parameters", "optimizer", "gradients", "inputs", "cache", "temporaries"]


class OwnedStorage(msgspec.Struct, frozen=True, kw_only=True):
    """A block of storage and what it is for; `time_us` of the wall clock where it is known only for that moment."""

    category: Category
    address: int
    bytes: int
    time_us: float = -1.0


class OwnedStorages:
    """Notes gradients while its context is open; knows parameters and optimizer state at any time."""

    def __init__(self, step: Step) -> None:
        self._step = step
        self._model = step.model
        self._optimizer = step.optimizer
        self._gradients: list[OwnedStorage] = []
        self._hooks = ExitStack()

    def __enter__(self) -> OwnedStorages:
        for parameter in self._parameters():
            if parameter.requires_grad and parameter.is_leaf:
                self._hooks.callback(parameter.register_post_accumulate_grad_hook(self._note_gradient).remove)
        return self

    def __exit__(self, *exception: object) -> None:
        self._hooks.close()

    def all(self) -> list[OwnedStorage]:
        """Return what is known now, each block once, gradients once for each time they came."""
        standing = [
            *_storages("parameters", [*self._parameters(), *self._buffers()]),
            *_storages("optimizer", _tensors_in(getattr(self._optimizer, "state", {}))),
        ]
        known = {storage.address: storage for storage in standing}
        # What the workload's functions hold besides: the model's own tensors may be among it.
        for kind, tensor in tensors_held(self._step):
            for storage in _storages(kind, [tensor]):
                known.setdefault(storage.address, storage)
        return [*known.values(), *self._gradients]

    def _parameters(self) -> Iterable[torch.Tensor]:
        return self._model.parameters() if isinstance(self._model, torch.nn.Module) else ()

    def _buffers(self) -> Iterable[torch.Tensor]:
        return self._model.buffers() if isinstance(self._model, torch.nn.Module) else ()

    def _note_gradient(self, parameter: torch.Tensor) -> None:
        if parameter.grad is not None:
            self._gradients.extend(_storages("gradients", [parameter.grad], time.time_ns() / 1e3))


def _storages(category: Category, tensors: Iterable[torch.Tensor], time_us: float = -1.0) -> Iterator[OwnedStorage]:
    for tensor in tensors:
        storage = tensor.untyped_storage()
        yield OwnedStorage(category=category, address=storage.data_ptr(), bytes=storage.nbytes(), time_us=time_us)


def _tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """Yield the tensors of an optimizer's state, which nests dictionaries and lists as it pleases."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _tensors_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _tensors_in(item)
