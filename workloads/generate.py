"""`generate()` as a whole: a prompt in, a fixed number of tokens out, everything that the library does between them.

Nothing is downloaded: the weights are random. Decoding is greedy, and no text ends early.
``--set preset=tiny`` is for tests and small machines.
"""

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from reportgen import Case, Step, Workload

PRESETS = {
    None: {
        "hidden_size": 1024,
        "intermediate_size": 2816,
        "num_hidden_layers": 16,
        "num_attention_heads": 16,
        "num_key_value_heads": 4,
        "vocab_size": 32000,
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


def build(case, device):
    """Return the step of `case` on `device`: one call of `generate()`."""
    torch.manual_seed(0)
    with torch.device(device):
        model = LlamaForCausalLM(LlamaConfig(**PRESETS[case.preset]))
    model = model.to(getattr(torch, case.dtype)).eval()
    model.generation_config.eos_token_id = None  # no text ends early
    prompt = torch.randint(model.config.vocab_size, (case.batch, case.seq_len), device=device)
    mask = torch.ones_like(prompt)

    def generate():
        return model.generate(
            prompt, attention_mask=mask, max_new_tokens=case.new_tokens, do_sample=False, pad_token_id=0
        )

    provenance = {
        "weights": "random",
        "inputs": "random token ids, all of one length",
        "outputs": f"{case.new_tokens} tokens each; none ends early",
    }
    # Drained: generate() looks at each token before it asks for the next one.
    return Step(generate, model=model, mode="drained", tokens=case.batch * case.new_tokens, provenance=provenance)


WORKLOAD = Workload(
    name="generate",
    description="generate() of a Llama-like decoder of 0.3 billion parameters, 8 tokens behind a prompt of 128",
    cases=(Case("generate", phase="generate", batch=4, seq_len=128, new_tokens=8, dtype="bfloat16", preset=None),),
    build=build,
)
