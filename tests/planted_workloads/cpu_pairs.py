"""Faults that show on the CPU, each beside a twin that differs by exactly its fix.

A case is called after its rule; its twin ends in "-fixed", and `fault` is what they differ by.
"""

import time

import torch

from reportgen import Case, Step, Workload

WIDTH, NUM_LAYERS, BATCH = 256, 6, 64


class SlowData(torch.utils.data.Dataset):
    """Samples that take a while to make, as decoding a picture does."""

    def __init__(self, pause_ms):
        self.pause_ms = pause_ms
        self.sample = torch.randn(WIDTH)

    def __len__(self):
        return 2**20

    def __getitem__(self, index):
        spin(self.pause_ms)
        return self.sample


def spin(milliseconds):
    """Keep the core busy."""
    end = time.perf_counter() + milliseconds / 1000
    while time.perf_counter() < end:
        pass


def layers(width=WIDTH, num_layers=NUM_LAYERS):
    return torch.nn.Sequential(*(torch.nn.Linear(width, width) for _ in range(num_layers))).eval()


def forward(model, batch, **words):
    """Return the step that runs the model."""

    @torch.inference_mode()
    def run():
        return model(batch)

    return Step(run, model=model, samples=len(batch), **words)


def build_input_stall(case):
    """Run on a loader that makes each batch while the step waits for it, or has it at once."""
    model = layers()
    batches = iter(torch.utils.data.DataLoader(SlowData(0.5 if case.fault else 0), batch_size=16))

    @torch.inference_mode()
    def run():
        return model(next(batches))

    return Step(run, model=model, samples=16)


def build_step_outlier(case):
    """Do 40 ms more of host work in one of every twelve steps, or never."""
    model, batch, count = layers(), torch.randn(BATCH, WIDTH), 0

    @torch.inference_mode()
    def run():
        nonlocal count
        count += 1
        if case.fault and count % 12 == 0:
            spin(40)
        return model(batch)

    return Step(run, model=model, samples=BATCH)


def build_shape_specialisation(case):
    """Prepare a plan of 20 ms for each length that was not met before, or one for all."""
    model, plans, length = layers(), set(), 0
    library = torch.library.Library("pairs", "DEF")
    library.define("planned(Tensor numbers) -> Tensor")

    def planned(numbers):
        key = numbers.shape if case.fault else numbers.dtype
        if key not in plans:
            plans.add(key)
            spin(20)
        return numbers * 2

    library.impl("planned", planned, "CPU")

    def before(index):
        nonlocal length
        length = 8 + index

    @torch.inference_mode()
    def run():
        hidden = torch.ones(length, WIDTH)
        for layer in model:
            hidden = layer(torch.ops.pairs.planned(hidden))
        return hidden, library

    return Step(run, model=model, before=before, mode="drained")


def build_recompilation(case):
    """Call a compiled function on a new length each step, for a static shape each or for all at once."""
    torch._dynamo.reset()
    torch._dynamo.config.cache_size_limit = 4096
    model, count = layers(), 0
    compiled = torch.compile(model, backend="eager", dynamic=not case.fault)

    @torch.inference_mode()
    def run():
        nonlocal count
        count += 1
        return compiled(torch.ones(8 + count, WIDTH))

    return Step(run, model=model)


def build_allocation_spike(case):
    """Take the skewness of a matrix of 128 MiB at once, or of 256 rows at a time."""
    numbers, model, batch = torch.randn(4096, 8192), layers(1024), torch.randn(1024, 1024)

    def skewness_of(numbers):
        total = 0
        for some in numbers.split(len(numbers) if case.fault else 256):
            centred = some - some.mean()
            total = total + (centred * centred * centred).sum()
        return total

    @torch.inference_mode()
    def run():
        return model(batch), skewness_of(numbers)

    return Step(run, model=model)


def build_memory_growth(case):
    """Keep the output of every step, or that of the last one."""
    model, batch, kept = layers(), torch.randn(BATCH, WIDTH), []

    @torch.inference_mode()
    def run():
        if not case.fault:
            kept.clear()
        kept.append(model(batch))

    return Step(run, model=model, samples=BATCH)


def build_dominant_operator(case):
    """Do nearly all of the work in one operator, or in six that share it."""
    batch = torch.randn(512, 512)
    operators = [torch.sin, torch.cos, torch.tanh, torch.sigmoid, torch.exp, torch.erf]

    @torch.inference_mode()
    def run():
        result = batch
        for operator in [torch.sin] * 6 if case.fault else operators:
            result = operator(result)
        return result

    return Step(run, model=None)


def build_cold_start(case):
    """Prepare for 200 ms in the first step, or before it."""
    prepared = []

    def prepare():
        spin(200)
        prepared.append(True)

    model, batch = layers(), torch.randn(BATCH, WIDTH)
    step = forward(model, batch)
    for _ in range(3):  # code and memory are there: what is left of a first step is its own
        step.run()
    if not case.fault:
        prepare()

    @torch.inference_mode()
    def run():
        if not prepared:
            prepare()
        return model(batch)

    return Step(run, model=model, samples=BATCH)


def build_profiler_distortion(case):
    """Work in a thousand tiny operators, or in ten large ones: recording costs by the operator."""
    numbers, calls = torch.ones(8 if case.fault else 2**21), 1000 if case.fault else 10

    @torch.inference_mode()
    def run():
        for _ in range(calls):
            numbers.add_(1)

    return Step(run, model=None)


def build_synthetic_inputs(case):
    """Say that inputs are random, or that they are real."""
    inputs = "random numbers" if case.fault else "the first 64 rows of the test set"
    return forward(layers(), torch.randn(BATCH, WIDTH), provenance={"inputs": inputs})


def build_unstable_timing(case):
    """Take 5 or 10 ms by turns of ten steps, or 5 ms always."""
    count = 0

    def run():
        nonlocal count
        count += 1
        spin(10 if case.fault and count // 10 % 2 else 5)

    return Step(run, model=None)


def build_grad(case):
    """Run forward with gradients recorded, or without."""
    model, batch = layers(), torch.randn(BATCH, WIDTH)

    def run():
        with torch.inference_mode(not case.fault):
            return model(batch)

    return Step(run, model=model, samples=BATCH)


BUILDERS = {
    "input-stall": build_input_stall,
    "step-outlier": build_step_outlier,
    "shape-specialisation": build_shape_specialisation,
    "recompilation": build_recompilation,
    "allocation-spike": build_allocation_spike,
    "memory-growth": build_memory_growth,
    "dominant-operator": build_dominant_operator,
    "cold-start": build_cold_start,
    "profiler-distortion": build_profiler_distortion,
    "synthetic-inputs": build_synthetic_inputs,
    "unstable-timing": build_unstable_timing,
    "grad-in-inference": build_grad,
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
        Case("input-stall", phase="forward", fault=True),
        Case("input-stall-fixed", phase="forward", fault=False),
        Case("step-outlier", phase="forward", fault=True),
        Case("step-outlier-fixed", phase="forward", fault=False),
        Case("shape-specialisation", phase="forward", fault=True),
        Case("shape-specialisation-fixed", phase="forward", fault=False),
        Case("recompilation", phase="forward", fault=True),
        Case("recompilation-fixed", phase="forward", fault=False),
        Case("allocation-spike", phase="forward", fault=True),
        Case("allocation-spike-fixed", phase="forward", fault=False),
        Case("memory-growth", phase="forward", fault=True),
        Case("memory-growth-fixed", phase="forward", fault=False),
        Case("dominant-operator", phase="forward", fault=True),
        Case("dominant-operator-fixed", phase="forward", fault=False),
        Case("cold-start", phase="forward", fault=True),
        Case("cold-start-fixed", phase="forward", fault=False),
        Case("profiler-distortion", phase="forward", fault=True),
        Case("profiler-distortion-fixed", phase="forward", fault=False),
        Case("synthetic-inputs", phase="forward", fault=True),
        Case("synthetic-inputs-fixed", phase="forward", fault=False),
        Case("unstable-timing", phase="forward", fault=True),
        Case("unstable-timing-fixed", phase="forward", fault=False),
        Case("grad-in-inference", phase="forward", fault=True),
        Case("grad-in-inference-fixed", phase="forward", fault=False),
    ),
    build=build,
)
