"""One alternative of one case: blocks of the step as it is and of the step changed, in turn."""

from __future__ import annotations

import copy
import dataclasses
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch

from reportgen.recording import AlternativeOutcome, RecordedAlternative
from reportgen.runner.alternatives.edits import Edit
from reportgen.runner.alternatives.outputs import max_relative_difference, tensors_of
from reportgen.runner.failures import NotApplicableError
from reportgen.runner.stepping import Clock, Stepper, time_block, time_step
from reportgen.workload import Step

# Pairs of blocks, and how long one block is. Neighbouring blocks share what wanders from minute to minute.
NUM_PAIRS = 5
BLOCK_S = 0.25
BLOCK_STEPS = (3, 24)
WARMUP_STEPS = 3
# A step whose shapes grow has only so many first visits; all blocks of a trial fit in one lap with room to spare.
GROWING_BLOCK_STEPS = 8
# Medians that differ by less than this are called the same: neighbouring blocks of one step differ as much.
SAME_WITHIN = 0.03


class Trial:
    """Times an alternative beside the original. `now_s` and the clock are given, so that a test can own the time."""

    def __init__(self, step: Step, clock: Clock, device: torch.device, edit: Edit) -> None:
        self._step = step
        self._device = device
        self._edit = edit
        self._stepper = Stepper(step, clock)
        self._original_us: list[tuple[float, ...]] = []
        self._changed_us: list[tuple[float, ...]] = []

    def run(self, name: str) -> RecordedAlternative:
        """Compare the outputs, then time blocks in turn; what cannot be done raises and is the caller's to record."""
        start = time.perf_counter()
        for _ in range(WARMUP_STEPS):
            time_step(self._stepper)
        difference = self._difference()
        num_steps = self._block_steps()
        self._changed_block(min(num_steps, WARMUP_STEPS))  # compiling and capturing end here
        for _ in range(NUM_PAIRS):
            self._original_us.append(self._block(num_steps))
            self._changed_us.append(self._changed_block(num_steps))
        return RecordedAlternative(
            name=name,
            outcome=judge(self._original_us, self._changed_us),
            original_us=tuple(value for block in self._original_us for value in block),
            changed_us=tuple(value for block in self._changed_us for value in block),
            max_relative_difference=difference,
            seconds=time.perf_counter() - start,
        )

    def _block_steps(self) -> int:
        if self._step.before is not None:
            return GROWING_BLOCK_STEPS
        step_us = time_step(self._stepper)
        least, most = BLOCK_STEPS
        return max(least, min(most, int(BLOCK_S * 1e6 / max(step_us, 1e-3))))

    def _block(self, num_steps: int) -> tuple[float, ...]:
        block = time_block(self._stepper, num_steps)
        return block.latencies_us if self._stepper.is_drained else block.intervals_us

    def _changed_block(self, num_steps: int) -> tuple[float, ...]:
        with self._edit(self._step, self._device) as run:
            self._stepper.step = dataclasses.replace(self._step, run=run)
            try:
                time_step(self._stepper)  # back in the other mode: caches, guards and layouts settle
                return self._block(num_steps)
            finally:
                self._stepper.step = self._step

    def _difference(self) -> float | None:
        """Run the same step as it is and changed, from the same state, and compare what they return."""
        state = _State(self._step)
        before = self._output(self._step.run)
        state.restore()
        with self._edit(self._step, self._device) as run:
            state.restore()  # capturing a graph runs steps
            after = self._output(run)
        state.restore()
        return max_relative_difference(before, after)

    def _output(self, run: Callable[[], object]) -> tuple[torch.Tensor, ...]:
        if self._step.before is not None:
            self._stepper.start_lap()
            self._step.before(0)
            self._stepper.index = 1
        torch.manual_seed(0)
        return tensors_of(run())


class _State:
    """The model's and the optimizer's state, to be put back after a step that changes it."""

    def __init__(self, step: Step) -> None:
        self._step = step
        self._optimizer: Any = None
        self._model: dict[str, torch.Tensor] = {}
        if step.optimizer is not None:
            self._model = {name: tensor.detach().clone() for name, tensor in step.model.state_dict().items()}
            self._optimizer = copy.deepcopy(step.optimizer.state_dict())

    def restore(self) -> None:
        if self._optimizer is None:
            return
        with torch.no_grad():
            for name, tensor in self._step.model.state_dict().items():
                tensor.copy_(self._model[name])
        self._step.optimizer.load_state_dict(copy.deepcopy(self._optimizer))


def judge(original_us: list[tuple[float, ...]], changed_us: list[tuple[float, ...]]) -> AlternativeOutcome:
    """Call the change faster or slower where the median of the paired blocks' ratios is, and most pairs agree.

    A pair is a block of the step as it is and the block of the changed one right after it. All but one pair must agree
    on the sign, and the median ratio must differ from 1 by more than `SAME_WITHIN`.
    """
    ratios = [
        statistics.median(before) / statistics.median(after)
        for before, after in zip(original_us, changed_us, strict=True)
        if before and after
    ]
    if not ratios:
        raise NotApplicableError("no block of it could be timed")
    ratio = statistics.median(ratios)
    agreeing = sum((one > 1) == (ratio > 1) for one in ratios)
    if abs(ratio - 1) <= SAME_WITHIN or agreeing < len(ratios) - 1:
        return "within-noise"
    return "faster" if ratio > 1 else "slower"
