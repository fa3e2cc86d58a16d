"""What runs beside what on a device: concurrency, and how much of copies and communication is hidden."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.arithmetic.spans import overlap_ns
from reportgen.analysis.model import Streams
from reportgen.analysis.steps.window import durations_ns
from reportgen.analysis.totals.device_time import busy_spans, on_main_device
from reportgen.trace.columns import ActivityKind

if TYPE_CHECKING:
    from reportgen.analysis.steps.window import Counted
    from reportgen.trace.columns import Trace


def measure_streams(trace: Trace, counted: Counted) -> Streams | None:
    """Measure overlap between streams; None where no device activity was recorded.

    A copy is hidden where a computing kernel runs at the same time, communication likewise. Times are unions, so that
    two copies side by side count once.
    """
    own = on_main_device(trace, counted)
    if not own.any():
        return None
    activities = trace.activities
    copies = busy_spans(trace, own & (activities.kind == ActivityKind.COPY))
    communication = busy_spans(trace, own & activities.communication)
    compute = busy_spans(trace, own & (activities.kind == ActivityKind.KERNEL) & ~activities.communication)
    busy = busy_spans(trace, own).total_ns

    def per_step(total_ns: int) -> float:
        return total_ns / 1e3 / counted.num_steps

    return Streams(
        num_streams=len(np.unique(activities.stream[own])),
        concurrency=float(durations_ns(activities)[own].sum() / busy) if busy else None,
        copy_us_per_step=per_step(copies.total_ns),
        copy_hidden_us_per_step=per_step(overlap_ns(copies, compute)),
        communication_us_per_step=per_step(communication.total_ns),
        communication_hidden_us_per_step=per_step(overlap_ns(communication, compute)),
    )
