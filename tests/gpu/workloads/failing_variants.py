"""A product with variants that fail: one hangs on the device, one wants all memory, one reads where it must not."""

import torch

from reportgen import Case, Step, Workload


def build(case, device):
    """Return the step as it is."""
    torch.manual_seed(0)
    left, right = (torch.randn(1024, 1024, device=device) for _ in range(2))
    return Step(lambda: left @ right, model=None)


def wrong(case, device):
    """Return twice the result."""
    step = build(case, device)
    return Step(lambda: 2 * step.run(), model=None)


def hang(case, device):
    """Keep the device busy for an hour."""
    cycles = 60 * 60 * 10**9

    def run():
        torch.cuda._sleep(cycles)
        torch.cuda.synchronize()

    return Step(run, model=None)


def greedy(case, device):
    """Ask for 400 GiB."""
    return Step(lambda: torch.empty(400 * 2**30, dtype=torch.uint8, device=device), model=None)


def lost(case, device):
    """Index out of bounds, on which the device gives up the process."""
    values = torch.zeros(16, device=device)
    beyond = torch.full((1,), 2**20, device=device)
    return Step(lambda: values[beyond].item(), model=None)


WORKLOAD = Workload(
    name="failing-variants",
    description="One product, and variants that fail",
    cases=(Case("one", phase="forward"),),
    build=build,
    variants={"same": build, "wrong": wrong, "hang": hang, "greedy": greedy, "lost": lost},
)
