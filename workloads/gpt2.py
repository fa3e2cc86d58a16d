"""GPT-2 124M: one prompt in (prefill) and one token out (decode).

Nothing is downloaded. The weights are random, of the same configuration, unless `weights` names a folder or a
checkpoint that is cached already: ``--set weights=gpt2``. ``--set preset=tiny`` is for tests and small machines.
The variant ``padded-vocabulary`` is tried with ``--try variant:padded-vocabulary``.
"""

import dataclasses
import inspect

import torch
from transformers import GPT2Config, GPT2LMHeadModel

from reportgen import Case, Step, Workload

PRESETS = {None: {}, "tiny": {"n_layer": 2, "n_head": 2, "n_embd": 64, "vocab_size": 1000}}


def build(case, device):
    """Return the step of `case` on `device`: a prompt through the model, or one more token."""
    model, provenance = load_model(case, device)
    # The cache is called past_key_values or cache, by transformers' version.
    parameters = inspect.signature(model.forward).parameters
    cache_name = "cache" if "cache" in parameters else "past_key_values"

    def forward(ids, cache=None):
        with torch.inference_mode():
            return model(input_ids=ids, use_cache=True, **{cache_name: cache})

    if case.phase == "prefill":
        prompt = random_ids(model, case.batch, case.seq_len, device)

        def prefill():
            return forward(prompt)

        return Step(prefill, model=model, tokens=case.batch * case.seq_len, provenance=provenance)

    prompt = random_ids(model, case.batch, case.past_len, device, num_more=256)  # a lap has at most 256 steps
    cache = getattr(forward(prompt), cache_name)
    token = random_ids(model, case.batch, 1, device)

    def decode():
        return forward(token, cache)

    def before(index):
        """Go back to `past_len` tokens at the start of a lap; from there each step adds one."""
        num_added = cache.get_seq_length() - case.past_len
        if index == 0 and num_added:
            cache.crop(-num_added)

    # Drained: a decode loop reads its token before it asks for the next one.
    return Step(decode, model=model, before=before, mode="drained", tokens=case.batch, provenance=provenance)


def build_padded(case, device):
    """Return the step of `case` with the vocabulary padded: 50257 is odd, and 50304 a multiple of 64.

    The same weights, the same prompt, and the same logits: what was added is cut off again, which copies nothing.
    """
    step = build(case, device)
    vocab_size = step.model.config.vocab_size
    step.model.resize_token_embeddings(vocab_size, pad_to_multiple_of=64, mean_resizing=False)

    def run():
        output = step.run()
        output.logits = output.logits[..., :vocab_size]
        return output

    return dataclasses.replace(step, run=run)


def load_model(case, device):
    """Return the model, ready to infer, and what of it is real."""
    dtype = getattr(torch, case.dtype)
    provenance = {"inputs": "random token ids"}
    if device.type == "cpu" and dtype == torch.float16:
        dtype = torch.float32
        provenance["dtype"] = "float32 in place of float16, which is slow on a CPU"
    if case.weights is not None:
        model = load_pretrained(case.weights)
        provenance["weights"] = f"pretrained, from {case.weights}"
    else:
        torch.manual_seed(0)
        with torch.device(device):
            model = GPT2LMHeadModel(GPT2Config(**PRESETS[case.preset]))
        provenance["weights"] = "random, in the configuration of GPT-2 124M" + (", made tiny" if case.preset else "")
    return model.to(device, dtype).eval(), provenance


def load_pretrained(weights):
    """Return the model in the folder, or of the cached checkpoint, `weights`."""
    try:
        return GPT2LMHeadModel.from_pretrained(weights, local_files_only=True)
    except OSError as error:
        raise ValueError(f"weights={weights}: no such folder or cached checkpoint; nothing is downloaded") from error


def random_ids(model, batch, length, device, num_more=0):
    """Return `batch` rows of `length` random token ids, after which `num_more` must still find a position."""
    if length + num_more > model.config.n_positions:
        raise ValueError(f"{length} tokens and {num_more} more do not fit {model.config.n_positions} positions")
    return torch.randint(model.config.vocab_size, (batch, length), device=device)


WORKLOAD = Workload(
    name="gpt2",
    description="GPT-2 124M, one prompt in (prefill) and one token out (decode)",
    cases=(
        Case("prefill", phase="prefill", batch=1, seq_len=512, dtype="float16", weights=None, preset=None),
        Case("decode", phase="decode", batch=1, past_len=512, dtype="float16", weights=None, preset=None),
    ),
    build=build,
    variants={"padded-vocabulary": build_padded},
)
