"""A BERT-like encoder over batches of texts of different lengths, padded to the longest: what embedding services run.

Nothing is downloaded: the weights are random. ``--set preset=tiny`` is for tests and small machines.
"""

import torch
from transformers import BertConfig, BertModel

from reportgen import Case, Step, Workload
from reportgen.workload.provenance import describe_lengths

PRESETS = {
    None: {},
    "tiny": {
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "vocab_size": 1000,
    },
}


def build(case, device):
    """Return the step of `case` on `device`: one padded batch through the encoder, and the mean of its tokens."""
    torch.manual_seed(0)
    with torch.device(device):
        model = BertModel(BertConfig(**PRESETS[case.preset]), add_pooling_layer=False)
    model = model.to(getattr(torch, case.dtype)).eval()
    lengths = draw_lengths(case)
    longest = max(lengths)
    mask = (torch.arange(longest) < torch.tensor(lengths)[:, None]).long().to(device)
    ids = torch.randint(model.config.vocab_size, (case.batch, longest), device=device) * mask

    def encode():
        with torch.inference_mode():
            hidden = model(input_ids=ids, attention_mask=mask).last_hidden_state
            weights = mask.to(hidden.dtype)[:, :, None]
            return (hidden * weights).sum(1) / weights.sum(1)

    provenance = {"weights": "random", "inputs": "random token ids", **describe_lengths(lengths, longest)}
    return Step(encode, model=model, samples=case.batch, provenance=provenance)


def draw_lengths(case):
    """Return the batch's lengths, log-normal as those of sentences are, from 4 tokens to `max_len`.

    Put the lengths of your own texts here: padding decides how much of the work is for nothing.
    """
    generator = torch.Generator().manual_seed(0)
    drawn = torch.exp(torch.randn(case.batch, generator=generator) * 0.6) * case.max_len / 4
    return drawn.long().clamp(4, case.max_len).tolist()


WORKLOAD = Workload(
    name="bert",
    description="BERT-base-like encoder over batches of texts padded to the longest",
    cases=(
        Case("encode", phase="encode", batch=32, max_len=512, dtype="float16", preset=None),
        Case("encode-one", phase="encode", batch=1, max_len=512, dtype="float16", preset=None),
    ),
    build=build,
)
