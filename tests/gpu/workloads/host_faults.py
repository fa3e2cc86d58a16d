"""A stack of layers with a fault of known size on the host: a busy wait in `pause`, or an `.item()` in `read_loss`.

The cases `stall-5` and `stall-1` differ from `stall-0` by nothing but the length of the wait, so the budget's part
`stall` must differ by it. A recording of these cases is test data, cut small.
"""

import time

import torch

from reportgen import Case, Step, Workload


def pause(milliseconds):
    """Poll the clock, as a busy wait does, until the time is over."""
    end = time.perf_counter() + milliseconds / 1000
    while time.perf_counter() < end:
        pass


def read_loss(hidden):
    """Wait for the device to read one number."""
    return hidden.sum().item()


def build(case, device):
    """Return a forward pass through `num_layers` layers, with the case's fault after the first half of them."""
    layers = [torch.nn.Linear(case.width, case.width, device=device) for _ in range(case.num_layers)]
    model = torch.nn.ModuleList(layers).eval()
    batch = torch.randn(case.batch, case.width, device=device)

    @torch.inference_mode()
    def run():
        hidden = batch
        for index, layer in enumerate(layers):
            hidden = torch.relu(layer(hidden))
            if index == case.num_layers // 2:
                if case.pause_ms is not None:
                    pause(case.pause_ms)
                for _ in range(case.num_reads):
                    read_loss(hidden)
        return hidden

    return Step(run, model=model, samples=case.batch, mode="drained")


# Small enough that the device has nothing left in its queue when the fault begins: the whole of it is waiting.
SHAPE = {"batch": 64, "width": 512, "num_layers": 40}

WORKLOAD = Workload(
    name="host-faults",
    description="A stack of linear layers with a busy wait of 5, 1 or 0 ms, or with four .item() calls",
    cases=(
        Case("stall-5", phase="forward", pause_ms=5, num_reads=0, **SHAPE),
        Case("stall-1", phase="forward", pause_ms=1, num_reads=0, **SHAPE),
        Case("stall-0", phase="forward", pause_ms=0, num_reads=0, **SHAPE),
        Case("item", phase="forward", pause_ms=None, num_reads=4, **SHAPE),
    ),
    build=build,
)
