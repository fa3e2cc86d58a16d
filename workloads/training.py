"""A training step of GPT-2 124M: mixed precision, gradient accumulation, clipping, AdamW.

Nothing is downloaded: weights and token ids are random. Dropout is on, as in training.
Parts of the step are named with `record_function`: the report has a table of them.
``--set fused=false`` and ``--set accumulate=1`` are worth a comparison; ``--set preset=tiny`` is for small machines.
"""

import torch
from torch.profiler import record_function
from transformers import GPT2Config, GPT2LMHeadModel

from reportgen import Case, Step, Workload

PRESETS = {None: {}, "tiny": {"n_layer": 2, "n_head": 2, "n_embd": 64, "vocab_size": 1000}}


def build(case, device):
    """Return the step of `case` on `device`: some batches forward and backward, and one update."""
    torch.manual_seed(0)
    with torch.device(device):
        model = GPT2LMHeadModel(GPT2Config(**PRESETS[case.preset])).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.1, fused=case.fused)
    shape = (case.accumulate, case.batch, case.seq_len)
    batches = torch.randint(model.config.vocab_size, shape, device=device)
    dtype = getattr(torch, case.dtype)

    def train():
        total = torch.zeros((), device=device)
        for ids in batches:
            with record_function("forward"), torch.autocast(device.type, dtype, enabled=dtype != torch.float32):
                loss = model(input_ids=ids, labels=ids, use_cache=False).loss / case.accumulate
            with record_function("backward"):
                loss.backward()
            total += loss.detach()
        with record_function("clip"):
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        return total

    provenance = {"weights": "random", "inputs": "random token ids, all of one length, already on the device"}
    return Step(train, model=model, optimizer=optimizer, tokens=batches.numel(), provenance=provenance)


WORKLOAD = Workload(
    name="training",
    description="Training step of GPT-2 124M: mixed precision, gradient accumulation, AdamW",
    cases=(
        Case("train", phase="train", batch=8, seq_len=1024, accumulate=2, dtype="bfloat16", fused=True, preset=None),
        Case(
            "train-small", phase="train", batch=2, seq_len=256, accumulate=1, dtype="bfloat16", fused=True, preset=None
        ),
    ),
    build=build,
)
