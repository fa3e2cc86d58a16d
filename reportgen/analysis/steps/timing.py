"""How long a step takes: from the timing pass where there is one, else from the trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from reportgen.analysis.model import ProfiledStep, StepTimes, Throughput, Timing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from reportgen.analysis.steps.steps import StepWindow
    from reportgen.recording import RecordedCase, Samples, StepMode


def summarize_timing(
    recorded: RecordedCase | None, timeline: StepWindow | None, detail: StepWindow | None = None
) -> Timing | None:
    """Return the step time of a case, unprofiled where the runner took it, else by the trace's completions.

    `timeline` and `detail` are the steps of those passes; of a foreign trace give `timeline` alone. None where neither
    a timing pass nor a trace tells.
    """
    if recorded is not None and recorded.timing is not None:
        unprofiled = _unprofiled(recorded, timeline, detail)
        if unprofiled is not None:
            return unprofiled
    if timeline is None:
        return None
    return _from_trace(timeline, detail, recorded)


def profiled_step_us(steps: StepWindow | None, mode: StepMode) -> float | None:
    """Return the median step of a trace in `mode`, None where it has no step marks."""
    if steps is None or steps.basis == "window":
        return None
    covered = steps.covered(mode)
    return float(np.median(covered.end_ns - covered.start_ns)) / 1e3


def _unprofiled(recorded: RecordedCase, timeline: StepWindow | None, detail: StepWindow | None) -> Timing | None:
    timing = recorded.timing
    if timing is None:
        return None
    pipelined, drained = _summarize_samples(timing.pipelined), _summarize_samples(timing.drained)
    preferred = pipelined if timing.mode == "pipelined" else drained
    chosen = preferred or pipelined or drained
    if chosen is None:
        return None
    mode: StepMode = "pipelined" if chosen is pipelined else "drained"
    return Timing(
        step_us=chosen.median_us,
        mode=mode,
        basis="unprofiled",
        pipelined=pipelined,
        drained=drained,
        first_step_us=recorded.first_step_us,
        revisit=_summarize_samples(timing.revisit),
        profiled_step_us=ProfiledStep(timeline=profiled_step_us(timeline, mode), detail=profiled_step_us(detail, mode)),
        throughput=_throughput(recorded, chosen.median_us),
    )


def _from_trace(steps: StepWindow, detail: StepWindow | None, recorded: RecordedCase | None) -> Timing:
    """Return the step time by completions: (last - first) / (n - 1), which outliers move, as they move the loop."""
    mode: StepMode = "pipelined"
    if recorded is not None and recorded.timing is not None:
        mode = recorded.timing.mode
    step_us = steps.covered(mode).step_us or None
    by_completion = steps.basis == "completion"
    return Timing(
        step_us=step_us,
        mode=mode,
        basis="trace",
        pipelined=summarize_times(steps.intervals_ns / 1e3) if by_completion else None,
        drained=summarize_times(steps.latencies_ns / 1e3),
        first_step_us=recorded.first_step_us if recorded else None,
        profiled_step_us=ProfiledStep(
            timeline=profiled_step_us(steps, mode) if recorded else None, detail=profiled_step_us(detail, mode)
        ),
        throughput=_throughput(recorded, step_us) if recorded and step_us else None,
    )


def _summarize_samples(samples: Samples | None) -> StepTimes | None:
    if samples is None:
        return None
    times = summarize_times(samples.samples_us, settled=samples.settled)
    told = times is not None and len(samples.starved_us) == times.num_samples
    return msgspec.structs.replace(times, starved_us=samples.starved_us) if times is not None and told else times


def summarize_times(samples_us: Sequence[float] | NDArray[np.float64], *, settled: bool = True) -> StepTimes | None:
    """Return order statistics of step times; None of no sample."""
    values = np.asarray(samples_us, dtype=np.float64)
    if len(values) == 0:
        return None
    p5, median, p95 = np.percentile(values, [5, 50, 95])
    return StepTimes(
        median_us=float(median),
        p5_us=float(p5),
        p95_us=float(p95),
        min_us=float(values.min()),
        max_us=float(values.max()),
        num_samples=len(values),
        samples_us=tuple(values.tolist()),
        settled=settled,
    )


def _throughput(recorded: RecordedCase, step_us: float) -> Throughput | None:
    """Return tokens, else samples, else steps per second of step time; None where that is no time at all."""
    if step_us <= 0:  # a clock that stood still
        return None
    per_second = 1e6 / step_us
    if recorded.tokens_per_step is not None:
        return Throughput(value=recorded.tokens_per_step * per_second, unit="tokens/s")
    if recorded.samples_per_step is not None:
        return Throughput(value=recorded.samples_per_step * per_second, unit="samples/s")
    return Throughput(value=per_second, unit="steps/s")
