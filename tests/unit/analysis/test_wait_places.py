from __future__ import annotations

from collections.abc import Callable

import pytest

from reportgen.analysis.model import CaseAnalysis
from tests.trace_builder import frame, kernel, launch, op, step

Analyze = Callable[..., CaseAnalysis]


def test_waits_are_summed_per_cause_and_function(analyze: Analyze) -> None:
    # Four equal steps of 1000 us, covered from the first completion (at 1000, the host's end) to the last (at 4000).
    # In each the host is in `pause` for 600 us; after the launch call (10 us) come 40 us of turnaround and 45 of work,
    # and the 305 us that are left are `train`'s.
    def one(n: int, at: float) -> list[dict[str, object]]:
        return [
            step(n, at, 1000),
            frame("train.py(3): train", at, 1000),
            frame("train.py(9): pause", at + 50, 600),
            op("aten::mm", at + 800, 20),
            launch(at + 805, 10, n),
            kernel(at + 855, 45, n),
        ]

    case = analyze(*(event for n in range(4) for event in one(n + 1, n * 1000)))

    assert case.gaps is not None
    found = {
        (place.cause, place.source and place.source.function): (round(place.us_per_step), place.num_steps)
        for place in case.gaps.places
    }
    assert {place: num_steps for place, (_, num_steps) in found.items()} == dict.fromkeys(found, 3)
    costs_us = {place: us for place, (us, _) in found.items()}
    # What recording cost, 1 to 3 us each, is taken out of launches and frames; nothing else is.
    assert costs_us[("stall", "pause")] == pytest.approx(600, abs=1)
    assert costs_us[("launch", "train")] == pytest.approx(305, abs=5)
    assert costs_us[("launch-call", "train")] == pytest.approx(10, abs=3)
    assert costs_us[("turnaround", "train")] == 40
