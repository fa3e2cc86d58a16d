"""Words for a step's provenance: how long its sequences really are, and how its inputs are loaded."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from reportgen import formatting as fmt


def describe_lengths(lengths: Sequence[int], padded_to: int | Sequence[int]) -> dict[str, str]:
    """Return the entries `lengths` and `padding` of a provenance.

    `lengths` are the tokens of each sequence as they were, `padded_to` the tokens that were computed for them: one
    number, or one for each sequence. Raises `ValueError` where there are none or where a sequence is longer than that.
    """
    padded = [padded_to] * len(lengths) if isinstance(padded_to, int) else list(padded_to)
    if not lengths or len(padded) != len(lengths):
        raise ValueError(f"{len(lengths)} lengths and {len(padded)} padded lengths: give one of each for a sequence")
    if any(length > whole for length, whole in zip(lengths, padded, strict=True)):
        raise ValueError("a sequence is longer than what it is padded to")
    share = 1 - sum(lengths) / sum(padded)
    if len(lengths) == 1:
        spread = f"{fmt.plural(lengths[0], 'token')} in one sequence"
    else:
        middle = f"median {statistics.median(lengths):g} of {len(lengths)} sequences"
        spread = f"{min(lengths)} to {max(lengths)} tokens, {middle}"
    return {
        "lengths": spread,
        "padding": f"{fmt.share(share)} of the computed positions" if share else "none",
    }


def describe_loader(loader: Any) -> dict[str, str]:
    """Return the entry `loader` of a provenance: how a `torch.utils.data.DataLoader` loads."""
    workers = loader.num_workers
    words = [
        f"{workers} worker {'process' if workers == 1 else 'processes'}" if workers else "in the loop's own process"
    ]
    if loader.pin_memory:
        words.append("pinned memory")
    if workers:
        words.append(f"{loader.prefetch_factor} batches ahead each")
        words.append("workers kept between epochs" if loader.persistent_workers else "workers started anew each epoch")
    return {"loader": ", ".join(words)}
