"""Stand-in: the step time by completion, until the timing analysis lands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.model import Timing

if TYPE_CHECKING:
    from reportgen.recording import RecordedTiming
    from reportgen.trace.columns import Trace


def summarize_timing(recorded: RecordedTiming | None, trace: Trace) -> Timing | None:
    """Return the step time of the timing pass, else (C_n - C_1) / (n - 1) of the trace."""
    if recorded is not None:
        samples = recorded.pipelined if recorded.mode == "pipelined" else recorded.drained
        if samples is not None:
            return Timing(step_us=float(np.median(samples.samples_us)), mode=recorded.mode, basis="unprofiled")
    completion = trace.steps.end_ns.copy()
    inside = trace.activities.step >= 0
    np.maximum.at(completion, trace.activities.step[inside], trace.activities.end_ns[inside])
    if len(completion) < 2:
        step_ns = trace.window_end_ns - trace.window_start_ns
    else:
        step_ns = (completion[-1] - completion[0]) / (len(completion) - 1)
    return Timing(step_us=float(step_ns) / 1e3, mode="pipelined", basis="trace")
