"""Copies from the host to the device by way of pinned memory, without waiting for them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from reportgen.runner.failures import NotApplicableError
from reportgen.workload import Step


class AsyncInput:
    """`Tensor.to`, `cuda` and `copy_` from pageable memory, made asynchronous through pinned buffers.

    Two buffers a shape and type are used in turn: one may still be read by a copy while the next is filled, and the
    device is waited for before a buffer is filled again.
    """

    def __init__(self) -> None:
        self._mode: _Pinning | None = None

    @contextlib.contextmanager
    def __call__(self, step: Step, device: torch.device) -> Iterator[Callable[[], object]]:
        """Yield the step with its copies rerouted."""
        if device.type != "cuda":
            raise NotApplicableError("there is no device to copy to")
        mode = self._mode = self._mode or _Pinning(device)

        def run() -> object:
            with mode:
                return step.run()

        yield run
        if not mode.num_copies:
            raise NotApplicableError("the step copies nothing from pageable memory to the device")


class _Pinning(TorchFunctionMode):  # type: ignore[misc]
    def __init__(self, device: torch.device) -> None:
        super().__init__()
        self.num_copies = 0
        self._device = device
        self._buffers: dict[tuple[Any, ...], list[tuple[torch.Tensor, torch.cuda.Event]]] = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if func is torch.Tensor.copy_ and len(args) > 1 and self._goes_over(args[1], args[0].device):
            return self._copied(func, 1, args, kwargs)
        if func in (torch.Tensor.to, torch.Tensor.cuda) and self._goes_over(args[0], _target(func, args, kwargs)):
            return self._copied(func, 0, args, kwargs)
        return func(*args, **kwargs)

    def _goes_over(self, tensor: Any, target: torch.device | None) -> bool:
        return (
            target is not None
            and target.type == "cuda"
            and isinstance(tensor, torch.Tensor)
            and tensor.device.type == "cpu"
            and not tensor.is_pinned()
        )

    def _copied(self, func: Any, position: int, args: Any, kwargs: dict[str, Any]) -> Any:
        self.num_copies += 1
        source = args[position]
        buffer, event = self._buffer(source)
        buffer.copy_(source)
        rerouted = (*args[:position], buffer, *args[position + 1 :])
        if func is torch.Tensor.copy_:
            rerouted = rerouted[:2]
        result = func(*rerouted, **{**kwargs, "non_blocking": True})
        event.record()
        return result

    def _buffer(self, like: torch.Tensor) -> tuple[torch.Tensor, torch.cuda.Event]:
        key = (tuple(like.shape), like.dtype, like.stride())
        ring = self._buffers.setdefault(key, [])
        if len(ring) < 2:
            ring.append((torch.empty_like(like, pin_memory=True), torch.cuda.Event()))
        else:
            ring.append(ring.pop(0))
        buffer, event = ring[-1]
        event.synchronize()
        return buffer, event


def _target(func: Any, args: Any, kwargs: dict[str, Any]) -> torch.device | None:
    """Return the device that `Tensor.to` or `Tensor.cuda` was asked for, None where only a type was."""
    if func is torch.Tensor.cuda:
        return torch.device("cuda")
    wanted = kwargs.get("device", args[1] if len(args) > 1 else None)
    if isinstance(wanted, torch.Tensor):
        return wanted.device
    if isinstance(wanted, str | int | torch.device):
        return torch.device(wanted)
    return None
