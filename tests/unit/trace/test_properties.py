"""What holds for every trace, whatever it records: checked on generated ones.

The traces are made of what links them (steps, nested operators, launches, activities on streams), their times whole
microseconds from a small range, so that ties, overlaps, early kernels and orphans are common.
"""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reportgen.analysis.case import CaseInputs
from reportgen.analysis.model import CaseAnalysis
from reportgen.trace.columns import Trace
from reportgen.trace.reader import read_trace
from tests.analyzing import analyze_case
from tests.trace_builder import Json, activity, base, frame, kernel, launch, op, span, step, write_trace
from tests.trace_reading import busy_us, device_us_by_operator

LONGEST_US = 200
times = st.integers(0, LONGEST_US)
lengths = st.integers(0, 60)
names = st.sampled_from(["aten::mm", "aten::add", "aten::copy_"])
threads = st.integers(1, 3)

operators = st.builds(lambda name, ts, dur, tid: op(name, ts, dur, tid=tid), names, times, lengths, threads)
frames = st.builds(
    lambda n, ts, dur, tid: frame(f"train.py({n}): f", ts, dur, tid=tid), st.integers(1, 5), times, lengths, threads
)
work = st.sampled_from(["kernel", "gpu_memcpy", "gpu_memset"])
# What is no work of the device, though it lies beside it.
bystanders = st.builds(
    lambda category, ts, dur: activity(category, "beside", ts, dur, 0),
    st.sampled_from(["cuda_sync", "gpu_user_annotation"]),
    times,
    lengths,
)


@st.composite
def launched(draw: st.DrawFn) -> list[Json]:
    """Return a launch and its activities; either may be missing, as at the edges of a recording."""
    correlation = draw(st.integers(-1, 30))
    events = [
        launch(draw(times), draw(st.integers(0, 5)), correlation, tid=draw(threads))
        for _ in range(draw(st.integers(0, 1)))
    ]
    for _ in range(draw(st.integers(0, 3))):
        events.append(activity(draw(work), "k", draw(times), draw(lengths), correlation, draw(st.integers(7, 9))))
    return events


@st.composite
def marked_steps(draw: st.DrawFn) -> list[Json]:
    """Return up to three steps in a row, with gaps between them."""
    edges = sorted(draw(st.lists(times, max_size=6, unique=True)))
    return [step(n, start, end - start) for n, (start, end) in enumerate(zip(edges[::2], edges[1::2], strict=False))]


@st.composite
def traces(draw: st.DrawFn) -> list[Json]:
    """Return the events of a trace, in no order."""
    parts = [
        draw(marked_steps()),
        draw(st.lists(operators, max_size=8)),
        draw(st.lists(frames, max_size=6)),
        draw(st.lists(bystanders, max_size=2)),
        *draw(st.lists(launched(), max_size=8)),
    ]
    return draw(st.permutations(list(itertools.chain.from_iterable(parts))))


def read(events: list[Json]) -> Trace:
    with tempfile.TemporaryDirectory() as folder:
        return read_trace(write_trace(Path(folder), base(*events)))


def analyzed(trace: Trace) -> CaseAnalysis:
    return analyze_case(CaseInputs(name="trace", timeline=trace, detail=trace))


@given(traces())
@settings(max_examples=60, deadline=None)
def test_the_operators_own_device_times_sum_to_the_linked_device_time(events: list[Json]) -> None:
    trace = read(events)
    activities = trace.activities
    linked = activities.operator >= 0

    linked_us = float((activities.end_ns - activities.start_ns)[linked].sum()) / 1000
    assert sum(device_us_by_operator(trace).values()) == pytest.approx(linked_us)
    assert not (linked & activities.before_window).any()
    # What is linked was launched while its operator was open, and on the operator's thread.
    owner, call = activities.operator[linked], activities.call[linked]
    assert (trace.operators.start_ns[owner] <= trace.calls.start_ns[call]).all()
    assert (trace.operators.end_ns[owner] > trace.calls.start_ns[call]).all()
    assert (trace.operators.thread[owner] == trace.calls.thread[call]).all()


@given(traces())
@settings(max_examples=60, deadline=None)
def test_operators_and_the_unattributed_add_up_to_all_that_the_steps_launched(events: list[Json]) -> None:
    case = analyzed(read(events))
    device = case.device_time
    assert device is not None
    if device.activity_sum_us_per_step is None:
        assert not any(event["cat"] in ("kernel", "gpu_memcpy", "gpu_memset") for event in events)
        return

    of_operators = sum(row.device_us_per_step or 0 for row in case.operators.items) + (case.operators.other_us or 0)
    of_kernels = sum(row.us_per_step for row in case.kernels.items) + (case.kernels.other_us or 0)
    attributed = device.activity_sum_us_per_step * (1 - (device.unattributed_share or 0))
    assert of_operators == pytest.approx(attributed, abs=1e-6)
    assert of_kernels == pytest.approx(device.activity_sum_us_per_step, abs=1e-6)


@given(traces())
@settings(max_examples=60, deadline=None)
def test_the_device_is_busy_no_longer_than_the_window(events: list[Json]) -> None:
    trace = read(events)
    device = analyzed(trace).device_time
    assert device is not None

    owned = ~trace.activities.before_window
    in_window = trace.activities.start_ns[owned] >= trace.window_start_ns
    assert trace.window_end_ns >= trace.window_start_ns
    assert (trace.window_end_ns >= trace.steps.end_ns).all()
    assert busy_us(trace) <= LONGEST_US + 60  # the last end there can be
    if device.busy_us_per_step is not None and device.activity_sum_us_per_step is not None:
        assert 0 <= device.busy_us_per_step <= device.activity_sum_us_per_step + 1e-9
        assert device.busy_share is None or 0 <= device.busy_share <= 1
        assert device.idle_us_per_step is None or device.idle_us_per_step >= 0
        if in_window.all():
            num_steps = max(len(trace.steps.number), 1)
            assert device.busy_us_per_step * num_steps <= (trace.window_end_ns - trace.window_start_ns) / 1000 + 1e-6


def told(trace: Trace) -> dict[str, Any]:
    """Return what a trace says, whatever the order in which it numbers names, threads and rows."""
    activities = trace.activities
    owner = [trace.names[trace.operators.name[row]] if row >= 0 else None for row in activities.operator.tolist()]
    rows = zip(
        activities.start_ns.tolist(), activities.end_ns.tolist(), activities.stream.tolist(), activities.kind.tolist(),
        activities.step.tolist(), activities.before_window.tolist(), owner, strict=True,
    )  # fmt: skip
    return {
        "activities": sorted(rows, key=repr),
        "window": (trace.window_start_ns, trace.window_end_ns),
        "steps": trace.steps.number.tolist(),
        "coverage": trace.coverage,
        "notices": trace.notices,
    }


@st.composite
def reordered(draw: st.DrawFn) -> tuple[list[Json], list[Json]]:
    """Return a trace without ties and the same in another order.

    Two spans of one thread with the same start and end have no order of their own: which is around which, only the
    file's order tells.
    """
    events = draw(traces())
    seen: set[Any] = set()
    distinct = []
    for event in events:
        key = (event["cat"] in ("cpu_op", "python_function"), event["cat"], event["tid"], event["ts"], event["dur"])
        correlation = ("call", event["args"].get("correlation")) if event["cat"] == "cuda_runtime" else key
        if key not in seen and correlation not in seen:
            seen |= {key, correlation}
            distinct.append(event)
    return distinct, draw(st.permutations(distinct))


@given(reordered())
@settings(max_examples=60, deadline=None)
def test_the_order_of_events_changes_nothing(pair: tuple[list[Json], list[Json]]) -> None:
    first, second = pair

    assert told(read(first)) == told(read(second))


def totals(trace: Trace) -> dict[str, Any]:
    activities, notices = trace.activities, {notice.code for notice in trace.notices}
    duration = activities.end_ns - activities.start_ns
    return {
        "by operator": {name: us for name, us in device_us_by_operator(trace).items() if us},
        "by step": np.bincount(activities.step + 1, weights=duration, minlength=5).tolist(),
        "before": int(duration[activities.before_window].sum()),
        "window": (trace.window_start_ns, trace.window_end_ns),
        "codes": notices,
    }


@st.composite
def programs(draw: st.DrawFn) -> list[list[Json]]:
    """Return what may be moved to a thread and a stream of its own: an operator with its launches and activities."""
    stretches = []
    for index in range(draw(st.integers(1, 6))):
        begin, correlation = index * 100, 10 * index + 1
        events = [op(draw(names), begin, 50)]
        if draw(st.booleans()):
            events.append(op(draw(names), begin + 1, 40))
        for n in range(draw(st.integers(0, 3))):
            events.append(launch(begin + 2 + n, 1, correlation + n))
            events.append(kernel(begin + 10 + 20 * n, draw(st.integers(0, 19)), correlation + n))
        stretches.append(events)
    return stretches


def _moved(event: Json, thread: int, stream: int) -> Json:
    if event["cat"] == "kernel":
        return {**event, "tid": stream, "args": {**event["args"], "stream": stream}}
    return {**event, "tid": thread}


@given(programs(), st.lists(st.tuples(threads, st.integers(7, 12)), min_size=6, max_size=6), st.booleans())
@settings(max_examples=60, deadline=None)
def test_spreading_a_trace_over_threads_and_streams_changes_no_total(
    program: list[list[Json]], places: list[tuple[int, int]], marked: bool
) -> None:
    marks = [step(n, 300 * n, 290) for n in range(2)] if marked else [span("user_annotation", "all", 0, 600)]
    together = [event for stretch in program for event in stretch]
    spread = [_moved(event, *place) for stretch, place in zip(program, places, strict=False) for event in stretch]
    first, second = read([*marks, *together]), read([*marks, *spread])

    assert totals(first) == totals(second)
    assert busy_us(first) == busy_us(second)
    assert _numbers(analyzed(first)) == _numbers(analyzed(second))


def _numbers(case: CaseAnalysis) -> list[float | None]:
    device = case.device_time
    assert device is not None
    return [device.busy_us_per_step, device.activity_sum_us_per_step, device.activities_per_step,
            device.before_window_us, device.unattributed_share]  # fmt: skip
