"""The runner's step time beside a plain loop's, in one process, blocks in turn."""

from __future__ import annotations

import importlib.util
import statistics
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.gpu
WORKLOAD = Path(__file__).parents[2] / "workloads" / "gpt2.py"
NUM_ROUNDS = 12
BLOCK_STEPS = 40


def test_the_step_time_of_prefill_agrees_with_a_plain_loop() -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("needs an NVIDIA GPU")
    from reportgen.runner.clocks import clock_of
    from reportgen.runner.stepping import Stepper, time_block

    spec = importlib.util.spec_from_file_location("gpt2_workload", WORKLOAD)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    workload = module.WORKLOAD
    step = workload.build(workload.cases[0], torch.device("cuda"))
    stepper = Stepper(step, clock_of(torch.device("cuda")))
    time_block(stepper, BLOCK_STEPS)  # warm

    plain_us, runner_us = [], []
    for _ in range(NUM_ROUNDS):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(BLOCK_STEPS):
            step.run()
        torch.cuda.synchronize()
        plain_us.append((time.perf_counter() - start) / BLOCK_STEPS * 1e6)
        runner_us.append(statistics.median(time_block(stepper, BLOCK_STEPS).intervals_us))

    plain, runner = statistics.median(plain_us), statistics.median(runner_us)
    print(f"plain loop {plain:.0f} us, runner {runner:.0f} us, ratio {runner / plain:.3f}")
    assert abs(runner / plain - 1) < 0.1
