"""GPT-2's prompt, and a buffer that is scaled beside it: one operator that a constant makes longer.

``benchmarks/real_nights.py`` runs it night after night and then with another `ROWS`: as many calls, kernels and as much
memory as before, and more device time in ``aten::mul_``. On an H200 64 more rows were 2.3 % of the step's device time.
"""

from __future__ import annotations

import dataclasses
import runpy
from typing import Any

import torch

from reportgen import Case, Step, Workload
from reportgen.resources import resource_folder

# Each row is 1 MiB of float16; 64 of them are more than an H200's second cache holds.
ROWS = 64
MOST_ROWS = 256
GPT2 = runpy.run_path(str(resource_folder("workloads") / "gpt2.py"))


def build(case: Case, device: Any) -> Step:
    """Return GPT-2's step with the buffer scaled before it."""
    step: Step = GPT2["build"](case, device)
    buffer = torch.ones(MOST_ROWS, 2**19, dtype=torch.float16, device=device)

    def run() -> Any:
        with torch.inference_mode():
            buffer[:ROWS].mul_(1.0)
        return step.run()

    return dataclasses.replace(step, run=run)


WORKLOAD = Workload(
    name="gpt2-scaled",
    description="GPT-2 124M, one prompt in, and a buffer scaled beside it",
    cases=(Case("prefill", phase="prefill", batch=1, seq_len=512, dtype="float16", weights=None, preset=None),),
    build=build,
)
