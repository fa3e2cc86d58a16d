"""Which process of how many this is, where several work on one job."""

from __future__ import annotations

import dataclasses
import os

import torch


@dataclasses.dataclass(frozen=True, kw_only=True)
class Rank:
    """The number of a process, from 0, among `size` processes."""

    number: int = 0
    size: int = 1

    @property
    def is_alone(self) -> bool:
        """Whether there are no others."""
        return self.size == 1


def own_rank() -> Rank:
    """Return this process's rank: as `torch.distributed` knows it, else as torchrun said it in the environment."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return Rank(number=torch.distributed.get_rank(), size=torch.distributed.get_world_size())
    try:
        return Rank(number=int(os.environ["RANK"]), size=int(os.environ["WORLD_SIZE"]))
    except (KeyError, ValueError):
        return Rank()
