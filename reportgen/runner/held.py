"""What else is on the device while a step runs: what the workload keeps for its steps, and libraries' workspaces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import torch

if TYPE_CHECKING:
    from reportgen.workload import Step

# How deep a workload's own objects are searched: closure, cache, list of layers, layer, tensor.
_MOST_DEPTH = 6
_MOST_OBJECTS = 100_000
Kind = Literal["inputs", "cache"]


def tensors_held(step: Step) -> Iterator[tuple[Kind, torch.Tensor]]:
    """Yield the tensors that the step's functions hold, each with what it is for.

    What lies inside an object whose type is called a cache is "cache", all else "inputs": prompts, batches, masks.
    The model and the optimizer are not searched; their tensors are known by themselves.
    """
    closed = [id(owner) for owner in (step.model, step.optimizer) if owner is not None]
    search = _Search(set(closed))
    for function in (step.run, step.before):
        if function is not None:
            yield from search.inside(function, "inputs", 0)


class _Search:
    """Walks through closures, containers and plain objects, each once."""

    def __init__(self, closed: set[int]) -> None:
        self._seen = closed

    def inside(self, value: Any, kind: Kind, depth: int) -> Iterator[tuple[Kind, torch.Tensor]]:
        if id(value) in self._seen or depth > _MOST_DEPTH or len(self._seen) > _MOST_OBJECTS:
            return
        self._seen.add(id(value))
        if isinstance(value, torch.Tensor):
            yield kind, value
        elif not isinstance(value, torch.nn.Module | torch.optim.Optimizer | type):
            inner: Kind = "cache" if "cache" in type(value).__name__.lower() else kind
            for part in _parts(value):
                yield from self.inside(part, inner, depth + 1)


def _parts(value: Any) -> list[Any]:
    """Return what a value is made of; nothing for numbers, text and modules of code."""
    if isinstance(value, dict):
        return [*value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        return [*value]
    closure = getattr(value, "__closure__", None)
    if closure is not None:
        return [cell.cell_contents for cell in closure if _is_filled(cell)]
    bound = getattr(value, "__self__", None)
    wrapped = getattr(value, "__wrapped__", None)
    fields = getattr(value, "__dict__", None)
    own = [*fields.values()] if isinstance(fields, dict) and not hasattr(value, "__path__") else []
    return [part for part in (bound, wrapped, *own) if part is not None and not _is_code(part)]


def _is_filled(cell: Any) -> bool:
    try:
        return not _is_code(cell.cell_contents)
    except ValueError:  # a variable that was never set
        return False


def _is_code(value: Any) -> bool:
    return type(value).__name__ in ("module", "code", "builtin_function_or_method")


def workspace_blocks(device: torch.device, snapshot: dict[str, Any]) -> Iterator[tuple[int, int]]:
    """Yield address and size of the blocks of `snapshot` that are matrix libraries' workspaces.

    They are the blocks that are gone once torch is told to give the workspaces back; the next product takes new ones.
    """
    give_back = getattr(torch._C, "_cuda_clearCublasWorkspaces", None)
    if give_back is None:
        return
    torch.cuda.synchronize(device)
    give_back()
    left = dict(_live(torch.cuda.memory._snapshot(device)))
    yield from ((address, size) for address, size in _live(snapshot) if address not in left)


def _live(snapshot: dict[str, Any]) -> Iterator[tuple[int, int]]:
    for segment in snapshot["segments"]:
        for block in segment["blocks"]:
            if block["state"] == "active_allocated":
                yield block["address"], block["size"]
