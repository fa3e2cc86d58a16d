"""What is replayed: the host's events of some steps in order, and the jobs that they give to the device's streams."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from reportgen.trace.columns import Bool, Int64

Float64 = NDArray[np.float64]


@dataclasses.dataclass(frozen=True, kw_only=True)
class HostEvents:
    """What the host does, one row a runtime call that launches or waits, and one at each step's end.

    Threads that hand work to each other take turns, so the calls of all of them form one sequence. Times in ns.
    """

    call: Int64  # row of Trace.calls, -1 at a step's end
    step: Int64  # number of the step within the program, from 0
    stretch_ns: Float64  # host time since the event before
    stretch_start_ns: Int64  # where that stretch lies in the trace
    stretch_end_ns: Int64
    call_ns: Float64  # host time in the call, waiting aside
    job: Int64  # what it launches: row of Jobs, -1 for nothing
    # What it waits for: row of Jobs, negative for one of the repetition before, NOTHING for no wait; and how long after
    # that job's end it returns.
    wait_job: Int64
    return_ns: Float64


@dataclasses.dataclass(frozen=True, kw_only=True)
class Jobs:
    """What the device does, one row a launch, in order of launch. Times in ns.

    A job begins when it has arrived, its stream is free and the job that it depends on is done. A graph's activities
    are one job, with the pauses between them.
    """

    stream: Int64  # numbered from 0 over all devices
    duration_ns: Float64
    # From the call's end (with `from_start`: its start) to the job's start on an idle stream; may be negative.
    latency_ns: Float64
    from_start: Bool
    gap_ns: Float64  # pause after the job before it on the stream
    after_job: Int64  # of another stream, to be done before; NOTHING for none
    by_host: Bool  # a copy from or to pageable memory, which the host carries piece by piece
    active: Bool  # False: dropped


# No row of Jobs: those of earlier repetitions are small negative numbers.
NOTHING = -(2**40)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Program:
    """Some steps of a trace, ready to be run over and over."""

    host: HostEvents
    jobs: Jobs
    num_steps: int
    drained: bool  # the host begins each step when the device has nothing to do
    # What a launch and a pause between queued activities take in this trace.
    launch_ns: float
    latency_ns: float
    gap_ns: float
    activity: Int64  # rows of Trace.activities that are in the program, sorted
    job_of_activity: Int64
