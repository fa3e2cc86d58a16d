"""One token through a few layers of a Llama-like decoder of width 4096, random weights, a full cache of fixed length.

Swept over the batch (``--sweep batch=1,2,4,...``) its products turn from memory-bound to compute-bound.
"""

import torch
from torch.nn import functional

from reportgen import Case, Step, Workload

WIDTH, INNER, NUM_HEADS, NUM_KEY_HEADS, HEAD = 4096, 14336, 32, 8, 128


class Layer(torch.nn.Module):
    """Attention with grouped heads over a cache, and a gated MLP."""

    def __init__(self, batch, past_len, device):
        super().__init__()

        def linear(inputs, outputs):
            return torch.nn.Linear(inputs, outputs, bias=False, device=device, dtype=torch.bfloat16)

        self.query, self.out = linear(WIDTH, WIDTH), linear(WIDTH, WIDTH)
        self.key, self.value = (linear(WIDTH, NUM_KEY_HEADS * HEAD) for _ in range(2))
        self.gate, self.up, self.down = linear(WIDTH, INNER), linear(WIDTH, INNER), linear(INNER, WIDTH)
        self.norms = torch.nn.ParameterList(torch.ones(WIDTH, device=device, dtype=torch.bfloat16) for _ in range(2))
        size = (2, batch, NUM_KEY_HEADS, past_len, HEAD)
        self.register_buffer("cache", torch.randn(size, device=device).to(torch.bfloat16))

    def forward(self, hidden):
        """Return [B, 1, WIDTH] for [B, 1, WIDTH]; the token takes the cache's last place."""
        batch = hidden.shape[0]
        normed = functional.rms_norm(hidden, (WIDTH,), self.norms[0])
        query = self.query(normed).view(batch, 1, NUM_HEADS, HEAD).transpose(1, 2)
        self.cache[0, :, :, -1] = self.key(normed).view(batch, NUM_KEY_HEADS, HEAD)
        self.cache[1, :, :, -1] = self.value(normed).view(batch, NUM_KEY_HEADS, HEAD)
        attended = functional.scaled_dot_product_attention(query, self.cache[0], self.cache[1], enable_gqa=True)
        hidden = hidden + self.out(attended.transpose(1, 2).reshape(batch, 1, WIDTH))
        normed = functional.rms_norm(hidden, (WIDTH,), self.norms[1])
        return hidden + self.down(functional.silu(self.gate(normed)) * self.up(normed))


def build(case, device):
    """Return one decode step."""
    layers = torch.nn.Sequential(*(Layer(case.batch, case.past_len, device) for _ in range(case.num_layers))).eval()
    token = torch.randn(case.batch, 1, WIDTH, device=device).to(torch.bfloat16)

    @torch.inference_mode()
    def run():
        return layers(token)

    return Step(run, model=layers, tokens=case.batch, mode="pipelined", provenance={"weights": "random"})


WORKLOAD = Workload(
    name="decode-sweep",
    description="A few Llama-like layers of width 4096, one token out, any batch",
    cases=(Case("decode", phase="decode", batch=1, past_len=512, num_layers=4),),
    build=build,
)
