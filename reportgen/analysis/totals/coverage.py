"""How much of the device time carries each kind of information."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.model import Coverage
from reportgen.analysis.steps.window import durations_ns

if TYPE_CHECKING:
    from reportgen.analysis.attribution.attribution import Attribution
    from reportgen.analysis.steps.window import Counted
    from reportgen.trace.columns import Bool


def measure_coverage(attribution: Attribution, counted: Counted, work_models: float | None = None) -> Coverage:
    """Return shares of the device time that the steps launched; all None where there is none.

    `work_models` is the share that work models cover, as the roofline found it.
    """
    duration = np.where(counted.activities, durations_ns(attribution.timeline.activities), 0)
    whole = int(duration.sum())
    if whole == 0:
        return Coverage()

    def share(carries: Bool) -> float:
        return int(duration[carries].sum()) / whole

    has_shapes = np.array(
        [group.signature is not None and group.signature.shapes is not None for group in attribution.groups] + [False]
    )
    return Coverage(
        operators=share(attribution.activity_group >= 0),
        shapes=share(has_shapes[attribution.activity_group]),
        stacks=share(attribution.activity_frame >= 0),
        work_models=work_models,
    )
