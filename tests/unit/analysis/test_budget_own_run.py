"""A real run without a device: the host is the device, and the parts are those of the unprofiled step."""

from __future__ import annotations

import textwrap

import pytest

from reportgen.analysis.case import CaseInputs
from reportgen.analysis.model import CaseAnalysis
from reportgen.recording import Recording
from reportgen.trace.reader import read_trace
from tests.analyzing import analyze_case
from tests.planted import budget_of, gaps_of, parts_us

pytestmark = pytest.mark.torch

WORKLOAD = """
    import time

    import torch
    from reportgen import Case, Step, Workload

    def pause(ms):
        time.sleep(ms / 1e3)

    def build(case, device):
        weight = torch.ones(512, 512, device=device)

        def run():
            product = weight @ weight
            pause(case.pause_ms)
            return product @ weight

        return Step(run, model=None)

    WORKLOAD = Workload(
        name="pausing",
        description="Two products, with a pause between them",
        cases=(
            Case("paused", phase="forward", pause_ms=20),
        ),
        build=build,
    )
"""


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """A run on the CPU."""
    pytest.importorskip("torch")
    from reportgen.runner.run import RunOptions, record

    folder = tmp_path_factory.mktemp("pausing")
    (folder / "pausing.py").write_text(textwrap.dedent(WORKLOAD))
    return record(folder / "pausing.py", lambda *_: folder / "recording", RunOptions(device="cpu"))


def analyzed(recording: Recording) -> CaseAnalysis:
    (case,) = recording.manifest.cases
    timeline, detail = (recording.trace_path(case, kind) for kind in ("timeline", "detail"))
    return analyze_case(
        CaseInputs(
            name=case.name,
            device=case.device,
            recorded=case,
            timeline=read_trace(timeline) if timeline else None,
            detail=read_trace(detail) if detail else None,
        )
    )


def test_parts_sum_to_the_unprofiled_step(recording: Recording) -> None:
    case = analyzed(recording)
    budget = budget_of(case)

    assert case.device_kind == "host"
    assert budget.basis == "unprofiled"
    assert case.timing is not None
    assert budget.step_us == case.timing.step_us
    assert sum(row.us_per_step for row in budget.parts) == pytest.approx(budget.step_us, rel=1e-6)
    assert all(row.us_per_step >= 0 for row in budget.parts)
    parts = parts_us(case)
    assert parts["unexplained"] < 0.05 * budget.step_us
    assert parts["profiler"] == 0
    assert parts["compute"] > 0
    assert case.launching is None  # nobody is launched to


def test_a_pause_is_a_stall_in_the_function_that_the_detail_pass_saw(recording: Recording) -> None:
    case = analyzed(recording)

    # A busy machine wakes a sleeper late, with the profiler or without it; what the profiled steps took longer for that
    # is taken out, in the end from the pause as well.
    stall_us, step_us = parts_us(case)["stall"], budget_of(case).step_us
    assert case.timing is not None
    longer_us = max(0.0, (case.timing.profiled_step_us.timeline or step_us) - step_us)
    assert 18_000 - longer_us < stall_us < step_us
    first = gaps_of(case).items[0]
    assert first.cause == "stall"
    assert first.source is not None
    assert (first.source.function, first.source.line_kind) == ("pause", "def")
    waiting = {row.function: row.waiting_us_per_step for row in case.sources.items}
    assert waiting["pause"] == pytest.approx(stall_us, rel=0.1)
