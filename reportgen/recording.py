"""The recording: the folder that the runner writes and that everything later reads.

``recording.json`` is written anew, atomically, after every pass and by one process only (the parent of a run),
so a run that is killed leaves all that was captured up to then. Nothing in a recording is a pickle.

::

    recording/
      recording.json            the manifest (`Manifest`)
      <case folder>/            one per case, named by `RecordedCase.folder`
        timeline.json.gz        the light trace
        detail.json.gz          the trace with shapes, memory and stacks
        memory.json.gz          the allocator's history
        log.txt                 what the child process printed
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

import msgspec

from reportgen.errors import InputUnreadable, UsageError
from reportgen.resources import is_file, replacing

MANIFEST_NAME = "recording.json"
SCHEMA_VERSION = "1.0"
# A case's folder lies in the recording itself: a name, no path.
_FOLDER_NAME = re.compile(r"(?!\.{1,2}$)[^/\\\0]{1,255}")

PassName = Literal["cold", "timing", "timeline", "detail", "memory", "sync", "ceilings", "alternatives"]
Outcome = Literal["done", "skipped", "failed"]
StepMode = Literal["pipelined", "drained"]
Scalar = str | int | float | bool | None
# A case's parameters are JSON values; lists and objects may nest (msgspec knows no recursive alias).
Json = Any


class Generator(msgspec.Struct, frozen=True, kw_only=True):
    """The program that wrote a file."""

    name: str
    version: str


class Runtime(msgspec.Struct, frozen=True, kw_only=True):
    """The device runtime that torch was built for."""

    kind: Literal["cuda", "rocm", "xpu", "mtia", "none"]
    version: str | None = None


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """Where and under which flags something ran; `None` where it was not recorded."""

    python: str | None = None
    torch: str | None = None
    transformers: str | None = None
    runtime: Runtime = Runtime(kind="none")
    driver: str | None = None
    host: str | None = None
    user: str | None = None
    platform: str | None = None
    processor: str | None = None
    num_cores: int | None = None
    # Flags that decide findings: TF32, matmul precision, cuDNN benchmark, SDPA backends, grad mode, autocast,
    # allocator configuration, CUDA_LAUNCH_BLOCKING, module loading, MIG, affinity.
    flags: dict[str, Scalar] = {}


class Ceilings(msgspec.Struct, frozen=True, kw_only=True):
    """The most that a device was measured, or is said, to reach."""

    copy_bytes_per_s: float | None = None
    matmul_flops_per_s: dict[str, float] = {}
    launch_us: float | None = None
    method: Literal["measured", "datasheet"] | None = None


class Device(msgspec.Struct, frozen=True, kw_only=True):
    """One device that the work ran on."""

    index: int
    name: str
    vendor: str | None = None
    compute_capability: str | None = None
    memory_bytes: int | None = None
    multiprocessors: int | None = None
    ceilings: Ceilings = Ceilings()


class PassRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one pass; `reason` is one line where it was not done."""

    name: PassName
    outcome: Outcome
    seconds: float | None = None
    reason: str | None = None
    # Which visit of their shapes the pass saw, where the workload prepares each step (`Step.before`): "first" as in
    # `RecordedTiming.drained`, "later" as in `RecordedTiming.revisit`.
    lap: Literal["first", "later"] | None = None


class Samples(msgspec.Struct, frozen=True, kw_only=True):
    """Unprofiled step times, in the order they were taken."""

    samples_us: tuple[float, ...]
    # The block each sample was taken in; blocks are interleaved with the other passes.
    blocks: tuple[int, ...]
    # False where the medians of the blocks still drifted when the time for timing was used up.
    settled: bool = True
    # During each sample, how long the program's threads stood ready while others had the cores, added up; empty where
    # the system does not tell.
    starved_us: tuple[float, ...] = ()


class RecordedTiming(msgspec.Struct, frozen=True, kw_only=True):
    """The timing pass of a case: steps without the profiler.

    `pipelined` holds completion intervals of steps issued back to back (None where a `before` drains the device),
    `drained` latencies from an idle device, `revisit` the drained latencies of laps after the first, where each
    step of a lap has a shape of its own.
    """

    mode: StepMode
    pipelined: Samples | None = None
    drained: Samples | None = None
    revisit: Samples | None = None
    # Read beside the timing, where the device tells: "clock_mhz", "power_w", "throttle_reasons", "temperature_c".
    conditions: dict[str, list[Scalar]] = {}


class MemoryMarks(msgspec.Struct, frozen=True, kw_only=True):
    """The allocator's counters around unprofiled steps, in bytes."""

    start_bytes: int
    peak_allocated_bytes: int
    peak_reserved_bytes: int
    in_use_on_device_bytes: int | None = None
    # How often the allocator emptied its cache and asked the device again, since it had no memory left.
    retries: int | None = None


class SyncSite(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the user's code at which the program waited for the device, and how often in the one step watched."""

    file: str
    line: int
    function: str
    count: int


# The closed list of alternatives; a workload's own are called "variant:NAME".
ALTERNATIVES = (
    "cuda-graph",
    "compile",
    "compile-reduce-overhead",
    "sdpa-flash",
    "sdpa-efficient",
    "sdpa-cudnn",
    "sdpa-math",
    "matmul-tf32",
    "channels-last",
    "cudnn-benchmark",
    "inference-mode",
    "autocast-bf16",
    "fused-optimizer",
    "async-input",
)
VARIANT_PREFIX = "variant:"
AlternativeOutcome = Literal["faster", "slower", "within-noise", "not-applicable", "failed"]


class RecordedAlternative(msgspec.Struct, frozen=True, kw_only=True):
    """The step with one change, timed in blocks between blocks of the step as it is, in a process of its own.

    Samples are of the case's own step time (pipelined, drained, or a first lap), both from the same process.
    """

    name: str
    outcome: AlternativeOutcome
    reason: str | None = None
    original_us: tuple[float, ...] = ()
    changed_us: tuple[float, ...] = ()
    # ‖changed − original‖ / ‖original‖ of what the step returns, the largest over its tensors; None: not comparable.
    max_relative_difference: float | None = None
    seconds: float | None = None


class RecordedCase(msgspec.Struct, frozen=True, kw_only=True):
    """All that was recorded of one case."""

    name: str
    phase: str
    folder: str
    parameters: dict[str, Json] = {}
    device: str | None = None
    outcome: Literal["done", "failed", "unfinished"] = "unfinished"
    reason: str | None = None
    provenance: dict[str, str] = {}
    tokens_per_step: float | None = None
    samples_per_step: float | None = None
    passes: tuple[PassRecord, ...] = ()
    build_us: float | None = None
    first_step_us: float | None = None
    # Around the first step: what building left, and the allocator's first growth.
    first_step_memory: MemoryMarks | None = None
    timing: RecordedTiming | None = None
    memory: MemoryMarks | None = None
    sync_sites: tuple[SyncSite, ...] | None = None
    alternatives: tuple[RecordedAlternative, ...] = ()
    # Flags in force while the step ran, where they differ from or add to the environment's.
    flags: dict[str, Scalar] = {}

    def pass_record(self, name: PassName) -> PassRecord | None:
        """Return what became of the pass `name`, or None where the run never reached it."""
        return next((record for record in self.passes if record.name == name), None)


class WorkloadInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The workload's own words about itself."""

    name: str
    description: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """The content of ``recording.json``."""

    schema_version: str = SCHEMA_VERSION
    generator: Generator
    created_at: str
    # The command line that made the recording, ready to be copied.
    command: str
    workload: WorkloadInfo
    environment: Environment = Environment()
    devices: tuple[Device, ...] = ()
    cases: tuple[RecordedCase, ...] = ()


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """A recording on disk: its folder and its manifest."""

    path: Path
    manifest: Manifest

    @classmethod
    def open(cls, path: Path) -> Recording:
        """Read the recording in the folder `path`; raise `InputUnreadable` where there is none."""
        manifest_path = path / MANIFEST_NAME
        try:
            content = manifest_path.read_bytes()
        except OSError as error:
            raise InputUnreadable(
                f"{path} is no recording: {MANIFEST_NAME} cannot be read ({error.strerror})"
            ) from error
        try:
            manifest = msgspec.json.decode(content, type=Manifest)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise InputUnreadable(f"{manifest_path} is no recording of this version: {error}") from error
        except RecursionError as error:
            raise InputUnreadable(f"{manifest_path} is no recording: it is nested too deep") from error
        _check_manifest(manifest, manifest_path)
        return cls(path=path, manifest=manifest)

    def trace_path(self, case: RecordedCase, name: Literal["timeline", "detail"]) -> Path | None:
        """Return the trace that pass `name` left for `case`, or None where it left none."""
        path = self.path / case.folder / f"{name}.json.gz"
        return path if is_file(path) else None

    def memory_path(self, case: RecordedCase) -> Path | None:
        """Return the allocator's history of `case`, or None where it was not recorded."""
        path = self.path / case.folder / "memory.json.gz"
        return path if is_file(path) else None


def _check_manifest(manifest: Manifest, path: Path) -> None:
    """Raise `InputUnreadable` for a manifest of another major version, or one that points out of its folder."""
    ours = SCHEMA_VERSION.partition(".")[0]
    if manifest.schema_version.partition(".")[0] != ours:
        raise InputUnreadable(
            f"{path} is no recording of this version: schema_version is {manifest.schema_version!r}, not {ours}.x"
        )
    for case in manifest.cases:
        if not _FOLDER_NAME.fullmatch(case.folder):
            raise InputUnreadable(f"{path}: the folder of case {case.name!r} does not lie in the recording")


def encode_json(value: Any) -> bytes:
    """Return `value` as JSON; half a character, as names of traces and of files may hold, as a question mark."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(_encodable(msgspec.to_builtins(value)))


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_encodable(item) for item in value]
    return value


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Replace the manifest in `folder` in one go, so that a reader never meets half of one.

    Raises `UsageError` where there is no room for it; the one before is kept.
    """
    try:
        with replacing(folder / MANIFEST_NAME) as partial:
            partial.write_bytes(msgspec.json.format(encode_json(manifest), indent=2))
    except OSError as error:
        raise UsageError(f"{folder} cannot be written ({error.strerror}): choose another folder with -o") from error
