"""Checks of what the host recorded: steps, operators, stacks, shapes, memory, FLOPs, ranks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from reportgen import formatting as fmt
from reportgen.trace.call_names import match_names
from reportgen.trace.calltree import nearest_with
from reportgen.trace.columns import TraceNotice
from reportgen.trace.coverage import of_operators, share_of_launched

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reportgen.trace.columns import Trace

# Codes of what only a detailed recording has. Where one stands beside a light trace, they say nothing about the light.
DETAIL_CODES = frozenset({"stacks-not-recorded", "shapes-not-recorded", "memory-not-recorded"})
# Shares above this count as whole: a fill or a copy without shapes is no gap in the record.
_AS_GOOD_AS_ALL = 0.99
# FLOP/s that no device reaches in any type; the fastest single devices announced stay under 2e16.
_IMPOSSIBLE_FLOPS_PER_S = 1e17
_PROFILERS_OWN = re.compile(r"buffer (request|flush)|flush|instrumentation|resource", re.IGNORECASE)


def find_missing_steps(trace: Trace) -> TraceNotice | None:
    """Say that no step was marked."""
    if len(trace.steps.number):
        return None
    return TraceNotice(
        code="steps-not-marked",
        text="No step is marked: the whole window counts as one step. Call the profiler's step() after each step.",
    )


def find_missing_operators(trace: Trace) -> TraceNotice | None:
    """Say that no operator was recorded, though frames, calls or activities were."""
    if len(trace.operators.name):
        return None
    # Marks of steps come from the host: what it did was recorded, as in replays of a graph.
    if len(trace.steps.start_ns):
        text = "No operator was called in the window: what ran was launched without one."
    else:
        text = (
            "No operator was recorded: none was called in the window, or the CPU's activities were left out. "
            "Record with ProfilerActivity.CPU."
        )
    return TraceNotice(code="operators-not-recorded", text=text)


def find_missing_stacks(trace: Trace) -> TraceNotice | None:
    """Say that no Python frame was recorded, or for which share of device time none was open."""
    share = trace.coverage.stacks
    if not len(trace.frames.name):
        return TraceNotice(
            code="stacks-not-recorded",
            text="No Python stacks were recorded: source lines are left out. Record with with_stack=True.",
        )
    if share is None or share >= _AS_GOOD_AS_ALL:
        return None
    return TraceNotice(
        code="stacks-partial",
        text=f"Python stacks are known for {_of_device_time(share)}: the rest was launched by threads on "
        "which no Python was recorded.",
        share=share,
    )


def find_missing_shapes(trace: Trace) -> TraceNotice | None:
    """Say that no shapes were recorded, or for which share of device time they were."""
    if not len(trace.operators.name):
        return None
    if not any(signature.shapes is not None for signature in trace.signatures):
        return TraceNotice(
            code="shapes-not-recorded",
            text="No shapes were recorded: roofline and bounds are left out. Record with record_shapes=True.",
        )
    share = trace.coverage.shapes
    if share is None or share >= _AS_GOOD_AS_ALL:
        return None
    return TraceNotice(
        code="shapes-partial",
        text=f"Shapes are recorded for {_of_device_time(share)}: what has no operator or bypasses PyTorch's "
        "dispatcher has none, and no roofline.",
        share=share,
    )


def find_missing_memory(trace: Trace) -> TraceNotice | None:
    """Say that no allocation (of the device, where there is one) was recorded."""
    on_device = trace.memory.device_type > 0
    if on_device.any() or (len(on_device) and not trace.device_expected):
        return None
    whose = "device memory" if trace.device_expected else "memory"
    return TraceNotice(
        code="memory-not-recorded",
        text=f"No allocation of {whose} was recorded: the high-water mark and its causes are left out. "
        "Record with profile_memory=True.",
    )


def find_partial_flops(trace: Trace) -> TraceNotice | None:
    """Give the share of device time whose operators the profiler counted FLOPs for, where it counted any."""
    counted = trace.operators.flops > 0
    covered = of_operators(trace, nearest_with(trace.operators.parent, counted) >= 0)
    share = share_of_launched(trace, covered)
    if not counted.any() or share is None or share >= _AS_GOOD_AS_ALL:
        return None
    return TraceNotice(
        code="flops-partial",
        text=f"The profiler counted FLOPs for operators with {_of_device_time(share)}: its sums are partial.",
        share=share,
    )


def find_impossible_flops(trace: Trace) -> TraceNotice | None:
    """Count operators whose FLOPs no device can do in the device time (without a device: the host time) they took."""
    operators = trace.operators
    seconds = _seconds_of_counted(trace)
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = np.where(seconds > 0, operators.flops / seconds, 0.0)
    impossible = np.flatnonzero(rate > _IMPOSSIBLE_FLOPS_PER_S)
    if not impossible.size:
        return None
    worst = int(impossible[rate[impossible].argmax()])
    count, name = len(impossible), trace.names[operators.name[worst]]
    return TraceNotice(
        code="flops-impossible",
        text=f"{fmt.plural(count, 'operator')} {fmt.noun(count, 'claims', 'claim')} more FLOPs than any device can do "
        f"in the time, {name} {fmt.flop_rate(float(rate[worst]))}: the profiler's counts are wrong.",
        count=count,
        affects_conclusions=True,
    )


def _seconds_of_counted(trace: Trace) -> NDArray[np.float64]:
    """Give, for each operator with FLOPs, the time of all that was launched under it."""
    operators, activities = trace.operators, trace.activities
    if not trace.device_expected:
        return (operators.end_ns - operators.start_ns) / 1e9
    counted = nearest_with(operators.parent, operators.flops > 0)
    owner = np.append(counted, -1)[activities.operator]
    duration = (activities.end_ns - activities.start_ns)[owner >= 0]
    return np.bincount(owner[owner >= 0], weights=duration, minlength=len(operators.name)) / 1e9


def find_broken_stacks(trace: Trace) -> TraceNotice | None:
    """Count Python frames that outlive the frame they were called from."""
    parent, end = trace.frames.parent, trace.frames.end_ns
    count = int(((parent >= 0) & (end > end[parent])).sum()) if len(end) else 0
    if not count:
        return None
    return TraceNotice(
        code="stacks-broken",
        text=f"{fmt.plural(count, 'Python frame')} {fmt.noun(count, 'outlives', 'outlive')} the frame around: "
        "each is taken as open until its own end.",
        count=count,
        share=count / len(end),
    )


def find_unknown_rank(trace: Trace) -> TraceNotice | None:
    """Say that the job has several ranks and the file does not tell which of them it is."""
    world_size = trace.info.world_size or 1
    if world_size < 2 or trace.info.rank is not None:
        return None
    return TraceNotice(
        code="rank-unknown",
        text=f"The job has {fmt.count(world_size)} ranks, and the trace does not say which of them it is.",
    )


def find_profilers_work(trace: Trace) -> TraceNotice | None:
    """Say how long the profiler reports to have worked for itself."""
    own = match_names(_PROFILERS_OWN, trace.names, trace.overheads.name)
    duration = (trace.overheads.end_ns - trace.overheads.start_ns)[own]
    if not duration.sum():
        return None
    return TraceNotice(
        code="profiler-at-work",
        text=f"The profiler spent {fmt.duration(int(duration.sum()) / 1000)} on buffers of its own in the window: the "
        "calls that it held up are slower than without it.",
        count=len(duration),
    )


def _of_device_time(share: float) -> str:
    return f"{fmt.share(share)} of device time" if share else "none of the device time"


HOST_CHECKS = (
    find_missing_steps,
    find_missing_operators,
    find_missing_stacks,
    find_missing_shapes,
    find_missing_memory,
    find_partial_flops,
    find_impossible_flops,
    find_broken_stacks,
    find_unknown_rank,
    find_profilers_work,
)
