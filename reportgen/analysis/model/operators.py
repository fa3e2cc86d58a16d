"""Whose time it is: operators, kernels, the user's functions and regions, and the step against the ceilings."""

from __future__ import annotations

from typing import Literal

import msgspec

from reportgen.analysis.model.values import Source, Where

Bound = Literal["compute", "memory", "latency"]


class Operator(msgspec.Struct, frozen=True, kw_only=True):
    """One operator at one signature, its device time that of the activities it launched itself."""

    name: str
    input_shapes: tuple[tuple[int, ...], ...] | None
    input_types: tuple[str, ...] | None
    input_strides: tuple[tuple[int, ...], ...] | None
    module: str | None
    direction: Literal["forward", "backward"] | None
    calls_per_step: float
    device_us_per_step: float | None
    share_of_device: float | None
    host_us_per_step: float | None  # self time, of the steps after the settling one
    share_of_host: float | None = None
    flops: float | None = None  # per call that launched device work, as all figures per call
    bytes: float | None = None  # per call, the least that must move
    bound: Bound | None = None
    roof_share: float | None = None  # of the time a call takes; over 1 where the data lives in a cache
    kernels: tuple[str, ...] = ()
    source: Source | None = None
    main_kernel_us_per_step: float | None = None  # of the kernel that does the work
    input_values: tuple[str, ...] | None = None  # scalars as text, parallel to the shapes
    family: str | None = None  # of its work model
    intensity: float | None = None  # operations a byte
    flops_per_s: float | None = None  # achieved, as is the next
    bytes_per_s: float | None = None
    ceiling: str | None = None  # the type whose peak it is held against: "tf32", "bfloat16"
    ridge: float | None = None  # operations a byte at which arithmetic takes over from memory, for this type
    roof_us: float | None = None  # per call: what the device would take at the roof
    # Calls that launched device work themselves, what every figure per call is of: `calls_per_step` holds as well
    # those that only hand on to another operator, as `aten::addmm` does to itself under autocast.
    device_calls_per_step: float | None = None

    @property
    def working_calls_per_step(self) -> float:
        """Return the calls a step that device time per call is of; all calls where it was not told which worked."""
        if self.device_calls_per_step is not None:
            return self.device_calls_per_step
        return self.calls_per_step if self.device_us_per_step else 0.0

    @property
    def device_us_per_call(self) -> float | None:
        """Return the device time of a call that launched work; None where none did."""
        calls = self.working_calls_per_step
        return self.device_us_per_step / calls if self.device_us_per_step and calls else None


class Kernel(msgspec.Struct, frozen=True, kw_only=True):
    """One device activity by name."""

    name: str
    category: Literal["kernel", "communication", "copy", "fill"]
    calls_per_step: float
    us_per_step: float
    share_of_device: float
    mean_us: float
    min_us: float
    max_us: float


class SourceRow(msgspec.Struct, frozen=True, kw_only=True):
    """A function of the user's code, by the device time and host time spent in it: no time is in two functions."""

    file: str
    line: int
    line_kind: Literal["call", "def"]
    function: str
    device_us_per_step: float | None
    # As the timeline pass shows it, the profiler's share included, of the steps after the settling one.
    host_us_per_step: float | None
    waiting_us_per_step: float | None = None  # device waits caused by it


class Region(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the step that the program named with `record_function`, what is nested in it included."""

    name: str
    count_per_step: float
    # While it was open, on any thread; as the timeline pass shows it, the profiler's share included.
    host_us_per_step: float
    # Durations of the activities launched while it was open; None where no device activities were recorded.
    device_us_per_step: float | None
    share_of_device: float | None = None


class FirstVisit(msgspec.Struct, frozen=True, kw_only=True):
    """Host time that an operator took at the first visit of a signature, beyond the median of later visits.

    An operator that is called once a step has no later visits: `by_peers` says that it is held against the operators
    that launch work as it does. `are_shapes_known` says whether the visits are known to be of different shapes.
    """

    operator: str
    num_signatures: int
    excess_us_per_step: float
    first_us: float
    later_us: float
    source: Source | None
    by_peers: bool = False
    are_shapes_known: bool = True
    where: Where | None = None  # the longest in the step that documents show, else of all


class Utilisation(msgspec.Struct, frozen=True, kw_only=True):
    """The whole step against the device's ceilings; shares are of the step time in `Timing`.

    `share_of_peak` is the time that the step's matrix work would take at the peak of its types, over the step time
    (model FLOPs utilisation); `share_of_bandwidth` the same of its least bytes. `floor_us_per_step` is given for
    decode: weights and cache read once at the bandwidth.
    """

    flops_per_step: float | None = None
    flops_per_s: float | None = None
    share_of_peak: float | None = None
    bytes_per_step: float | None = None
    bytes_per_s: float | None = None
    share_of_bandwidth: float | None = None
    roof_us_per_step: float | None = None  # every modelled call at its roof, one after the other
    floor_bytes_per_step: float | None = None
    floor_us_per_step: float | None = None
    energy_j_per_step: float | None = None
    energy_j_per_item: float | None = None
    energy_item: Literal["token", "sample"] | None = None
