"""Alternatives tried on a real device: what each does to a step made for it, and what one that fails leaves behind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from reportgen.runner.alternatives.attempts import try_alternatives  # noqa: E402
from reportgen.runner.alternatives.edits import EDITS  # noqa: E402
from reportgen.runner.alternatives.trial import Trial  # noqa: E402
from reportgen.runner.clocks import clock_of  # noqa: E402
from reportgen.runner.run import RunOptions, record  # noqa: E402
from reportgen.workload import Step  # noqa: E402

pytestmark = pytest.mark.gpu
WORKLOAD = Path(__file__).parent / "workloads" / "failing_variants.py"
DEVICE = torch.device("cuda")


@pytest.fixture(autouse=True)
def device() -> None:
    if not torch.cuda.is_available():
        pytest.skip("needs an NVIDIA GPU")


def float32_product() -> Step:
    """Multiply in IEEE float32, on which a device with TF32 takes eight times as long."""
    left, right = (torch.randn(4096, 4096, device=DEVICE) for _ in range(2))
    return Step(lambda: left @ right, model=None)


def small_kernels() -> Step:
    """Launch 400 kernels of a microsecond or two, which a graph issues in one launch."""
    values = torch.randn(1024, device=DEVICE)

    def run() -> object:
        result = values
        for _ in range(400):
            result = result * 1.01
        return result

    return Step(run, model=None)


def attention() -> Step:
    """Attend over 4096 tokens through the backend that PyTorch chooses."""
    query, key, value = (torch.randn(4, 16, 4096, 64, device=DEVICE, dtype=torch.float16) for _ in range(3))

    def run() -> object:
        return torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)

    return Step(run, model=None)


def convolutions() -> Step:
    """Convolve channels-first images in half precision: each convolution converts its input and its output."""
    layers = [torch.nn.Conv2d(256, 256, 3, padding=1) for _ in range(8)]
    model = torch.nn.Sequential(*layers).to(DEVICE, torch.float16)
    images = torch.randn(32, 256, 56, 56, device=DEVICE, dtype=torch.float16)

    def run() -> object:
        with torch.inference_mode():
            return model(images)

    return Step(run, model=model)


def training() -> Step:
    """Update 100 small layers tensor by tensor."""
    model = torch.nn.Sequential(*(torch.nn.Linear(64, 64) for _ in range(100))).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), foreach=False)
    batch = torch.randn(16, 64, device=DEVICE)

    def run() -> object:
        optimizer.zero_grad()
        loss = model(batch).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return Step(run, model=model, optimizer=optimizer)


def pageable_input() -> Step:
    """Copy 64 MiB from pageable memory, then work for some milliseconds."""
    batch = torch.randn(4096, 4096)
    weights = torch.randn(4096, 4096, device=DEVICE)

    def run() -> object:
        result = batch.to(DEVICE)
        for _ in range(3):
            result = result @ weights * 0.01
        return result

    return Step(run, model=None)


@pytest.mark.parametrize(
    ("name", "make", "most_difference"),
    [
        ("matmul-tf32", float32_product, 1e-2),  # ten bits of mantissa
        ("cuda-graph", small_kernels, 0.0),
        ("channels-last", convolutions, 1e-2),
        ("fused-optimizer", training, 0.0),
        ("async-input", pageable_input, 0.0),
        ("autocast-bf16", float32_product, 1e-2),  # eight bits
    ],
)
def test_it_makes_faster_what_it_is_for(name: str, make: Callable[[], Step], most_difference: float) -> None:
    tried = Trial(make(), clock_of(DEVICE), DEVICE, EDITS[name]()).run(name)
    print(name, tried.outcome, sorted(tried.original_us)[0], sorted(tried.changed_us)[0], tried.max_relative_difference)

    assert tried.outcome == "faster"
    assert tried.max_relative_difference is not None
    assert tried.max_relative_difference <= most_difference


@pytest.mark.parametrize("name", ["sdpa-flash", "sdpa-efficient", "sdpa-cudnn", "sdpa-math"])
def test_each_backend_attends_alike(name: str) -> None:
    tried = Trial(attention(), clock_of(DEVICE), DEVICE, EDITS[name]()).run(name)
    print(name, tried.outcome, sorted(tried.original_us)[0], sorted(tried.changed_us)[0], tried.max_relative_difference)

    assert tried.outcome == "slower" or name != "sdpa-math"  # it writes the scores of every pair of tokens
    assert tried.max_relative_difference is not None
    assert tried.max_relative_difference <= 1e-2


def test_one_that_crashes_hangs_or_wants_all_memory_costs_only_itself(tmp_path: Path) -> None:
    recording = record(WORKLOAD, lambda *_: tmp_path / "recording", RunOptions(device="cuda"))
    names = {"one": tuple(f"variant:{name}" for name in ("hang", "greedy", "lost", "wrong", "same"))}
    tried = {
        one.name.partition(":")[2]: one
        for one in try_alternatives(recording, WORKLOAD, names, timeout_s=40.0).manifest.cases[0].alternatives
    }
    print(*tried.values(), sep="\n")

    assert tried["hang"].reason == "not done after 40 s, the limit of one alternative"
    assert (tried["greedy"].reason or "").startswith("out of device memory")
    assert tried["lost"].outcome == "failed"
    assert tried["wrong"].max_relative_difference == pytest.approx(1.0)
    assert tried["same"].max_relative_difference == 0
    assert tried["same"].outcome == "within-noise"
