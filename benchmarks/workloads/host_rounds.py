"""A step of ten equal rounds of host code and one small layer: an eleventh round is 10 % more host time.

``benchmarks/real_nights.py`` runs it night after night and then with another `ROUNDS`. Nothing else changes: as many
operators, kernels and bytes as before.
"""

from __future__ import annotations

from typing import Any

import torch

from reportgen import Case, Step, Workload

ROUNDS = 10
# One round takes about half a millisecond.
WORDS_A_ROUND = 3000


def build(case: Case, device: Any) -> Step:
    """Return a step that counts words, then multiplies once."""
    model = torch.nn.Linear(case.width, case.width).to(device)
    example = torch.randn(8, case.width, device=device)
    words = [f"w{number % 97}" for number in range(WORDS_A_ROUND)]

    def count() -> dict[str, int]:
        counts: dict[str, int] = {}
        for word in words:
            counts[word] = counts.get(word, 0) + 1
        return counts

    def run() -> torch.Tensor:
        for _ in range(ROUNDS):
            count()
        with torch.inference_mode():
            result: torch.Tensor = model(example)
        return result

    return Step(run, model=model, samples=8)


WORKLOAD = Workload(
    name="host-rounds",
    description="ten rounds of host code and one small layer",
    cases=(Case("forward", phase="forward", width=64),),
    build=build,
)
