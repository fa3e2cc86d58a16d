"""What kinds of host time the names of calls, frames, operators and overheads stand for.

Names are all that tells here; whether a call launches is known from correlations and not asked of a name.
"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

import numpy as np

from reportgen.trace.call_names import DEVICE_SYNCHRONIZE, SYNCHRONIZE, match_names
from reportgen.trace.columns import CopyDirection

if TYPE_CHECKING:
    from reportgen.trace.columns import Bool, Trace

# A copy without "async" in its name returns when it is done, as does hipMemcpyWithStream.
_BLOCKING_COPY = re.compile(r"^(?:cuda|cu|hip)Mem(?:cpy|_?copy)(?!.*async)", re.IGNORECASE)
# Waits of Level Zero and SYCL.
_OTHER_WAIT = re.compile(r"queue_?finish|^ur_?event_?wait|event_?host_?synchronize", re.IGNORECASE)
_ALLOCATOR = re.compile(
    r"malloc|(?:cuda|cu|hip)_?(?:mem)?_?free|host_?alloc|host_?(?:un)?register"
    r"|mem_?(?:create|map|unmap|release|address_?(?:reserve|free)|set_?access)(?!.*event)"
    r"|usm(?:host|device|shared)alloc|usmfree",
    re.IGNORECASE,
)
_BUILD_CALL = re.compile(
    r"module_?load|library_?load|link_?(?:create|complete|add)|graph_?instantiate|nvrtc|program_?(?:build|compile|link)",
    re.IGNORECASE,
)
_BUILD_OVERHEAD = re.compile(r"lazy function loading|module loading|driver compiler", re.IGNORECASE)
_FULL_QUEUE = re.compile(r"command buffer full", re.IGNORECASE)
# Compilers at work: Dynamo's and Inductor's timed phases, and the functions that only run when something is compiled.
_BUILD_SPAN = re.compile(r"\(dynamo_timed\)", re.IGNORECASE)
_BUILD_FRAME = re.compile(
    r"torch/_dynamo/convert_frame\.py\(\d+\): _compile|torch/_inductor/compile_fx\.py\(\d+\): "
    r"|torch/_inductor/async_compile\.py\(\d+\): wait|triton/compiler/compiler\.py\(\d+\): compile"
    r"|torch/utils/cpp_extension\.py\(\d+\): (?:load|_jit_compile)"
)
_INPUT_SPAN = re.compile(r"^enumerate\((?:DataLoader|DataPipe)\)#|^aten::_?pin_memory$")
_INPUT_FRAME = re.compile(
    r"torch/utils/data/dataloader\.py\(\d+\): (?:__next__|_next_data|_get_data|__iter__)"
    r"|torch/utils/data/_utils/pin_memory\.py\(\d+\): pin_memory"
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class CallKinds:
    """Rows of Trace.calls by what they make the host wait for."""

    synchronizes: Bool  # the program waits for the device, by a call of that purpose
    blocks_on_copy: Bool  # a copy from or to pageable memory, which holds the host until it is done or staged
    allocates: Bool
    builds: Bool

    @property
    def bounds_stretch(self) -> Bool:
        """Return the calls, launches apart, that end a stretch of host code."""
        return self.synchronizes | self.blocks_on_copy | self.allocates | self.builds


def classify_calls(trace: Trace) -> CallKinds:
    """Sort the runtime calls of a trace; the profiler's own synchronizations are in no kind."""
    calls, names = trace.calls, trace.names
    asked = match_names(SYNCHRONIZE, names, calls.name) | match_names(_OTHER_WAIT, names, calls.name)
    asked &= ~_profilers_own(trace)
    return CallKinds(
        synchronizes=asked | match_names(_BLOCKING_COPY, names, calls.name),
        blocks_on_copy=_copies_pageable(trace),
        allocates=match_names(_ALLOCATOR, names, calls.name),
        builds=match_names(_BUILD_CALL, names, calls.name),
    )


def full_queue_overheads(trace: Trace) -> Bool:
    """Return the overheads that say that a launch waited for a full queue, the healthy state of a busy device."""
    return match_names(_FULL_QUEUE, trace.names, trace.overheads.name)


def build_overheads(trace: Trace) -> Bool:
    """Return the overheads that are a first visit's real cost, with the profiler or without it."""
    return match_names(_BUILD_OVERHEAD, trace.names, trace.overheads.name)


def build_spans(trace: Trace) -> tuple[Bool, Bool, Bool]:
    """Return the operators, annotations and frames under which something is compiled."""
    return (
        match_names(_BUILD_SPAN, trace.names, trace.operators.name),
        match_names(_BUILD_SPAN, trace.names, trace.annotations.name),
        match_names(_BUILD_FRAME, trace.names, trace.frames.name),
    )


def input_spans(trace: Trace) -> tuple[Bool, Bool, Bool]:
    """Return the operators, annotations and frames in which the program fetches its next input."""
    return (
        match_names(_INPUT_SPAN, trace.names, trace.operators.name),
        match_names(_INPUT_SPAN, trace.names, trace.annotations.name),
        match_names(_INPUT_FRAME, trace.names, trace.frames.name),
    )


def _profilers_own(trace: Trace) -> Bool:
    """Tell the device-wide synchronizations with which the profiler opens and closes its window.

    They lie outside every step. Without step marks the last one of the file is the profiler's if nothing was launched
    after it and it lies in no operator.
    """
    calls = trace.calls
    outside = match_names(DEVICE_SYNCHRONIZE, trace.names, calls.name) & (calls.operator < 0)
    if len(trace.steps.number):
        first, last = trace.steps.start_ns[0], trace.steps.end_ns[-1]
        return np.asarray(outside & ((calls.start_ns < first) | (calls.start_ns >= last)))
    last_launch = calls.start_ns[calls.is_launch].max(initial=-1)
    final = np.zeros(len(outside), dtype=bool)
    final[np.flatnonzero(outside & (calls.start_ns > last_launch))[-1:]] = True
    return final


def _copies_pageable(trace: Trace) -> Bool:
    activities = trace.activities
    pageable = np.isin(
        activities.copy_direction, (CopyDirection.HOST_TO_DEVICE_PAGEABLE, CopyDirection.DEVICE_TO_HOST_PAGEABLE)
    )
    blocking = np.zeros(len(trace.calls.start_ns), dtype=bool)
    blocking[activities.call[pageable & (activities.call >= 0)]] = True
    return blocking
