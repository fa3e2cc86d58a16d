"""One alternative, tried inside a child process of its own."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Iterator
from pathlib import Path

import torch

from reportgen.recording import VARIANT_PREFIX, RecordedAlternative
from reportgen.runner.alternatives.edits import EDITS, Edit, Run
from reportgen.runner.alternatives.trial import Trial
from reportgen.runner.clocks import clock_of
from reportgen.runner.failures import NotApplicableError, explain
from reportgen.runner.messages import AlternativeRequest, AlternativeTried
from reportgen.workload import Case, Step, Workload, load_workload


def try_alternative(request: AlternativeRequest) -> AlternativeTried:
    """Build the case, try the alternative, and say what became of it; whatever it raises is its outcome."""
    try:
        return AlternativeTried(alternative=_tried(request))
    except NotApplicableError as error:
        outcome = RecordedAlternative(name=request.name, outcome="not-applicable", reason=str(error))
    except Exception as error:  # noqa: BLE001 (a boundary, docs/design.md: an alternative that fails costs only itself)
        traceback.print_exc()
        reason = explain(error, Path(request.workload))
        outcome = RecordedAlternative(name=request.name, outcome="failed", reason=reason)
    return AlternativeTried(alternative=outcome)


def _tried(request: AlternativeRequest) -> RecordedAlternative:
    device = torch.device(request.device)
    if device.type == "cuda":
        torch.cuda.set_device(device)
    workload = load_workload(Path(request.workload))
    case = Case(request.case.name, phase=request.case.phase, **request.case.parameters)
    edit = _edit(request.name, workload, case)
    torch.manual_seed(0)
    step = workload.build(case, device)
    return Trial(step, clock_of(device), device, edit).run(request.name)


def _edit(name: str, workload: Workload, case: Case) -> Edit:
    if name in EDITS:
        return EDITS[name]()
    variant = name.removeprefix(VARIANT_PREFIX)
    if not name.startswith(VARIANT_PREFIX) or variant not in workload.variants:
        raise NotApplicableError(f"workload {workload.name!r} has no variant {variant!r}")
    return _Variant(workload, case, variant)


class _Variant:
    """The step that another of the workload's functions builds."""

    def __init__(self, workload: Workload, case: Case, name: str) -> None:
        self._build = workload.variants[name]
        self._case = case
        self._step: Step | None = None

    @contextlib.contextmanager
    def __call__(self, step: Step, device: torch.device) -> Iterator[Run]:
        """Build the variant on first use; it prepares its steps itself."""
        if step.before is not None:
            raise NotApplicableError("a variant of a step with before() is not timed")
        if self._step is None:
            torch.manual_seed(0)
            self._step = self._build(self._case, device)
        yield self._step.run
