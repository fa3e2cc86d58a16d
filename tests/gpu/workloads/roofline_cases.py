"""Four operators whose place under the roofline is known beforehand, each repeated in a step of its own.

A product of 8192 x 8192 matrices is limited by arithmetic, a large sum by memory, a linear layer for one token by the
memory of its weights, a product of 64 x 64 matrices by nothing but being launched.
"""

import torch

from reportgen import Case, Step, Workload


def product(size, device):
    """Multiply two square matrices."""
    left, right = (torch.randn(size, size, device=device).to(torch.bfloat16) for _ in range(2))
    return lambda: left @ right


def add(size, device):
    """Add two vectors into a third one."""
    left, right = (torch.randn(size, device=device) for _ in range(2))
    out = torch.empty_like(left)
    return lambda: torch.add(left, right, out=out)


def linear(size, device):
    """Apply layers of `size` x 3.5 `size` to one token: enough of them that their weights never stay in a cache."""
    layers = [torch.randn(size * 7 // 2, size, device=device).to(torch.bfloat16) for _ in range(8)]
    token = torch.randn(1, size, device=device).to(torch.bfloat16)
    return lambda: [torch.nn.functional.linear(token, layer) for layer in layers]


OPERATIONS = {"product": product, "add": add, "linear": linear}


def build(case, device):
    """Return a step of `repeats` calls."""
    call = OPERATIONS[case.operation](case.size, device)

    @torch.inference_mode()
    def run():
        for _ in range(case.repeats):
            call()

    return Step(run, model=None, samples=case.repeats, mode="pipelined")


WORKLOAD = Workload(
    name="roofline-cases",
    description="One operator a case, at a shape whose bound is known",
    cases=(
        Case("product", phase="forward", operation="product", size=8192, repeats=5),
        Case("add", phase="forward", operation="add", size=268435456, repeats=10),
        Case("linear", phase="decode", operation="linear", size=4096, repeats=10),
        Case("small", phase="forward", operation="product", size=64, repeats=200),
    ),
    build=build,
)
