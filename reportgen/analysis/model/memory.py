"""Memory: the high-water mark, what stood under it, and the caching allocator at work."""

from __future__ import annotations

from typing import Literal

import msgspec

from reportgen.analysis.model.values import Source, Where

MemoryCategory = Literal[
    "parameters", "gradients", "optimizer", "activations", "cache", "inputs", "temporaries", "unknown"
]


class PeakShare(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes of one category alive at the peak."""

    category: MemoryCategory
    bytes: int
    num_blocks: int | None = None  # None for what is known only as a sum


class PeakLine(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes alive at the peak that one place allocated; `source` None for what no file knows the place of."""

    source: Source | None
    category: MemoryCategory
    bytes: int
    num_blocks: int
    before_recording: bool = False  # allocated before the first recorded event


class PeakBlock(msgspec.Struct, frozen=True, kw_only=True):
    """One of the largest blocks alive at the peak."""

    bytes: int
    category: MemoryCategory
    operator: str | None
    input_shapes: tuple[tuple[int, ...], ...] | None
    input_types: tuple[str, ...] | None
    before_recording: bool  # allocated before the first recorded event
    source: Source | None
    stack: tuple[Source, ...] = ()  # innermost first; lines of the calls


class Allocation(msgspec.Struct, frozen=True, kw_only=True):
    """A large allocation of a step."""

    bytes: int
    operator: str | None
    input_shapes: tuple[tuple[int, ...], ...] | None
    count_per_step: float
    held_us: float | None
    source: Source | None


class Spike(msgspec.Struct, frozen=True, kw_only=True):
    """A rise that was gone again by the time the function that caused it returned.

    `bytes` are those of the blocks that came and went with the function, `above_baseline_bytes` how far the counter
    stood above the step's start at their highest. `held_us` is host time, from the first of them to the last.
    """

    bytes: int
    above_baseline_bytes: int
    operator: str | None
    input_shapes: tuple[tuple[int, ...], ...] | None
    held_us: float | None
    source: Source | None
    where: Where | None
    count_per_step: float | None = None
    num_blocks: int | None = None  # alive at its highest
    largest_block_bytes: int | None = None
    within_operator: bool = False  # the blocks came and went within one operator: they are its own, not the function's


class KeptLine(msgspec.Struct, frozen=True, kw_only=True):
    """What one place allocated in a step and was still there a whole step later. Who keeps it, no file says."""

    source: Source | None
    operator: str | None
    bytes_per_step: float
    blocks_per_step: float


class Growth(msgspec.Struct, frozen=True, kw_only=True):
    """How memory grew from step to step, at equal points of the steps.

    `kind` is "kept" where blocks of earlier steps stay, "cache" where each step's blocks replace smaller ones of the
    step before, as a growing key-value cache does, "none" without a steady rise.
    """

    kind: Literal["none", "kept", "cache"]
    bytes_per_step: float
    rises_bytes: tuple[int, ...]  # from each step's end to the next
    steadily: bool  # every rise above 0, the last at least half the first
    steps_until_full: float | None = None
    lines: tuple[KeptLine, ...] = ()


class Allocator(msgspec.Struct, frozen=True, kw_only=True):
    """The caching allocator's calls into the driver in the steady state."""

    device_mallocs_per_step: float | None = None
    device_frees_per_step: float | None = None
    retries: int | None = None
    calls_us_per_step: float | None = None  # host time in these calls, as the trace shows it
    cost_us_per_step: float | None = None  # device waits by them, drain and refill, the profiler's share taken out
    churning_steps: int | None = None  # steps that both took memory from the device and gave some back
    source: Source | None = None  # of the most expensive call


class Fragmentation(msgspec.Struct, frozen=True, kw_only=True):
    """Reserved memory that is not in use, at the peak where there is a history, else when the snapshot was taken.

    `stranded_bytes` lie in segments that hold a live block too, so they cannot go back to the device;
    `largest_hole_bytes` is the longest of their stretches: no larger request fits without a new segment.
    """

    at: Literal["peak", "snapshot"]
    reserved_bytes: int
    allocated_bytes: int
    stranded_bytes: int
    idle_segment_bytes: int  # in segments without a live block, which the allocator can give back
    largest_hole_bytes: int
    num_segments: int


class Headroom(msgspec.Struct, frozen=True, kw_only=True):
    """How much of the device is left at the peak; shares are of the device's memory."""

    device_bytes: int
    reserved_share: float
    in_use_share: float | None = None  # reserved at the peak and what others use beside it
    others_bytes: int | None = None  # in use on the device, not reserved by this allocator

    @property
    def share(self) -> float:
        """Return the share in use at the peak, by whoever; what this allocator reserved where that alone is known."""
        return self.in_use_share if self.in_use_share is not None else self.reserved_share


class FirstStepMemory(msgspec.Struct, frozen=True, kw_only=True):
    """The first step after the build, in which the allocator grows."""

    start_bytes: int
    peak_allocated_bytes: int
    peak_reserved_bytes: int


class MemoryCurve(msgspec.Struct, frozen=True, kw_only=True):
    """Allocated and reserved bytes over one step, thinned so that every local extreme of a bin is kept."""

    time_us: tuple[float, ...]
    allocated_bytes: tuple[int, ...]
    reserved_bytes: tuple[int, ...] | None = None
    axis: Literal["time", "event"] = "time"  # "event": the history has no times, `time_us` counts its entries
    basis: Literal["trace", "snapshot"] = "trace"
    # Which of the `num_steps` recorded steps of its pass it is, from 1, the first of which settles; None without steps.
    ordinal: int | None = None
    num_steps: int = 0


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """The high-water mark and what stood under it.

    Three sizes, three names: *allocated* is what the program holds, *reserved* what the allocator holds for it,
    *in use on the device* what everybody holds. `start_bytes` is what was allocated when the step began that holds the
    peak; by an unprofiled run's counters (`basis`), when its first timed step began.
    """

    peak_allocated_bytes: int | None
    peak_reserved_bytes: int | None
    start_bytes: int | None
    growth_bytes_per_step: float | None
    # Where the peaks come from: counters of an unprofiled run, the trace's own, or a memory snapshot.
    basis: Literal["unprofiled", "trace", "snapshot"] | None = None
    # The host's allocator counts while it is recorded and no longer: what was there before is in no figure.
    since_recording: bool = False
    in_use_on_device_bytes: int | None = None
    # Allocated bytes at the end of each profiled step, which `growth_bytes_per_step` is the mean rise of.
    step_end_bytes: tuple[int, ...] = ()
    # What is alive at the peak of the recorded steps; the bytes sum to `at_peak_bytes`.
    at_peak: tuple[PeakShare, ...] | None = None
    at_peak_bytes: int | None = None
    at_peak_basis: Literal["trace", "snapshot"] | None = None
    # What the snapshot's history and the allocator's state at its end disagree by: not 0 where entries are missing.
    history_gap_bytes: int | None = None
    peak_lines: tuple[PeakLine, ...] = ()
    peak_blocks: tuple[PeakBlock, ...] = ()
    largest: tuple[Allocation, ...] = ()
    spikes: tuple[Spike, ...] = ()
    # The functions whose own temporaries stood highest, spikes or not, and the height from which they are spikes; None
    # where no trace tells what came and went with what.
    transients: tuple[Spike, ...] | None = None
    spike_threshold_bytes: int | None = None
    growth: Growth | None = None
    allocator: Allocator | None = None
    fragmentation: Fragmentation | None = None
    headroom: Headroom | None = None
    first_step: FirstStepMemory | None = None
    curve: MemoryCurve | None = None
