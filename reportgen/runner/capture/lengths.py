"""How long the sequences of a captured loop really are: read off the masks that its model is called with."""

from __future__ import annotations

from typing import Any

import torch

from reportgen.workload.provenance import describe_lengths

_MASK = "attention_mask"


class SequenceLengths:
    """Keeps the padding masks that a model is called with while its context is open.

    The masks are only held; they are looked at by `words`, between steps.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._masks: list[torch.Tensor] = []
        self._handle: Any = None

    def __enter__(self) -> SequenceLengths:
        if isinstance(self._model, torch.nn.Module):
            self._handle = self._model.register_forward_pre_hook(self._note, with_kwargs=True)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._handle is not None:
            self._handle.remove()

    def _note(self, module: torch.nn.Module, inputs: Any, named: dict[str, Any]) -> None:
        mask = named.get(_MASK)
        # Of rank 2 it says which positions are padding; others say who attends to whom.
        if isinstance(mask, torch.Tensor) and mask.dim() == 2 and not mask.is_floating_point():
            self._masks.append(mask.detach())

    def words(self) -> dict[str, str]:
        """Return the entries `lengths` and `padding` of a provenance, nothing where no mask was seen."""
        lengths = [int(length) for mask in self._masks for length in (mask != 0).sum(1).tolist()]
        padded = [mask.shape[1] for mask in self._masks for _ in range(mask.shape[0])]
        self._masks.clear()
        return describe_lengths(lengths, padded) if lengths else {}
