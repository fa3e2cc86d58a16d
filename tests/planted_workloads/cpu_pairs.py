"""Faults that show on the CPU, each beside a twin that differs by exactly its fix.

A case is called after its rule; its twin ends in "-fixed".
"""

import time

import torch

from reportgen import Case, Step, Workload

WIDTH, NUM_LAYERS, BATCH = 256, 6, 64


class SlowData(torch.utils.data.Dataset):
    """Samples that take a while to make, as decoding a picture does."""

    def __init__(self, num_samples, pause_ms):
        self.num_samples, self.pause_ms = num_samples, pause_ms
        self.sample = torch.randn(WIDTH)

    def __len__(self):
        return self.num_samples

    def __getitem__(self, index):
        end = time.perf_counter() + self.pause_ms / 1000
        while time.perf_counter() < end:
            pass
        return self.sample


def layers():
    return torch.nn.Sequential(*(torch.nn.Linear(WIDTH, WIDTH) for _ in range(NUM_LAYERS)))


def build_input_stall(case):
    """Train on a loader that makes each batch while the step waits for it, or has it at once."""
    model = layers().eval()
    loader = torch.utils.data.DataLoader(SlowData(4096, case.pause_ms), batch_size=16)
    batches = iter(loader)

    def run():
        nonlocal batches
        batch = next(batches, None)
        if batch is None:
            batches = iter(loader)
            batch = next(batches)
        with torch.inference_mode():
            return model(batch)

    return Step(run, model=model, samples=16)


def build_step_outlier(case):
    """Do `extra_ms` more of host work in one of every twelve steps."""
    model, batch, count = layers().eval(), torch.randn(BATCH, WIDTH), 0

    @torch.inference_mode()
    def run():
        nonlocal count
        count += 1
        if count % 12 == 0:
            end = time.perf_counter() + case.extra_ms / 1000
            while time.perf_counter() < end:
                pass
        return model(batch)

    return Step(run, model=model, samples=BATCH)


def build_grad(case):
    """Run forward with gradients recorded, or without."""
    model, batch = layers().eval(), torch.randn(BATCH, WIDTH)

    def run():
        with torch.inference_mode(case.inference_mode):
            return model(batch)

    return Step(run, model=model, samples=BATCH)


def build_recompilation(case):
    """Call a compiled function on a new length each step, for a static shape each or for all at once."""
    torch._dynamo.reset()
    torch._dynamo.config.cache_size_limit = 4096
    model = layers().eval()
    compiled = torch.compile(model, backend="eager", dynamic=case.dynamic)
    count = 0

    @torch.inference_mode()
    def run():
        nonlocal count
        count += 1
        return compiled(torch.ones(8 + count, WIDTH))

    return Step(run, model=model)


BUILDERS = {
    "input-stall": build_input_stall,
    "step-outlier": build_step_outlier,
    "grad-in-inference": build_grad,
    "recompilation": build_recompilation,
}


def build(case, device):
    """Build the step of the case's rule."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    return BUILDERS[case.name.removesuffix("-fixed")](case)


WORKLOAD = Workload(
    name="cpu-pairs",
    description="Faults that show on the CPU, and their fixed twins",
    cases=(
        Case("input-stall", phase="forward", pause_ms=0.5),
        Case("input-stall-fixed", phase="forward", pause_ms=0),
        Case("step-outlier", phase="forward", extra_ms=40),
        Case("step-outlier-fixed", phase="forward", extra_ms=0),
        Case("grad-in-inference", phase="forward", inference_mode=False),
        Case("grad-in-inference-fixed", phase="forward", inference_mode=True),
        Case("recompilation", phase="forward", dynamic=False),
        Case("recompilation-fixed", phase="forward", dynamic=True),
    ),
    build=build,
)
