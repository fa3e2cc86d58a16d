"""The workload that ships: as an example of how to write one, and as what the tests of other parts run."""

from pathlib import Path

import pytest

from reportgen.workload import NUM_FIRST_VISITS, load_workload, read_outline, select_cases

PATH = Path(__file__).resolve().parents[3] / "workloads" / "gpt2.py"
SETTINGS = ("preset=tiny", "seq_len=16", "past_len=16")


@pytest.fixture
def built():
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")

    def build(name, *settings):
        (case,) = select_cases(read_outline(PATH).cases, names=[name], settings=(*SETTINGS, *settings))
        return load_workload(PATH).build(case, torch.device("cpu"))

    return build


def test_its_outline_is_written_out():
    outline = read_outline(PATH)

    assert outline.name == "gpt2"
    assert [(case.name, case.phase) for case in outline.cases] == [("prefill", "prefill"), ("decode", "decode")]
    assert outline.cases[1].past_len == 512


@pytest.mark.torch
def test_prefill_runs_the_prompt_and_counts_its_tokens(built):
    step = built("prefill", "batch=3")

    assert step.run().logits.shape == (3, 16, 1000)
    assert (step.tokens, step.mode, step.before) == (48, "pipelined", None)


@pytest.mark.torch
def test_each_decode_step_adds_a_token_and_a_new_lap_takes_them_back(built):
    step = built("decode")

    def length():
        output = step.run()
        return getattr(output, "cache" if hasattr(output, "cache") else "past_key_values").get_seq_length()

    lengths = []
    for index in (0, 1, 2, 0, 1):
        step.before(index)
        lengths.append(length())

    assert lengths == [17, 18, 19, 17, 18]
    assert (step.tokens, step.mode) == (1, "drained")


@pytest.mark.torch
def test_a_lap_that_does_not_fit_the_positions_is_refused(built):
    with pytest.raises(ValueError, match="900 tokens and 256 more do not fit 1024 positions"):
        built("decode", "past_len=900")
    assert NUM_FIRST_VISITS == 256


@pytest.mark.torch
def test_random_weights_and_another_type_are_said(built):
    assert built("prefill").provenance == {
        "inputs": "random token ids",
        "dtype": "float32 in place of float16, which is slow on a CPU",
        "weights": "random, in the configuration of GPT-2 124M, made tiny",
    }


@pytest.mark.torch
def test_weights_come_from_a_folder(built, tmp_path):
    built("prefill").model.save_pretrained(tmp_path)

    step = built("prefill", f"weights={tmp_path}")

    assert step.provenance["weights"] == f"pretrained, from {tmp_path}"
    assert step.model.config.n_embd == 64


@pytest.mark.torch
def test_weights_that_are_not_there_are_not_downloaded(built):
    with pytest.raises(ValueError, match="no such folder or cached checkpoint; nothing is downloaded"):
        built("prefill", "weights=no-such-organisation/no-such-model")
