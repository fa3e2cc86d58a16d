"""Three steps whose memory is known: a growing cache, a training step with AdamW, attention in whole matrices."""

import torch
from torch.nn import functional

from reportgen import Case, Step, Workload

NUM_HEADS = 16


def attend(query, key, value):
    """Write the scores of all pairs out, in fp32: the spike."""
    scores = query.float() @ key.float().transpose(-1, -2) / query.shape[-1] ** 0.5
    return (scores.softmax(-1) @ value.float()).to(value.dtype)


class Block(torch.nn.Module):
    """A layer of a transformer."""

    def __init__(self, width, attention):
        super().__init__()
        self.attention = attention
        self.norm = torch.nn.LayerNorm(width)
        self.project = torch.nn.Linear(width, 3 * width)
        self.out = torch.nn.Linear(width, width)
        self.mlp = torch.nn.Sequential(
            torch.nn.LayerNorm(width),
            torch.nn.Linear(width, 4 * width),
            torch.nn.GELU(),
            torch.nn.Linear(4 * width, width),
        )

    def forward(self, hidden, cache=None):
        batch, length, width = hidden.shape
        parts = self.project(self.norm(hidden)).view(batch, length, 3, NUM_HEADS, width // NUM_HEADS)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        if cache is not None:
            key, value = cache.extend(self, key, value)
        mixed = self.attention(query, key, value).transpose(1, 2).reshape(batch, length, width)
        hidden = hidden + self.out(mixed)
        return hidden + self.mlp(hidden)


class GrowingCache:
    """Keys and values of each layer, one tensor each, replaced by a longer one at each step."""

    def __init__(self):
        self.layers = {}

    def extend(self, layer, key, value):
        if layer in self.layers:
            past_key, past_value = self.layers[layer]
            key, value = torch.cat((past_key, key), 2), torch.cat((past_value, value), 2)
        self.layers[layer] = key, value
        return key, value

    def crop(self, length):
        self.layers = {
            layer: (key[:, :, :length].clone(), value[:, :, :length].clone())
            for layer, (key, value) in self.layers.items()
        }


class Transformer(torch.nn.Module):
    """Layers between an embedding and the scores of the next token."""

    def __init__(self, case, attention):
        super().__init__()
        self.embedding = torch.nn.Embedding(case.vocabulary, case.width)
        self.blocks = torch.nn.ModuleList(Block(case.width, attention) for _ in range(case.num_layers))
        self.head = torch.nn.Linear(case.width, case.vocabulary, bias=False)

    def forward(self, ids, cache=None):
        hidden = self.embedding(ids)
        for block in self.blocks:
            hidden = block(hidden, cache)
        return self.head(hidden)


def build(case, device):
    """Return the step of a case."""
    torch.manual_seed(0)
    attention = attend if case.naive else functional.scaled_dot_product_attention
    model = Transformer(case, attention).to(device, getattr(torch, case.dtype))
    ids = torch.randint(case.vocabulary, (case.batch, case.seq_len), device=device)
    make = {"decode": decoding, "train": training, "forward": inferring}[case.phase]
    return make(case, model, ids)


def decoding(case, model, ids):
    """Return a step that adds one token to the cache."""
    cache = GrowingCache()
    token = ids[:, :1].clone()
    with torch.inference_mode():
        model(ids, cache)

    def before(index):
        if index == 0:
            with torch.inference_mode():
                cache.crop(case.seq_len)

    @torch.inference_mode()
    def run():
        return model(token, cache)

    return Step(run, model=model, before=before, mode="drained", tokens=case.batch)


def training(case, model, ids):
    """Return a training step that is over when the gradients are dropped."""
    optimizer = torch.optim.AdamW(model.parameters())

    def run():
        scores = model(ids)
        functional.cross_entropy(scores.flatten(0, 1), ids.flatten()).backward()
        del scores
        optimizer.step()
        optimizer.zero_grad()

    return Step(run, model=model, optimizer=optimizer, tokens=ids.numel())


def inferring(case, model, ids):
    """Return a forward pass."""

    @torch.inference_mode()
    def run():
        return model(ids)

    return Step(run, model=model.eval(), tokens=ids.numel())


MODEL = {"width": 1024, "num_layers": 8, "vocabulary": 8192}

WORKLOAD = Workload(
    name="memory-cases",
    description="A growing cache, a training step with AdamW, and attention in whole matrices",
    cases=(
        # Up to 1 MiB the allocator hands out blocks of the size asked for, so the cache grows by exactly a token.
        Case("decode", phase="decode", batch=1, seq_len=256, dtype="float16", naive=False, **MODEL),
        # Few tokens: the peak lies in the optimizer's step, where parameters, gradients and state are all alive.
        Case("train", phase="train", batch=1, seq_len=64, dtype="float32", naive=False, **MODEL),
        Case("naive-attention", phase="forward", batch=4, seq_len=2048, dtype="float16", naive=True, **MODEL),
    ),
    build=build,
)
