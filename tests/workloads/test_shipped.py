"""Every workload that ships keeps the promises of `Step`, made small, on the CPU."""

import pytest

from reportgen.workload import load_workload, read_outline
from tests.workloads.shipped import FOLDER, PATHS, SMALL

QUICK = {"vit", "llama", "bert"}


def _param(path):
    return pytest.param(path, id=path.stem, marks=() if path.stem in QUICK else pytest.mark.full)


@pytest.mark.torch
@pytest.mark.parametrize("path", [_param(path) for path in PATHS])
def test_a_shipped_workload_conforms(path):
    pytest.importorskip("transformers")
    from reportgen.runner.conformance import check_workload

    assert check_workload(path, SMALL) == ()


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_shipped_workload_is_known_without_running_it_and_has_a_tiny_preset(path):
    outline = read_outline(path)

    assert outline.name.replace("-", "_") == path.stem
    assert all(case.preset is None for case in outline.cases)


@pytest.mark.torch
def test_the_padded_vocabulary_gives_the_same_logits():
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    workload = load_workload(FOLDER / "gpt2.py")
    case = workload.cases[0].with_parameters({"preset": "tiny", "seq_len": 8})

    plain = workload.build(case, torch.device("cpu")).run().logits
    step = workload.variants["padded-vocabulary"](case, torch.device("cpu"))
    padded = step.run().logits

    assert step.model.lm_head.weight.shape[0] == 1024  # 1000, padded to a multiple of 64
    assert padded.shape == plain.shape
    torch.testing.assert_close(padded, plain)
