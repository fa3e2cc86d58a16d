"""Faults that show on a GPU only, each beside a twin that differs by exactly its fix.

A case is called after its rule; its twin ends in "-fixed", and `fault` is what they differ by. Around each fault stands
the same work, layers that keep the device busy, so that a twin has no fault of its own. ``--set scale=0.05`` shrinks
them for a look at the mechanics.
"""

import time

import torch
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from reportgen import Case, Step, Workload

GIB, WIDTH, VOCABULARY = 2**30, 2048, 50304


def sized(case, number):
    """Scale a size, to a multiple of 8."""
    return max(8, int(number * case.scale) // 8 * 8)


def layers_of(case, device, num_layers=24, dtype=torch.float16, rows=8192):
    """Return layers and a batch for them that keep an H200 busy for 0.1 ms a layer."""
    width = sized(case, WIDTH)
    layers = [torch.nn.Linear(width, width, device=device, dtype=dtype) for _ in range(num_layers)]
    batch = torch.randn(sized(case, rows), width, device=device, dtype=dtype)
    return torch.nn.Sequential(*layers).eval(), batch


def build_small_kernels(case, device):
    """Scale 300 small vectors one by one on an idle device, or all of them in one call."""
    model, batch = layers_of(case, device, num_layers=40)
    vectors = [torch.randn(256, device=device) for _ in range(300)]

    @torch.inference_mode()
    def run():
        if case.fault:
            for vector in vectors:
                vector.mul_(0.999)
        else:
            torch._foreach_mul_(vectors, 0.999)
        return model(batch)

    return Step(run, model=model, mode="drained")


def build_needless_copy(case, device):
    """Turn every layer's output into another layout and back, or leave it."""
    model, batch = layers_of(case, device)
    batch = batch.view(8, -1, batch.shape[1])

    def there_and_back(hidden):
        return hidden.transpose(1, 2).contiguous().transpose(1, 2).contiguous() if case.fault else hidden

    @torch.inference_mode()
    def run():
        hidden = batch
        for layer in model:
            hidden = there_and_back(layer(hidden))
        return hidden

    return Step(run, model=model)


class SlowData(torch.utils.data.Dataset):
    """Samples that take a while to come, as those read from a disk do."""

    def __init__(self, width):
        self.sample = torch.randn(width).half()

    def __len__(self):
        return 2**20

    def __getitem__(self, index):
        time.sleep(0.0004)
        return self.sample


def build_input_stall(case, device):
    """Load each batch while the step waits for it, or in workers ahead of it."""
    model, batch = layers_of(case, device)
    workers = 0 if case.fault else 6
    loader = torch.utils.data.DataLoader(SlowData(batch.shape[1]), 16, num_workers=workers, pin_memory=True)
    batches, repeats = iter(loader), batch.shape[0] // 16

    @torch.inference_mode()
    def run():
        return model(next(batches).to(device, non_blocking=True).repeat(repeats, 1))

    return Step(run, model=model, samples=16)


def build_blocking_copy(case, device):
    """Copy the result to pageable memory, or to a pinned buffer without waiting."""
    model, batch = layers_of(case, device)
    buffer = None if case.fault else torch.empty(batch.shape, dtype=batch.dtype, pin_memory=True)

    def fetch(result):
        return result.cpu() if case.fault else buffer.copy_(result, non_blocking=True)

    @torch.inference_mode()
    def run():
        return fetch(model(batch))

    return Step(run, model=model)


def build_shape_specialisation(case, device):
    """Attend to a cache that grows with the backend that plans each length anew, or with one that does not."""
    model, batch = layers_of(case, device)
    backend = SDPBackend.CUDNN_ATTENTION if case.fault else SDPBackend.FLASH_ATTENTION
    query = torch.randn(1, 12, 1, 64, device=device, dtype=torch.float16)
    cache = torch.randn(1, 12, 1024, 64, device=device, dtype=torch.float16)
    length = 512

    def before(index):
        nonlocal length
        length = 512 + index

    def attend():
        with sdpa_kernel(backend):
            return functional.scaled_dot_product_attention(query, cache[:, :, :length], cache[:, :, :length])

    @torch.inference_mode()
    def run():
        return attend(), model(batch)

    return Step(run, model=model, before=before, mode="drained")


def build_allocation_spike(case, device):
    """Compute a loss over all rows at once in fp32, or over 512 rows at a time."""
    model, batch = layers_of(case, device, num_layers=12, rows=4096)
    head = torch.nn.Linear(batch.shape[1], sized(case, VOCABULARY), bias=False, device=device, dtype=torch.float16)
    targets = torch.randint(head.out_features, (batch.shape[0],), device=device)

    def loss_of(scores):
        size = len(scores) if case.fault else 512
        rows = zip(scores.split(size), targets.split(size), strict=True)
        losses = [functional.nll_loss(functional.log_softmax(some.float(), -1), right) for some, right in rows]
        return torch.stack(losses).mean()

    @torch.inference_mode()
    def run():
        return loss_of(head(model(batch)))

    return Step(run, model=torch.nn.ModuleList([model, head]))


def build_allocator_churn(case, device):
    """Empty the allocator's cache at the end of each step, or leave it."""
    model, batch = layers_of(case, device)

    @torch.inference_mode()
    def run():
        result = model(batch).sum()
        if case.fault:
            torch.cuda.empty_cache()
        return result

    return Step(run, model=model)


def build_fragmentation(case, device):
    """Keep 11/16 of each of many segments and give the rest back, or keep the same blocks in segments of their own."""
    model, batch = layers_of(case, device)
    segment = GIB * 2
    number = int(0.92 * torch.cuda.get_device_properties(device).total_memory) // segment

    def blocks(size):
        return torch.empty(size, dtype=torch.uint8, device=device)

    if case.fault:  # whole segments in the cache: what is kept and what is given back then share them
        whole = [blocks(segment) for _ in range(number)]
        del whole
    kept, scratch = [], []
    for _ in range(number):
        kept.append(blocks(segment // 16 * 11))
        scratch.append(blocks(segment // 16 * 5))
    scratch.clear()

    @torch.inference_mode()
    def run():
        return model(batch), len(kept)

    return Step(run, model=model)


def build_near_capacity(case, device):
    """Fill 93 % of the device, or 30 %."""
    model, batch = layers_of(case, device)
    total = torch.cuda.get_device_properties(device).total_memory
    filler = torch.empty(int((0.93 if case.fault else 0.3) * total), dtype=torch.uint8, device=device)

    @torch.inference_mode()
    def run():
        return model(batch), filler.shape

    return Step(run, model=model)


def build_tensor_cores_unused(case, device):
    """Multiply fp32 matrices at full precision, or let TF32 do it."""
    torch.backends.cuda.matmul.allow_tf32 = not case.fault
    model, batch = layers_of(case, device, num_layers=8, dtype=torch.float32)

    @torch.inference_mode()
    def run():
        return model(batch)

    return Step(run, model=model)


def build_layout_conversion(case, device):
    """Convolve images with their channels apart, or with channels last."""
    layout = torch.contiguous_format if case.fault else torch.channels_last
    channels = sized(case, 128)
    convolutions = [torch.nn.Conv2d(channels, channels, 3, padding=1, bias=False) for _ in range(12)]
    model = torch.nn.Sequential(*convolutions).to(device, torch.float16, memory_format=layout).eval()
    images = torch.randn(32, channels, 64, 64, device=device, dtype=torch.float16).to(memory_format=layout)

    @torch.inference_mode()
    def run():
        return model(images)

    return Step(run, model=model)


def build_low_roofline(case, device):
    """Normalise rows of 16 numbers, for which the library has no fast kernel, or rows of 2048."""
    model, batch = layers_of(case, device)
    width = 16 if case.fault else batch.shape[1]

    @torch.inference_mode()
    def run():
        hidden = batch
        for index, layer in enumerate(model):
            hidden = layer(hidden)
            if index % 8 == 0:
                hidden = functional.layer_norm(hidden.view(-1, width), (width,)).view(batch.shape)
        return hidden

    return Step(run, model=model)


BUILDERS = {
    "small-kernels": build_small_kernels,
    "needless-copy": build_needless_copy,
    "input-stall": build_input_stall,
    "blocking-copy": build_blocking_copy,
    "shape-specialisation": build_shape_specialisation,
    "allocation-spike": build_allocation_spike,
    "allocator-churn": build_allocator_churn,
    "fragmentation": build_fragmentation,
    "near-capacity": build_near_capacity,
    "tensor-cores-unused": build_tensor_cores_unused,
    "layout-conversion": build_layout_conversion,
    "low-roofline": build_low_roofline,
}


def build(case, device):
    """Build the step of the case's rule."""
    torch.manual_seed(0)
    return BUILDERS[case.name.removesuffix("-fixed")](case, device)


WORKLOAD = Workload(
    name="gpu-pairs",
    description="Faults that show on a GPU only, and their fixed twins",
    cases=(
        Case("small-kernels", phase="forward", fault=True, scale=1.0),
        Case("small-kernels-fixed", phase="forward", fault=False, scale=1.0),
        Case("needless-copy", phase="forward", fault=True, scale=1.0),
        Case("needless-copy-fixed", phase="forward", fault=False, scale=1.0),
        Case("input-stall", phase="forward", fault=True, scale=1.0),
        Case("input-stall-fixed", phase="forward", fault=False, scale=1.0),
        Case("blocking-copy", phase="forward", fault=True, scale=1.0),
        Case("blocking-copy-fixed", phase="forward", fault=False, scale=1.0),
        Case("shape-specialisation", phase="forward", fault=True, scale=1.0),
        Case("shape-specialisation-fixed", phase="forward", fault=False, scale=1.0),
        Case("allocation-spike", phase="forward", fault=True, scale=1.0),
        Case("allocation-spike-fixed", phase="forward", fault=False, scale=1.0),
        Case("allocator-churn", phase="forward", fault=True, scale=1.0),
        Case("allocator-churn-fixed", phase="forward", fault=False, scale=1.0),
        Case("fragmentation", phase="forward", fault=True, scale=1.0),
        Case("fragmentation-fixed", phase="forward", fault=False, scale=1.0),
        Case("near-capacity", phase="forward", fault=True, scale=1.0),
        Case("near-capacity-fixed", phase="forward", fault=False, scale=1.0),
        Case("tensor-cores-unused", phase="forward", fault=True, scale=1.0),
        Case("tensor-cores-unused-fixed", phase="forward", fault=False, scale=1.0),
        Case("layout-conversion", phase="forward", fault=True, scale=1.0),
        Case("layout-conversion-fixed", phase="forward", fault=False, scale=1.0),
        Case("low-roofline", phase="forward", fault=True, scale=1.0),
        Case("low-roofline-fixed", phase="forward", fault=False, scale=1.0),
    ),
    build=build,
)
