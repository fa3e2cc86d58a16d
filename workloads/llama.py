"""A Llama-like decoder with grouped heads: a prompt (prefill), and one token out with a static or a growing cache.

Nothing is downloaded: the weights are random, in the configuration of a model of 1.2 billion parameters.
``--set preset=tiny`` is for tests and small machines.
"""

import inspect

import torch
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM, StaticCache

from reportgen import Case, Step, Workload

PRESETS = {
    None: {
        "hidden_size": 2048,
        "intermediate_size": 8192,
        "num_hidden_layers": 16,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "vocab_size": 128256,
    },
    "tiny": {
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "vocab_size": 1000,
    },
}
NUM_NEW = 256  # a lap has at most 256 steps


def build(case, device):
    """Return the step of `case` on `device`: a prompt through the model, or one more token behind it."""
    model = load_model(case, device)
    provenance = {"weights": "random", "inputs": "random token ids, all of one length"}
    prompt = random_ids(model, (case.batch, case.seq_len), device)
    cache_name = cache_name_of(model)

    def forward(ids, cache):
        # Only the last token's logits are made, as generation needs them.
        with torch.inference_mode():
            return model(input_ids=ids, use_cache=True, logits_to_keep=1, **{cache_name: cache})

    if case.phase == "prefill":

        def prefill():
            return forward(prompt, new_cache(case, model))

        return Step(prefill, model=model, tokens=prompt.numel(), provenance=provenance)

    token = random_ids(model, (case.batch, 1), device)
    cache = new_cache(case, model)

    def before(index):
        """Start each lap behind the prompt; from there each step adds a token."""
        nonlocal cache
        if index == 0:
            cache = new_cache(case, model)
            forward(prompt, cache)

    def decode():
        return forward(token, cache)

    # Drained: a decode loop reads its token before it asks for the next one.
    return Step(decode, model=model, before=before, mode="drained", tokens=case.batch, provenance=provenance)


def load_model(case, device):
    """Return the model, made on the device: a billion random numbers take long on a host."""
    torch.manual_seed(0)
    with torch.device(device):
        model = LlamaForCausalLM(LlamaConfig(**PRESETS[case.preset]))
    return model.to(getattr(torch, case.dtype)).eval()


def new_cache(case, model):
    """Return an empty cache: one that grows, or one of the final size in which places are filled."""
    if case.cache == "static":
        return StaticCache(config=model.config, max_cache_len=case.seq_len + NUM_NEW)
    return DynamicCache(config=model.config)


def random_ids(model, shape, device):
    """Return random token ids of `shape`."""
    return torch.randint(model.config.vocab_size, shape, device=device)


def cache_name_of(model):
    """Return what the model calls its cache, by transformers' version."""
    return "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"


WORKLOAD = Workload(
    name="llama",
    description="Llama-like decoder of 1.2 billion parameters with grouped heads: prefill, decode by kind of cache",
    cases=(
        Case("prefill", phase="prefill", batch=1, seq_len=1024, cache="dynamic", dtype="bfloat16", preset=None),
        Case("decode-static", phase="decode", batch=8, seq_len=1024, cache="static", dtype="bfloat16", preset=None),
        Case("decode-dynamic", phase="decode", batch=8, seq_len=1024, cache="dynamic", dtype="bfloat16", preset=None),
    ),
    build=build,
)
