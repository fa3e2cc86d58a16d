"""The numbers of a case: the values that `cases[]` of report.json holds, before any word is said about them.

Times are microseconds (`_us`), sizes bytes (`_bytes`), shares 0..1. `None` means not measured, never 0.
Field order is the order in report.json; CONTRACT of these names: `docs/report-json.md`.
"""

from __future__ import annotations

from typing import Generic, Literal, TypeVar, get_args

import msgspec

from reportgen.recording import AlternativeOutcome, Json, PassRecord, StepMode

Item = TypeVar("Item")

# The closed list of budget parts and of causes of waiting. The first three are work, the others waits.
BudgetPart = Literal[
    "compute",
    "communication",
    "copy",
    "launch",
    "launch-call",
    "turnaround",
    "sync",
    "input",
    "allocator",
    "build",
    "stall",
    "profiler",
    "unexplained",
]
BUDGET_PARTS: tuple[BudgetPart, ...] = get_args(BudgetPart)
WORK_PARTS: frozenset[BudgetPart] = frozenset({"compute", "communication", "copy"})
Bound = Literal["compute", "memory", "latency"]
MemoryCategory = Literal[
    "parameters", "gradients", "optimizer", "activations", "cache", "inputs", "temporaries", "unknown"
]


class Cut(msgspec.Struct, Generic[Item], frozen=True, kw_only=True):
    """A list that keeps its first `items` of `total`; `other_us` is what the rest adds up to (per step)."""

    items: tuple[Item, ...] = ()
    total: int = 0
    other_us: float | None = None


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """A place in Python code. With `line_kind` "def" the line is where the function begins, not where it acts."""

    file: str
    line: int
    line_kind: Literal["call", "def"]
    function: str
    user: bool  # outside torch, transformers and the standard library
    beneath: str | None = None  # what the function had called there: a library's function or a built-in


class Where(msgspec.Struct, frozen=True, kw_only=True):
    """A place in a trace file, in the file's own clock (µs), to open in a viewer."""

    trace: str
    start_us: float
    end_us: float
    stream: int | None = None
    thread: str | None = None
    correlation: int | None = None


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    """Something missing or wrong that the reader must know; `share` is of what the text names."""

    code: str
    text: str
    count: int | None = None
    share: float | None = None
    affects_conclusions: bool = False


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """Shares of device time that carry an operator, its shapes, a Python stack, and a work model."""

    operators: float | None = None
    shapes: float | None = None
    stacks: float | None = None
    work_models: float | None = None


class StepTimes(msgspec.Struct, frozen=True, kw_only=True):
    """Step times of one kind; `samples_us` in the order they were taken."""

    median_us: float
    p5_us: float
    p95_us: float
    min_us: float
    max_us: float
    num_samples: int
    samples_us: tuple[float, ...]
    settled: bool = True


class ProfiledStep(msgspec.Struct, frozen=True, kw_only=True):
    """The same step under the profiler's passes (median); what the profiler does to it."""

    timeline: float | None = None
    detail: float | None = None


class Throughput(msgspec.Struct, frozen=True, kw_only=True):
    """Work done per second of unprofiled step time."""

    value: float
    unit: Literal["tokens/s", "samples/s", "steps/s"]


class Timing(msgspec.Struct, frozen=True, kw_only=True):
    """How long a step takes. `basis` is "trace" where no unprofiled timing exists."""

    step_us: float | None
    mode: StepMode
    basis: Literal["unprofiled", "trace"]
    pipelined: StepTimes | None = None
    drained: StepTimes | None = None
    first_step_us: float | None = None
    revisit: StepTimes | None = None
    profiled_step_us: ProfiledStep = ProfiledStep()
    throughput: Throughput | None = None


class StepRow(msgspec.Struct, frozen=True, kw_only=True):
    """One profiled step. `interval_us` runs from the previous completion to this one."""

    index: int
    interval_us: float | None
    host_us: float
    device_us: float | None
    activities: int | None
    settling: bool
    outlier: bool
    # Of an outlier: the budget part that lies furthest above its median over the other steps, and by how much.
    differs_in: BudgetPart | None = None
    differs_by_us: float | None = None


class DeviceTime(msgspec.Struct, frozen=True, kw_only=True):
    """What the device did in the steps. `busy` is the union over streams, `activity_sum` adds durations."""

    busy_us_per_step: float | None
    idle_us_per_step: float | None  # of the step time in `Timing`, not of the profiled step
    busy_share: float | None  # of step time
    activities_per_step: float | None
    activity_sum_us_per_step: float | None
    num_streams: int | None
    before_window_us: float | None
    unattributed_share: float | None  # of device time launched in the window


class BudgetRow(msgspec.Struct, frozen=True, kw_only=True):
    """One part of the budget; the interval is where the profiler's share leaves it open."""

    name: BudgetPart
    us_per_step: float
    low_us: float
    high_us: float


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """The step's time, every instant in exactly one part: `us_per_step` of the parts sum to `step_us`."""

    basis: Literal["unprofiled", "trace"]
    step_us: float
    parts: tuple[BudgetRow, ...]


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
    host_us_per_step: float | None  # self time
    share_of_host: float | None = None
    flops: float | None = None  # per call
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
    """A function of the user's code, by the device time and host time spent under it."""

    file: str
    line: int
    line_kind: Literal["call", "def"]
    function: str
    device_us_per_step: float | None
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


class CauseRow(msgspec.Struct, frozen=True, kw_only=True):
    """The waits of one cause."""

    cause: BudgetPart
    us_per_step: float


class WaitPlace(msgspec.Struct, frozen=True, kw_only=True):
    """The waits of one cause that one function (and operator, where the cause is a call in it) is answerable for."""

    cause: BudgetPart
    operator: str | None
    source: Source | None
    us_per_step: float  # on the scale of the budget: without the profiler's share
    count_per_step: float  # stretches of waiting, as the trace shows them
    # In how many of the steps that the budget covers it occurs.
    num_steps: int
    where: Where | None = None  # the longest of them


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch in which no stream of the device worked, as the trace shows it (profiler's cost included)."""

    duration_us: float
    step: int
    cause: BudgetPart
    operator: str | None
    source: Source | None
    where: Where | None


class Gaps(msgspec.Struct, frozen=True, kw_only=True):
    """The device's waits; `items` are the longest."""

    count_per_step: float
    us_per_step: float
    # Gaps shorter than this are launch latency of this very trace and are not listed.
    threshold_us: float | None = None
    causes: tuple[CauseRow, ...] = ()
    # Waits summed per cause and function, largest first.
    places: tuple[WaitPlace, ...] = ()
    items: tuple[Gap, ...] = ()


class Sync(msgspec.Struct, frozen=True, kw_only=True):
    """A wait for the device that the program asked for; `cost` is the whole: drain and refill."""

    call: str
    operator: str | None
    count_per_step: float
    blocked_us_per_step: float
    cost_us_per_step: float
    source: Source | None
    where: Where | None


class Launching(msgspec.Struct, frozen=True, kw_only=True):
    """How the host feeds the device."""

    launches_per_step: float | None = None
    latency_us: float | None = None  # launch end to activity start on an idle device: a low quantile
    median_lead_us: float | None = None  # how far the host runs ahead: launch end to activity start, median
    blocked_us_per_step: float | None = None  # launch calls that waited for a full queue
    short_kernels_per_step: float | None = None  # shorter than their own launch interval, queue empty
    median_activity_us: float | None = None
    host_us_per_step: float | None = None  # host time of a step, waits for the device taken out
    host_low_us: float | None = None  # the same, less the upper estimate of the profiler's share
    host_high_us: float | None = None  # the same, less the lower estimate
    verdict: Literal["host-bound", "device-bound", "undecided"] | None = None
    # False where the device did work that was not recorded, or replayed graphs: what looks idle may be none.
    idle_is_certain: bool = True


class Streams(msgspec.Struct, frozen=True, kw_only=True):
    """What runs beside what."""

    num_streams: int
    concurrency: float | None  # activity sum over busy time
    copy_us_per_step: float
    copy_hidden_us_per_step: float
    communication_us_per_step: float
    communication_hidden_us_per_step: float


class Joining(msgspec.Struct, frozen=True, kw_only=True):
    """How much of the timeline pass found its twin in the detail pass."""

    share_of_activities: float
    share_of_device: float


class FirstVisit(msgspec.Struct, frozen=True, kw_only=True):
    """Host time that an operator took at the first visit of a signature, beyond the median of later visits."""

    operator: str
    num_signatures: int
    excess_us_per_step: float
    first_us: float
    later_us: float
    source: Source | None


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


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """The high-water mark and what stood under it.

    Three sizes, three names: *allocated* is what the program holds, *reserved* what the allocator holds for it,
    *in use on the device* what everybody holds.
    """

    peak_allocated_bytes: int | None
    peak_reserved_bytes: int | None
    start_bytes: int | None
    growth_bytes_per_step: float | None
    # Where the peaks come from: counters of an unprofiled run, the trace's own, or a memory snapshot.
    basis: Literal["unprofiled", "trace", "snapshot"] | None = None
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


class Alternative(msgspec.Struct, frozen=True, kw_only=True):
    """The step with one change, tried: its time beside that of the step as it is, timed in blocks in turn."""

    name: str
    outcome: AlternativeOutcome
    reason: str | None = None
    original_us: StepTimes | None = None
    step_us: StepTimes | None = None
    speedup: float | None = None  # median of the original over the median of the changed step
    max_relative_difference: float | None = None


class ReplaySummary(msgspec.Struct, frozen=True, kw_only=True):
    """How well the replayed step reproduces the measured one; `usable` where gains may be read off.

    `base_us` is the replayed step without the profiler. `base_error` is by how much (share) the replay misses what was
    measured: `step_us` where that is unprofiled, else the profiled step, replayed with the profiler's share left in.
    """

    base_us: float
    step_us: float
    base_error: float
    usable: bool


class Segment(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of a timeline lane. `part` colours it; `share` of the stretch is filled (binned lanes)."""

    start_us: float
    duration_us: float
    part: BudgetPart
    share: float = 1.0
    label: str | None = None


class Lane(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the timeline strip."""

    name: str
    kind: Literal["host", "launch", "device", "cause"]
    segments: tuple[Segment, ...]


class Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """One step, binned so that its size does not depend on the number of events; times from the step's start."""

    step: int
    duration_us: float
    basis: Literal["timeline", "trace"]
    lanes: tuple[Lane, ...]


class CopyRow(msgspec.Struct, frozen=True, kw_only=True):
    """Copies of one direction and kind of memory that one operator asked for in one function."""

    direction: Literal["host-to-device", "device-to-host", "device-to-device", "peer-to-peer", "other"]
    memory: Literal["pageable", "pinned", "device", "unknown"]  # of the host's side; "device" where there is none
    operator: str | None
    source: Source | None
    count_per_step: float
    bytes_per_step: float | None
    us_per_step: float
    # The part during which nothing computes or communicates on the device.
    exposed_us_per_step: float
    # Device waits by these copies, drain and refill, the profiler's share taken out.
    cost_us_per_step: float
    where: Where | None = None  # the longest of them


class CopyChain(msgspec.Struct, frozen=True, kw_only=True):
    """Copies on the device that read at once what the one before wrote, with nothing between.

    `restores` is True where the last leaves type and strides as the first found them: then all are needless, else all
    but one. `types` are those of the data before the first and after each copy.
    """

    num_copies: int
    restores: bool
    types: tuple[str, ...]
    shape: tuple[int, ...]
    count_per_step: float
    device_us_per_step: float
    removable_us_per_step: float
    # The operators that make the needless ones, as a replay's changes name them, with the share of their device time
    # that is needed elsewhere.
    left_of_operators: dict[str, float] = {}
    source: Source | None
    where: Where | None = None


class UserCopy(msgspec.Struct, frozen=True, kw_only=True):
    """Copies on the device that the program itself asks for, by a method of the tensor."""

    method: str  # "Tensor.float"
    shape: tuple[int, ...] | None
    count_per_step: float
    device_us_per_step: float
    source: Source | None


class OptimizerUpdate(msgspec.Struct, frozen=True, kw_only=True):
    """The optimizer's part of a step: what its own span launched."""

    name: str  # "AdamW"
    activities_per_step: float
    parameters_per_step: float  # tensors updated
    device_us_per_step: float
    host_us_per_step: float  # as the trace shows it, the profiler's share included
    # Device work in and waits under the span, the profiler's share taken out: what the step would lack without it.
    extent_us_per_step: float
    source: Source | None
    where: Where | None = None  # the first of them


class AttentionChain(msgspec.Struct, frozen=True, kw_only=True):
    """Attention written out: product, softmax over the whole matrix of scores, product, in one function."""

    scores_shape: tuple[int, ...]  # [.., T, S]
    scores_type: str | None
    count_per_step: float
    activities_per_step: float  # from the first product to the last
    device_us_per_step: float
    # Of all but the two products: what reading and writing the scores in between takes.
    between_us_per_step: float
    scaling_operators: tuple[str, ...]  # between the first product and the softmax
    between_operators: tuple[str, ...] = ()  # of all between the products, as a replay's changes name them
    source: Source | None
    where: Where | None = None


class Compilation(msgspec.Struct, frozen=True, kw_only=True):
    """Dynamo's or Inductor's work inside the recorded steps, for one function of the user's."""

    count_per_step: float
    host_us_per_step: float
    num_steps: int  # in how many recorded steps it occurs
    source: Source | None
    where: Where | None = None


class AutogradWork(msgspec.Struct, frozen=True, kw_only=True):
    """What autograd did in the steps: nodes made by forward operators, and nodes run backward."""

    nodes_per_step: float
    backward_operators_per_step: float
    source: Source | None  # the function that made most nodes


class Clocks(msgspec.Struct, frozen=True, kw_only=True):
    """The device's clock beside the timing pass."""

    num_samples: int
    first_mhz: float | None = None  # median of the first third of the samples
    last_mhz: float | None = None  # and of the last
    highest_mhz: float | None = None
    # Share of the samples with a reason to run slower than asked for, by reason.
    throttled: dict[str, float] = {}


class CaseAnalysis(msgspec.Struct, frozen=True, kw_only=True):
    """All numbers of one case. A section that could not be computed is `None` and has a notice."""

    name: str
    phase: str | None
    parameters: dict[str, Json] = {}
    device: str | None
    rank: int | None = None
    provenance: dict[str, str] = {}
    outcome: Literal["done", "failed", "unfinished"] = "done"
    reason: str | None = None
    # "device": device activities were recorded; "host": there is no device and the host is the device;
    # "not-recorded": there was a device, but the trace holds none of its activities.
    device_kind: Literal["device", "host", "not-recorded"]
    num_steps: int = 0
    passes: tuple[PassRecord, ...] = ()
    coverage: Coverage = Coverage()
    timing: Timing | None = None
    steps: tuple[StepRow, ...] = ()
    device_time: DeviceTime | None = None
    budget: Budget | None = None
    operators: Cut[Operator] = Cut()
    kernels: Cut[Kernel] = Cut()
    sources: Cut[SourceRow] = Cut()
    # Regions nest: their times do not add up to the step.
    regions: Cut[Region] = Cut()
    gaps: Gaps | None = None
    syncs: Cut[Sync] = Cut()
    launching: Launching | None = None
    streams: Streams | None = None
    joining: Joining | None = None
    first_visits: tuple[FirstVisit, ...] = ()
    memory: Memory | None = None
    timeline: Timeline | None = None
    alternatives: tuple[Alternative, ...] = ()
    utilisation: Utilisation | None = None
    replay: ReplaySummary | None = None
    copies: tuple[CopyRow, ...] = ()
    copy_chains: tuple[CopyChain, ...] = ()
    user_copies: tuple[UserCopy, ...] = ()
    optimizer_updates: tuple[OptimizerUpdate, ...] = ()
    attention_chains: tuple[AttentionChain, ...] = ()
    compilations: tuple[Compilation, ...] = ()
    autograd: AutogradWork | None = None  # None where no operator was recorded
    clocks: Clocks | None = None
    notices: tuple[Notice, ...] = ()

    @property
    def step_us(self) -> float | None:
        """The step's time as `timing` has it, None where none is known."""
        return self.timing.step_us if self.timing else None

    @property
    def busy_us(self) -> float | None:
        """How long the device is busy in a step, µs, None where that was not recorded."""
        return self.device_time.busy_us_per_step if self.device_time else None
