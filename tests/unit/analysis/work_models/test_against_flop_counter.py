"""Model FLOPs of whole models, forward and backward, against `torch.utils.flop_counter`, through a recorded trace."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reportgen.analysis.case import CaseInputs
from reportgen.trace.reader import read_trace
from tests.analyzing import analyze_case

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def gpt2() -> tuple[Any, Any]:
    transformers = pytest.importorskip("transformers")
    config = transformers.GPT2Config(
        n_layer=2, n_embd=64, n_head=4, vocab_size=503, n_positions=64, attn_implementation="eager"
    )
    return transformers.GPT2LMHeadModel(config), torch.randint(0, 503, (2, 48))


def llama() -> tuple[Any, Any]:
    transformers = pytest.importorskip("transformers")
    config = transformers.LlamaConfig(
        num_hidden_layers=2,
        hidden_size=64,
        intermediate_size=172,
        num_attention_heads=4,
        num_key_value_heads=2,
        vocab_size=503,
        attn_implementation="eager",
    )
    return transformers.LlamaForCausalLM(config), torch.randint(0, 503, (2, 48))


def vit() -> tuple[Any, Any]:
    transformers = pytest.importorskip("transformers")
    config = transformers.ViTConfig(
        num_hidden_layers=2,
        hidden_size=64,
        intermediate_size=128,
        num_attention_heads=4,
        image_size=32,
        patch_size=8,
        attn_implementation="eager",
    )
    return transformers.ViTForImageClassification(config), torch.randn(2, 3, 32, 32)


def resnet() -> tuple[Any, Any]:
    transformers = pytest.importorskip("transformers")
    config = transformers.ResNetConfig(embedding_size=16, hidden_sizes=[16, 32, 64, 128], depths=[2, 2, 2, 2])
    return transformers.ResNetForImageClassification(config), torch.randn(2, 3, 64, 64)


@pytest.mark.parametrize("build", [gpt2, llama, vit, resnet])
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_model_flops_agree(build: Callable[[], tuple[Any, Any]], direction: str, tmp_path: Path) -> None:
    from torch.utils.flop_counter import FlopCounterMode

    model, inputs = build()

    def step() -> None:
        logits = model(inputs).logits
        if direction == "backward":
            logits.float().pow(2).mean().backward()

    with FlopCounterMode(display=False) as counter:
        step()
    path = tmp_path / "trace.json"
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True) as profiler:
        step()
    profiler.export_chrome_trace(str(path))
    trace = read_trace(path)
    case = analyze_case(CaseInputs(name="step", timeline=trace, detail=trace))

    assert counter.get_total_flops() > 1e6
    assert case.utilisation is not None
    assert case.utilisation.flops_per_step == pytest.approx(counter.get_total_flops(), rel=0.01)


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_fused_attention_is_counted_as_its_products(direction: str, tmp_path: Path) -> None:
    query = torch.randn(2, 4, 16, 32, requires_grad=True)
    path = tmp_path / "trace.json"
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True) as profiler:
        out = torch.nn.functional.scaled_dot_product_attention(query, query, query)
        if direction == "backward":
            out.sum().backward()
    profiler.export_chrome_trace(str(path))
    trace = read_trace(path)
    case = analyze_case(CaseInputs(name="step", timeline=trace, detail=trace))

    one_product = 2 * 2 * 4 * 16 * 16 * 32
    assert case.utilisation is not None
    assert case.utilisation.flops_per_step == one_product * (2 if direction == "forward" else 7)
