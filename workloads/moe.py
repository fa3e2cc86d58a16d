"""A mixture-of-experts decoder in the manner of Mixtral: a prompt (prefill), and one token out (decode).

Nothing is downloaded. Random weights route tokens almost evenly; a trained router does not: the provenance says so.
``--set preset=tiny`` is for tests and small machines.
"""

import inspect

import torch
from transformers import DynamicCache, MixtralConfig, MixtralForCausalLM

from reportgen import Case, Step, Workload

COMMON = {"num_local_experts": 8, "num_experts_per_tok": 2, "sliding_window": None}
PRESETS = {
    None: {
        "hidden_size": 1024,
        "intermediate_size": 3584,
        "num_hidden_layers": 8,
        "num_attention_heads": 16,
        "num_key_value_heads": 4,
        "vocab_size": 32000,
    },
    "tiny": {
        "hidden_size": 64,
        "intermediate_size": 96,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "vocab_size": 1000,
    },
}


def build(case, device):
    """Return the step of `case` on `device`."""
    torch.manual_seed(0)
    with torch.device(device):
        model = MixtralForCausalLM(MixtralConfig(**COMMON, **PRESETS[case.preset]))
    model = model.to(getattr(torch, case.dtype)).eval()
    prompt = torch.randint(model.config.vocab_size, (case.batch, case.seq_len), device=device)
    cache_name = cache_name_of(model)
    provenance = {
        "weights": "random: experts are chosen almost evenly, which a trained router does not do",
        "inputs": "random token ids, all of one length",
    }

    def forward(ids, cache):
        with torch.inference_mode():
            return model(input_ids=ids, use_cache=True, logits_to_keep=1, **{cache_name: cache})

    if case.phase == "prefill":

        def prefill():
            return forward(prompt, DynamicCache(config=model.config))

        return Step(prefill, model=model, tokens=prompt.numel(), provenance=provenance)

    token = prompt[:, :1]
    cache = None

    def before(index):
        """Start each lap behind the prompt; from there each step adds a token."""
        nonlocal cache
        if index == 0:
            cache = DynamicCache(config=model.config)
            forward(prompt, cache)

    def decode():
        return forward(token, cache)

    return Step(decode, model=model, before=before, mode="drained", tokens=case.batch, provenance=provenance)


def cache_name_of(model):
    """Return what the model calls its cache, by transformers' version."""
    return "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"


WORKLOAD = Workload(
    name="moe",
    description="Mixture-of-experts decoder, 8 experts of which each token takes 2: prefill and decode",
    cases=(
        Case("prefill", phase="prefill", batch=4, seq_len=512, dtype="bfloat16", preset=None),
        Case("decode", phase="decode", batch=8, seq_len=512, dtype="bfloat16", preset=None),
    ),
    build=build,
)
