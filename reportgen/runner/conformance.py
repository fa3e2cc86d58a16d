"""Does a workload keep what `Step` and `Case` promise? For authors, on the command line or from a test of their own.

python -m reportgen.runner.conformance my_workload.py --set preset=tiny --set batch=2
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import torch

from reportgen.errors import ReportgenError
from reportgen.runner.alternatives.outputs import remembers_autograd, tensors_of
from reportgen.runner.failures import explain
from reportgen.workload import Case, Outline, Step, Workload, load_workload, read_outline, select_cases
from reportgen.workload.modules import NotLiteral


def check_workload(path: Path, settings: Sequence[str] = (), device: str = "cpu") -> tuple[str, ...]:
    """Build every case and variant of the workload in `path`, run a few steps, and return what is wrong, a line each.

    `settings` are those of ``--set``; one that no case declares is left out, so that one list fits many workloads.
    What the module, `build` or a step raises is one of the things that are wrong.
    """
    problems: list[str] = []
    with _telling(problems, path):
        problems += _outline_problems(path)
        workload = load_workload(path)
        declared = {key for case in workload.cases for key in case.parameters}
        fitting = [text for text in settings if text.partition("=")[0].rpartition(".")[2] in declared]
        for case in select_cases(workload.cases, settings=fitting):
            problems += check_case(workload, case, torch.device(device), path)
    return tuple(problems)


def check_case(workload: Workload, case: Case, device: torch.device, path: Path) -> tuple[str, ...]:
    """Build `case` and its variants, run a few steps of each, and return what is wrong; `path` is the module's."""
    problems: list[str] = []
    with _telling(problems, path):
        problems += _step_problems(workload.build, case, device)
    if not problems:
        for name, build in workload.variants.items():
            found: list[str] = []
            with _telling(found, path):
                found += _step_problems(build, case, device)
            problems += [f"variant {name}: {text}" for text in found]
    return tuple(f"case {case.name}: {text}" for text in problems)


@contextlib.contextmanager
def _telling(problems: list[str], path: Path) -> Iterator[None]:
    """Put what the block raises down as one of the `problems` of the module in `path`."""
    try:
        yield
    except ReportgenError as error:
        problems.append(str(error))
    except Exception as error:  # noqa: BLE001 (a boundary, docs/design.md: what an author is to be told)
        problems.append(explain(error, path))


def _outline_problems(path: Path) -> Iterator[str]:
    outline: Outline
    try:
        outline = read_outline(path)
    except NotLiteral as error:
        yield f"the cases are known only when the module runs: {error}"
        return
    if not outline.description.strip() or "\n" in outline.description:
        yield "description: write one line that says what the workload is"


def _step_problems(build: Callable[[Case, torch.device], Step], case: Case, device: torch.device) -> list[str]:
    step = build(case, device)
    if not isinstance(step, Step):
        return [f"build() returned {type(step).__name__}, not a Step"]
    problems = list(_declaration_problems(step, case))
    before = _parameters(step) if case.phase == "train" else []
    first = _run(step, 0)
    first_shapes = _shapes(first)  # now, since what it holds may grow
    _run(step, 1)
    if case.phase == "train":
        changed = any(not torch.equal(old, new) for old, new in zip(before, _parameters(step), strict=True))
        if not changed:
            problems.append("a training step changed no parameter in two steps")
    elif remembers_autograd(first):
        problems.append("its output remembers how it was made: run it under torch.inference_mode()")
    if step.before is not None and _shapes(_run(step, 0)) != first_shapes:
        problems.append("before(0) does not go back: its second lap begins with other shapes than the first")
    return problems


def _declaration_problems(step: Step, case: Case) -> Iterator[str]:
    if not isinstance(step.model, torch.nn.Module):
        yield f"Step(model=): {type(step.model).__name__} is no torch.nn.Module: its parameters cannot be told"
    if case.phase == "train" and step.optimizer is None:
        yield "Step(optimizer=): a training step has one; without it its state counts as activations"
    if step.tokens is None and step.samples is None:
        yield "Step(tokens= or samples=): say how much a step does, or there is no throughput"
    missing = [word for word in ("weights", "inputs") if word not in step.provenance]
    if missing:
        yield f"Step(provenance=): say of the {' and the '.join(missing)} whether they are real or made up"


def _run(step: Step, index: int) -> object:
    if step.before is not None:
        step.before(index)
    return step.run()


def _parameters(step: Step) -> list[torch.Tensor]:
    return [parameter.detach().clone() for parameter in step.model.parameters() if parameter.requires_grad]


def _shapes(output: object) -> list[torch.Size]:
    return [tensor.shape for tensor in tensors_of(output)]


def main(words: Sequence[str] | None = None) -> int:
    """Check the workload that `words` name, print what is wrong, and return 1 where something is."""
    parser = argparse.ArgumentParser(prog="python -m reportgen.runner.conformance", description=__doc__)
    parser.add_argument("workload", type=Path)
    parser.add_argument("--set", action="append", default=[], dest="settings", metavar="[CASE.]KEY=VALUE")
    parser.add_argument("--device", default="cpu")
    parsed = parser.parse_args(words)
    problems = check_workload(parsed.workload.resolve(), parsed.settings, parsed.device)
    print("\n".join(problems) or f"{parsed.workload.name}: nothing wrong")  # noqa: T201 - a command prints
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
