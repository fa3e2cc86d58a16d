"""How the host feeds the device, worked out on paper. Times in µs."""

from __future__ import annotations

from collections.abc import Callable

from reportgen.analysis.model import CaseAnalysis
from tests.planted import gaps_of, launching_of
from tests.trace_builder import Json, kernel, launch, op, span, step

Analyze = Callable[..., CaseAnalysis]


def sparse(num_steps: int = 3, busy: float = 20) -> list[Json]:
    """Return steps of 1000 with ten launches each, all onto an idle device: 4 to return, the kernel 3 later."""
    events: list[Json] = []
    for number in range(num_steps):
        at = 1000 * number
        events += [step(number, at, 1000), op("a", at, 1000)]
        for turn in range(10):
            c = 10 * number + turn + 1
            events += [launch(at + 100 * turn, 4, c), kernel(at + 100 * turn + 7, busy, c)]
    return events


def test_a_host_that_launches_short_kernels_slowly_is_the_limit(analyze: Analyze) -> None:
    case = analyze(*sparse())
    launching = launching_of(case)

    assert launching.launches_per_step == 10
    assert launching.latency_us == 3
    assert launching.median_lead_us == 3
    assert launching.median_activity_us == 20
    # All but the last, which no launch follows.
    assert launching.short_kernels_per_step == 29 / 3
    assert launching.blocked_us_per_step == 0
    # Ten launches and an operator cost 13 to 38.6 to record: the host has more than 960 of 1000, the device 200.
    assert launching.host_low_us is not None
    assert launching.host_high_us is not None
    assert 960 < launching.host_low_us < launching.host_high_us < 988
    assert launching.verdict == "host-bound"
    # From a launch's start to its kernel's, 7.
    assert gaps_of(case).threshold_us == 7


def test_a_host_that_is_done_early_is_not_the_limit(analyze: Analyze) -> None:
    events: list[Json] = []
    for number in range(3):
        at = 100 * number
        events += [step(number, at, 100), launch(at + 10, 4, number + 1), kernel(1000 * number + 20, 1000, number + 1)]
    launching = launching_of(analyze(*events))

    # A step takes the host 100 at most, the device 1000. Leads: 6, 906 and 1806.
    assert launching.verdict == "device-bound"
    assert launching.median_lead_us == 906
    assert launching.latency_us is None  # one launch onto an idle device is chance
    assert launching.short_kernels_per_step == 0


def test_between_the_bounds_of_the_profilers_share_nothing_is_decided(analyze: Analyze) -> None:
    # The device works 950 of each 1000, the host about 975: neither 1.1 times as long nor shorter.
    assert launching_of(analyze(*sparse(busy=95))).verdict == "undecided"


def test_a_synchronization_is_no_work_of_the_host(analyze: Analyze) -> None:
    events = sparse(busy=20)
    # In each step the host waits from 904 to 990: its own time is less by 86.
    waits = [span("cuda_runtime", "cudaStreamSynchronize", 1000 * number + 904, 86) for number in range(3)]
    without, beside = launching_of(analyze(*events)), launching_of(analyze(*events, *waits))

    assert without.host_high_us is not None
    assert beside.host_high_us is not None
    assert 86 < without.host_high_us - beside.host_high_us < 90  # and what recording the call cost


def test_a_launch_that_the_queue_held_up_is_blocked(analyze: Analyze) -> None:
    events: list[Json] = [step(0, 0, 2000)]
    events += [launch(10 * turn, 4, turn + 1) for turn in range(20)]
    events += [kernel(20 + 100 * turn, 100, turn + 1) for turn in range(20)]
    # It takes 500 in which the device is busy throughout; an ordinary one 4.
    events += [launch(300, 500, 50), kernel(2020, 10, 50)]
    launching = launching_of(analyze(*events))

    assert launching.blocked_us_per_step == 496
