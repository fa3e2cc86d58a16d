"""Links: activity -> launch -> operator -> Python frame and step.

An activity belongs to the call with its correlation id, the call to the innermost operator open on its thread at that
moment, the operator to the Python frame around it, and everything to the step that launched it: never to the step in
which it happens to run. What was queued before the window opened belongs to no operator and no step.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from reportgen.trace.autograd import find_forward_operators
from reportgen.trace.call_names import COMMUNICATION, match_names
from reportgen.trace.calltree import CallTree, build_call_tree, nearest_with
from reportgen.trace.columns import (
    Activities,
    ActivityKind,
    Bool,
    Calls,
    Frames,
    Int32,
    Int64,
    MemoryEvents,
    Operators,
    Trace,
)
from reportgen.trace.correlation import count_activities, find_launching_calls, find_queued_before
from reportgen.trace.coverage import measure_coverage
from reportgen.trace.quality import find_flaws
from reportgen.trace.steps import find_step_at, find_steps, find_window_end, find_window_start, separate_step_marks


def link(unlinked: Trace) -> Trace:
    """Fill the links, the steps, the window, the notices and the coverage of a trace whose tables were just read.

    The tables must be sorted by start (ties: the longer first); notices that are already there are kept.
    """
    unlinked = separate_step_marks(unlinked)
    operator_tree = build_call_tree(*_spans(unlinked.operators))
    frame_tree = build_call_tree(*_spans(unlinked.frames))
    trace = dataclasses.replace(
        unlinked,
        steps=find_steps(unlinked.annotations, unlinked.names),
        frames=dataclasses.replace(unlinked.frames, parent=frame_tree.parent),
    )
    opened_ns = find_window_start(trace)
    launching = find_launching_calls(trace.activities, trace.calls, trace.threads)
    queued_before = find_queued_before(opened_ns, trace.activities, launching, trace.calls)
    calls = _link_calls(trace, operator_tree, frame_tree, launching)
    linked = dataclasses.replace(
        trace,
        operators=_link_operators(trace, operator_tree, frame_tree),
        calls=calls,
        memory=_link_memory(trace, operator_tree, frame_tree),
        activities=_link_activities(trace, calls, launching, queued_before, operator_tree.parent),
        window_start_ns=opened_ns,
        window_end_ns=find_window_end(trace, opened_ns, launching, queued_before),
        device_expected=_shows_a_device(trace),
        device_recorded=len(trace.activities.start_ns) > 0,
    )
    measured = dataclasses.replace(linked, coverage=measure_coverage(linked))
    return dataclasses.replace(measured, notices=(*unlinked.notices, *find_flaws(measured)))


def _shows_a_device(trace: Trace) -> bool:
    """Tell whether a device, a call of its runtime or an event of its memory shows that there was one."""
    on_device = bool((trace.memory.device_type > 0).any())
    return bool(trace.info.devices) or len(trace.calls.start_ns) > 0 or len(trace.activities.start_ns) > 0 or on_device


def _spans(table: Operators | Frames) -> tuple[Int64, Int64, Int32]:
    return table.start_ns, table.end_ns, table.thread


def _link_operators(trace: Trace, operator_tree: CallTree, frame_tree: CallTree) -> Operators:
    operators = trace.operators
    return dataclasses.replace(
        operators,
        parent=operator_tree.parent,
        frame=frame_tree.innermost_open(operators.thread, operators.start_ns),
        step=find_step_at(trace.steps, operators.start_ns),
        forward=find_forward_operators(operators),
    )


def _link_calls(trace: Trace, operator_tree: CallTree, frame_tree: CallTree, launching: Int32) -> Calls:
    calls = trace.calls
    num_activities = count_activities(launching, len(calls.start_ns))
    return dataclasses.replace(
        calls,
        is_launch=num_activities > 0,
        num_activities=num_activities,
        operator=operator_tree.innermost_open(calls.thread, calls.start_ns),
        frame=frame_tree.innermost_open(calls.thread, calls.start_ns),
        step=find_step_at(trace.steps, calls.start_ns),
    )


def _link_memory(trace: Trace, operator_tree: CallTree, frame_tree: CallTree) -> MemoryEvents:
    memory = trace.memory
    return dataclasses.replace(
        memory,
        operator=operator_tree.innermost_open(memory.thread, memory.time_ns),
        frame=frame_tree.innermost_open(memory.thread, memory.time_ns),
        step=find_step_at(trace.steps, memory.time_ns),
    )


def _link_activities(
    trace: Trace, calls: Calls, launching: Int32, queued_before: Bool, operator_parent: Int32
) -> Activities:
    activities = trace.activities
    owned = (launching >= 0) & ~queued_before
    operator = np.full(len(launching), -1, dtype=np.int32)
    operator[owned] = calls.operator[launching[owned]]
    step = np.full(len(launching), -1, dtype=np.int32)
    step[owned] = calls.step[launching[owned]]
    communication = (activities.kind == ActivityKind.KERNEL) & match_names(COMMUNICATION, trace.names, activities.name)
    return dataclasses.replace(
        activities,
        call=launching,
        operator=operator,
        step=step,
        before_window=queued_before,
        communication=communication,
        process_group=_process_groups(trace, communication, operator, operator_parent),
    )


def _process_groups(trace: Trace, communication: Bool, operator: Int32, operator_parent: Int32) -> Int32:
    """Give the group that a communication kernel names, else the one that the operator around its launch does."""
    recorded = trace.operators.process_group
    around = np.append(nearest_with(operator_parent, recorded >= 0), -1)[operator]
    group = np.where((around >= 0) & communication, np.append(recorded, -1)[around], -1)
    own = trace.activities.process_group
    return np.where(own >= 0, own, group).astype(np.int32)
