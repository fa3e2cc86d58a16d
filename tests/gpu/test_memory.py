"""Memory of a recorded run beside what torch itself counts in a run without any profiler, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.gpu, pytest.mark.torch]
WORKLOAD = Path(__file__).parent / "workloads" / "memory_cases.py"
ROOT = Path(__file__).parents[2]
CASES = ("decode", "train", "naive-attention")

# Counts as plainly as can be: warm steps, then the counters of those that follow. Going back to the start of a lap is
# no part of a step, and holds two caches for a moment.
COUNTING = """
import json, pathlib, sys, torch
from reportgen.workload import load_workload
workload = load_workload(pathlib.Path(sys.argv[1]))
case = next(case for case in workload.cases if case.name == sys.argv[2])
device = torch.device("cuda")
step = workload.build(case, device)
def steps(first, last):
    for index in range(first, last):
        if step.before is not None:
            step.before(index)
        step.run()
    torch.cuda.synchronize()
steps(0, 20)
torch.cuda.reset_peak_memory_stats()
steps(20, 40)
def total(tensors):
    return sum({it.data_ptr(): it.untyped_storage().nbytes() for it in tensors if it.is_cuda}.values())
trained = [it for it in step.model.parameters() if it.requires_grad]
states = getattr(step.optimizer, "state", {}).values()
state = [it for values in states for it in values.values() if torch.is_tensor(it)]
print(json.dumps({
    "peak": torch.cuda.max_memory_allocated(),
    "parameters": total([*step.model.parameters(), *step.model.buffers()]),
    "gradients": total(trained) if step.optimizer else 0,
    "optimizer": total(state),
}))
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the report of a run of all cases."""
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("needs an NVIDIA GPU")
    folder = tmp_path_factory.mktemp("reports")
    command = [sys.executable, "-m", "reportgen", str(WORKLOAD), "-o", str(folder), "--format", "json", "--try", "none"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (path,) = folder.glob("*/report.json")
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def memory_of(report: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(case["memory"] for case in report["cases"] if case["name"] == name)
    return found


@cache
def counted(name: str) -> dict[str, int]:
    command = [sys.executable, "-c", COUNTING, str(WORKLOAD), name]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    numbers: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return numbers


def at_peak(memory: dict[str, Any]) -> dict[str, int]:
    return {share["category"]: share["bytes"] for share in memory["at_peak"]}


@pytest.mark.parametrize("name", CASES)
def test_the_peak_is_that_of_a_run_without_the_profiler(report: dict[str, Any], name: str) -> None:
    memory = memory_of(report, name)

    assert memory["basis"] == "unprofiled"
    assert memory["peak_allocated_bytes"] == pytest.approx(counted(name)["peak"], rel=0.01)
    # What the history adds up to is the same peak.
    assert memory["at_peak_basis"] == "snapshot"
    assert memory["at_peak_bytes"] == pytest.approx(memory["peak_allocated_bytes"], rel=0.01)


@pytest.mark.parametrize("name", CASES)
def test_parameters_gradients_and_state_are_the_sums_counted_from_model_and_optimizer(
    report: dict[str, Any], name: str
) -> None:
    shares, sums = at_peak(memory_of(report, name)), counted(name)

    for category in ("parameters", "gradients", "optimizer"):
        assert shares.get(category, 0) == pytest.approx(sums[category], rel=0.01), category


@pytest.mark.parametrize("name", CASES)
def test_less_than_a_tenth_of_the_peak_is_unknown(report: dict[str, Any], name: str) -> None:
    memory = memory_of(report, name)

    assert at_peak(memory).get("unknown", 0) < 0.1 * memory["at_peak_bytes"]


def test_whole_matrices_are_a_spike_at_their_line(report: dict[str, Any]) -> None:
    spikes = memory_of(report, "naive-attention")["spikes"]

    assert [spike["source"]["function"] for spike in spikes] == ["attend"]
    line = WORKLOAD.read_text().splitlines()[spikes[0]["source"]["line"] - 1]
    assert spikes[0]["source"]["line_kind"] == "call"
    assert "softmax" in line or "scores =" in line
    # The scores are the same blocks: told by the finding about the attention that writes them.
    told = [(finding["rule"], *finding["merged"]) for finding in report["findings"]]
    assert [rules for rules in told if "allocation-spike" in rules] == [
        rules for rules in told if rules[0] == "attention-unfused"
    ]
    assert {finding["rule"] for finding in report["findings"] if finding["checklist_step"] == 3} <= {"allocation-spike"}


@pytest.mark.parametrize("name", ["decode", "train"])
def test_neither_a_cache_nor_a_training_step_leaks(report: dict[str, Any], name: str) -> None:
    growth = memory_of(report, name)["growth"]

    assert growth["kind"] == ("cache" if name == "decode" else "none")
    if name == "decode":
        # 8 layers, keys and values, 1024 numbers of 2 bytes.
        assert growth["bytes_per_step"] == 8 * 2 * 1024 * 2
