"""Alternatives, tried for real on the CPU; what needs a device is in tests/gpu."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from reportgen.recording import ALTERNATIVES, Recording  # noqa: E402
from reportgen.runner.alternatives.attempts import try_alternatives  # noqa: E402
from reportgen.runner.alternatives.edits import EDITS  # noqa: E402
from reportgen.runner.alternatives.outputs import max_relative_difference, tensors_of  # noqa: E402
from reportgen.runner.alternatives.trial import Trial, judge  # noqa: E402
from reportgen.runner.clocks import HostClock  # noqa: E402
from reportgen.runner.failures import NotApplicableError  # noqa: E402
from reportgen.runner.run import RunOptions, record  # noqa: E402
from reportgen.workload import Step  # noqa: E402

CPU = torch.device("cpu")


def test_the_difference_is_relative_to_the_norm() -> None:
    before = tensors_of({"a": torch.tensor([3.0, 4.0]), "b": [torch.tensor([1])]})
    after = (torch.tensor([3.0, 4.5]),)
    assert len(before) == 1  # integers are not compared
    assert max_relative_difference(before, after) == pytest.approx(0.1)  # 0.5 of a norm of 5
    assert max_relative_difference(before, (torch.zeros(3),)) is None


def blocks(*medians: float) -> list[tuple[float, ...]]:
    return [(median,) * 3 for median in medians]


def test_a_change_is_faster_only_where_nearly_all_pairs_of_blocks_agree() -> None:
    assert judge(blocks(10, 11, 12, 10, 11), blocks(5, 5, 6, 5, 5)) == "faster"
    assert judge(blocks(5, 5, 6, 5, 5), blocks(10, 11, 12, 10, 11)) == "slower"
    assert judge(blocks(10, 10, 10, 10, 10), blocks(9.8, 9.9, 9.8, 9.9, 9.8)) == "within-noise"
    # The median ratio is 1.2, but two of five pairs say the contrary: the machine wandered.
    assert judge(blocks(12, 12, 12, 8, 8), blocks(10, 10, 10, 10, 10)) == "within-noise"


def training_step() -> Step:
    torch.manual_seed(0)
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, foreach=False)
    batch = torch.randn(4, 8)

    def run() -> object:
        optimizer.zero_grad()
        loss = model(batch).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    run()
    return Step(run, model=model, optimizer=optimizer)


def test_a_trial_of_a_training_step_compares_from_equal_state_and_leaves_the_optimizer_as_it_was() -> None:
    step = training_step()
    tried = Trial(step, HostClock(), CPU, EDITS["fused-optimizer"]()).run("fused-optimizer")
    assert tried.outcome in ("faster", "slower", "within-noise")
    assert tried.max_relative_difference == 0  # the loss is taken before the update
    assert len(tried.original_us) == len(tried.changed_us) > 0
    assert [group["fused"] for group in step.optimizer.param_groups] == [None]


def test_what_changes_results_is_said_with_its_size() -> None:
    model = torch.nn.Linear(64, 64)
    batch = torch.randn(16, 64)
    step = Step(lambda: model(batch), model=model)
    tried = Trial(step, HostClock(), CPU, EDITS["autocast-bf16"]()).run("autocast-bf16")
    assert tried.max_relative_difference is not None
    assert 1e-4 < tried.max_relative_difference < 1e-1  # bf16 keeps 8 bits


@pytest.mark.parametrize("name", ["cuda-graph", "channels-last", "fused-optimizer", "async-input"])
def test_what_has_no_subject_is_not_applicable(name: str) -> None:
    model = torch.nn.Linear(4, 4)
    step = Step(lambda: model(torch.zeros(1, 4)), model=model)
    with pytest.raises(NotApplicableError):
        Trial(step, HostClock(), CPU, EDITS[name]()).run(name)


WORKLOAD = """
import os
import time
import torch
from reportgen import Case, Step, Workload

def build(case, device):
    model = torch.nn.Linear(32, 32)
    return Step(lambda: model(torch.zeros(4, 32)), model=model)

def crash(case, device):
    os._exit(7)

def hang(case, device):
    time.sleep(600)

def greedy(case, device):
    step = build(case, device)
    return Step(lambda: step.model(torch.zeros(2**50, 32)), model=step.model)

def wrong(case, device):
    step = build(case, device)
    return Step(lambda: 2 * step.run(), model=step.model)

WORKLOAD = Workload(
    name="small", description="one linear layer", cases=(Case("one", phase="forward"),), build=build,
    variants={"same": build, "crash": crash, "hang": hang, "greedy": greedy, "wrong": wrong},
)
"""


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> tuple[Recording, Path]:
    folder = tmp_path_factory.mktemp("alternatives")
    workload = folder / "small.py"
    workload.write_text(WORKLOAD)
    return record(workload, lambda name, device: folder / "recording", RunOptions(device="cpu")), workload


def test_each_alternative_costs_only_itself(recording: tuple[Recording, Path]) -> None:
    recorded, workload = recording
    names = {"one": ("variant:crash", "inference-mode", "variant:none", "variant:same")}
    tried = {one.name: one for one in try_alternatives(recorded, workload, names).manifest.cases[0].alternatives}

    assert tried["variant:crash"].outcome == "failed"
    assert tried["variant:crash"].reason == "its process ended itself with exit code 7"
    assert tried["variant:none"].outcome == "not-applicable"
    assert tried["inference-mode"].max_relative_difference == 0
    assert tried["variant:same"].outcome in ("faster", "slower", "within-noise")
    # What was tried is in the manifest on disk, beside a record of the pass.
    again = Recording.open(recorded.path).manifest.cases[0]
    assert {one.name for one in again.alternatives} == set(tried)
    assert again.pass_record("alternatives") is not None


def test_one_that_hangs_or_wants_all_memory_costs_only_itself_and_wrong_results_are_said(
    recording: tuple[Recording, Path],
) -> None:
    recorded, workload = recording
    names = {"one": ("variant:hang", "variant:greedy", "variant:wrong")}
    after = try_alternatives(recorded, workload, names, timeout_s=20.0)
    tried = {one.name: one for one in after.manifest.cases[0].alternatives}

    assert tried["variant:hang"].outcome == "failed"
    assert tried["variant:hang"].reason == "not done after 20 s, the limit of one alternative"
    assert tried["variant:greedy"].outcome == "failed"
    assert "memory" in (tried["variant:greedy"].reason or "")
    # Twice the output: off by all of its norm. Its time is measured all the same.
    assert tried["variant:wrong"].max_relative_difference == pytest.approx(1.0)
    assert tried["variant:wrong"].outcome in ("faster", "slower", "within-noise")


def test_every_name_of_the_closed_list_has_its_edit() -> None:
    assert tuple(EDITS) == ALTERNATIVES
