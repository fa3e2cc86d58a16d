"""Eight pairs of steps that differ by exactly one edit: with a fault (`NAME-fault`) and without it (`NAME-fixed`).

What a finding promises of the first is compared with what the second takes (tests/gpu/test_twins.py). Sizes are for a
device with some ten GiB; ``--set scale=0.1`` shrinks them for a look at the mechanics.
"""

import torch
from torch.nn import functional

from reportgen import Case, Step, Workload

VOCABULARY, PADDED_VOCABULARY = 50257, 50304


def build(case, device):
    """Return the step of a pair, with its fault where `case.fault` is true."""
    return BUILDERS[case.pair](case, device, case.fault)


def layers_of(case, device, width, num_layers, dtype=torch.float16):
    """Return a stack of linear layers and a batch for it."""
    layers = [torch.nn.Linear(width, width, device=device, dtype=dtype) for _ in range(num_layers)]
    batch = torch.randn(sized(case, 8192), width, device=device, dtype=dtype)
    return torch.nn.ModuleList(layers).eval(), batch


def sized(case, number):
    """Scale a size, to a multiple of 8."""
    return max(8, int(number * case.scale) // 8 * 8)


def synchronizations(case, device, fault):
    """Read a number of every layer's output, or keep it on the device."""
    model, batch = layers_of(case, device, sized(case, 2048), 24)

    def read(hidden):
        return hidden.item() if fault else hidden

    @torch.inference_mode()
    def run():
        hidden, numbers = batch, []
        for layer in model:
            hidden = torch.relu(layer(hidden))
            numbers.append(read(hidden[0, 0]))
        return hidden, numbers

    return Step(run, model=model)


def host_stall(case, device, fault):
    """Sort a list in Python after the first half of the layers, or not."""
    model, batch = layers_of(case, device, sized(case, 1024), 40)
    keys = [(number * 7919) % 100_003 for number in range(sized(case, 10_000))]

    def bookkeeping():
        return sorted(keys, key=str)[0]

    @torch.inference_mode()
    def run():
        hidden = batch[:256]
        for index, layer in enumerate(model):
            hidden = torch.relu(layer(hidden))
            if fault and index == len(model) // 2:
                bookkeeping()
        return hidden

    return Step(run, model=model)


def graph(case, device, fault):
    """Launch many small kernels one by one, or as one captured graph."""
    model, batch = layers_of(case, device, 512, 40)
    small = batch[:64].clone()

    @torch.inference_mode()
    def run():
        hidden = small
        for layer in model:
            hidden = torch.relu(layer(hidden) + 1.0) * 0.5
        return hidden

    return Step(run if fault else captured(run), model=model)


def captured(run):
    """Return a function that replays `run` as one CUDA graph."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            run()
    torch.cuda.current_stream().wait_stream(side)
    recorded = torch.cuda.CUDAGraph()
    with torch.cuda.graph(recorded):
        result = run()

    def replay():
        recorded.replay()
        return result

    return replay


def product(case, device, fault):
    """Multiply with an odd vocabulary, or with one padded to a multiple of 64, beside an aligned product."""
    width = sized(case, 1024)
    model, batch = layers_of(case, device, width, 2)
    vocabulary = VOCABULARY if fault else PADDED_VOCABULARY
    aligned = torch.nn.Linear(width, 32768, bias=False, device=device, dtype=torch.float16).eval()
    head = torch.nn.Linear(width, vocabulary, bias=False, device=device, dtype=torch.float16).eval()

    @torch.inference_mode()
    def run():
        hidden = batch
        for layer in model:
            hidden = layer(hidden)
        return aligned(hidden), head(hidden)

    return Step(run, model=torch.nn.ModuleList([model, aligned, head]))


def copies(case, device, fault):
    """Widen every layer's output to single precision and narrow it again, or leave it."""
    model, batch = layers_of(case, device, sized(case, 2048), 24)

    def there_and_back(hidden):
        return hidden.float().half() if fault else hidden

    @torch.inference_mode()
    def run():
        hidden = batch
        for layer in model:
            hidden = there_and_back(layer(hidden))
        return hidden

    return Step(run, model=model)


def pageable(case, device, fault):
    """Copy 128 MiB to the device from pageable memory, or from pinned memory without waiting."""
    model, batch = layers_of(case, device, sized(case, 4096), 8)
    host = torch.randn(batch.shape, dtype=torch.float32)
    host = host if fault else host.pin_memory()

    @torch.inference_mode()
    def run():
        hidden = host.to(device, non_blocking=not fault).half()
        for layer in model:
            hidden = torch.relu(layer(hidden))
        return hidden

    return Step(run, model=model)


def optimizer(case, device, fault):
    """Update 200 tensors one by one, or with the fused kernel."""
    model = torch.nn.ModuleList([torch.nn.Linear(256, 256, device=device) for _ in range(100)])
    for parameter in model.parameters():
        parameter.grad = torch.randn_like(parameter)
    chosen = {"foreach": False, "fused": False} if fault else {"fused": True}
    update = torch.optim.AdamW(model.parameters(), lr=1e-4, **chosen)
    matrix = torch.randn(sized(case, 4096), sized(case, 4096), device=device, dtype=torch.float16)

    def run():
        product_of = matrix @ matrix
        update.step()
        return product_of

    return Step(run, model=model, optimizer=update)


def attention(case, device, fault):
    """Write whole attention scores, or compute attention in one kernel."""
    length = sized(case, 2048)
    query, key, value = (torch.randn(8, 16, length, 64, device=device, dtype=torch.float16) for _ in range(3))
    model = torch.nn.Linear(1024, 1024, device=device, dtype=torch.float16).eval()

    def attend(query, key, value):
        if not fault:
            return functional.scaled_dot_product_attention(query, key, value)
        scores = query @ key.transpose(-2, -1) * 64**-0.5
        return torch.softmax(scores, dim=-1) @ value

    @torch.inference_mode()
    def run():
        hidden = query
        for _ in range(4):
            hidden = attend(hidden, key, value)
        return model(hidden.transpose(1, 2).reshape(8, length, 1024))

    return Step(run, model=model)


BUILDERS = {
    "sync": synchronizations,
    "stall": host_stall,
    "graph": graph,
    "product": product,
    "copies": copies,
    "pageable": pageable,
    "optimizer": optimizer,
    "attention": attention,
}

WORKLOAD = Workload(
    name="twins",
    description="Eight pairs of steps that differ by exactly one edit",
    cases=(
        Case("sync-fault", phase="forward", pair="sync", fault=True, scale=1.0),
        Case("sync-fixed", phase="forward", pair="sync", fault=False, scale=1.0),
        Case("stall-fault", phase="forward", pair="stall", fault=True, scale=1.0),
        Case("stall-fixed", phase="forward", pair="stall", fault=False, scale=1.0),
        Case("graph-fault", phase="forward", pair="graph", fault=True, scale=1.0),
        Case("graph-fixed", phase="forward", pair="graph", fault=False, scale=1.0),
        Case("product-fault", phase="forward", pair="product", fault=True, scale=1.0),
        Case("product-fixed", phase="forward", pair="product", fault=False, scale=1.0),
        Case("copies-fault", phase="forward", pair="copies", fault=True, scale=1.0),
        Case("copies-fixed", phase="forward", pair="copies", fault=False, scale=1.0),
        Case("pageable-fault", phase="forward", pair="pageable", fault=True, scale=1.0),
        Case("pageable-fixed", phase="forward", pair="pageable", fault=False, scale=1.0),
        Case("optimizer-fault", phase="train", pair="optimizer", fault=True, scale=1.0),
        Case("optimizer-fixed", phase="train", pair="optimizer", fault=False, scale=1.0),
        Case("attention-fault", phase="forward", pair="attention", fault=True, scale=1.0),
        Case("attention-fixed", phase="forward", pair="attention", fault=False, scale=1.0),
    ),
    build=build,
)
