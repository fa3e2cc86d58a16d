"""Cases with something for every chart, in the figures of GPT-2 on an H200."""

from __future__ import annotations

from typing import Any

from reportgen.analysis.model import (
    CaseAnalysis,
    Lane,
    Memory,
    MemoryCurve,
    PeakShare,
    ProfiledStep,
    Segment,
    Spike,
    StepTimes,
    Timeline,
    Timing,
)
from reportgen.recording import Ceilings, Device
from reportgen.report.charts import Fix
from tests.case_builder import budget, host_bound_case, operator

MIB = 2**20


def prefill(**fields: Any) -> CaseAnalysis:
    parts = budget(6600.0, compute=1290, copy=10, launch=3750, launch_call=980, turnaround=520, sync=50)
    return host_bound_case(**({"budget": parts} | fields))


def decode(**fields: Any) -> CaseAnalysis:
    parts = budget(45_000.0, compute=580, build=37_000, launch=5310, launch_call=1600, turnaround=360, sync=150)
    return host_bound_case(**({"name": "decode", "budget": parts} | fields))


def times(median_us: float, *samples_us: float) -> StepTimes:
    return StepTimes(
        median_us=median_us,
        p5_us=min(samples_us),
        p95_us=max(samples_us),
        min_us=min(samples_us),
        max_us=max(samples_us),
        num_samples=len(samples_us),
        samples_us=samples_us,
    )


TIMING = Timing(
    step_us=6600.0,
    mode="pipelined",
    basis="unprofiled",
    pipelined=times(6600.0, 6000.0, 6600.0, 7300.0),
    profiled_step_us=ProfiledStep(timeline=10_300.0, detail=21_700.0),
)
MEMORY = Memory(
    peak_allocated_bytes=363 * MIB,
    peak_reserved_bytes=414 * MIB,
    start_bytes=294 * MIB,
    growth_bytes_per_step=0.0,
    basis="trace",
    at_peak=(PeakShare(category="parameters", bytes=237 * MIB),),
    spikes=(
        Spike(
            bytes=50 * MIB,
            above_baseline_bytes=69 * MIB,
            operator="aten::mm",
            input_shapes=None,
            held_us=200.0,
            source=None,
            where=None,
        ),
    ),
    curve=MemoryCurve(
        time_us=(0.0, 4000.0, 5000.0, 6000.0),
        allocated_bytes=(294 * MIB, 300 * MIB, 363 * MIB, 294 * MIB),
        reserved_bytes=(414 * MIB,) * 4,
    ),
)
TIMELINE = Timeline(
    step=5,
    duration_us=1000.0,
    basis="timeline",
    lanes=(
        Lane(
            name="operators",
            kind="host",
            segments=(Segment(start_us=0, duration_us=900, part="launch"),),
            us_by_part={"launch": 900},
        ),
        Lane(
            name="stream 7",
            kind="device",
            segments=(Segment(start_us=100, duration_us=200, part="compute"),),
            us_by_part={"compute": 200},
        ),
        Lane(
            name="waits",
            kind="cause",
            segments=(Segment(start_us=300, duration_us=600, part="stall"),),
            us_by_part={"stall": 600},
        ),
    ),
)
H200 = Device(
    index=0,
    name="H200",
    ceilings=Ceilings(copy_bytes_per_s=4.3e12, matmul_flops_per_s={"bfloat16": 799e12}, method="measured"),
)
# 2·512·768·50257 FLOP in 425.8 µs: 92.8 TFLOP/s.
PRODUCT = operator("aten::mm", device_us_per_step=425.8, share_of_device=0.33, flops=39.52e9, bytes=130e6)
FIXES = (
    Fix(id="F2", name="Capture the step as one CUDA graph", step_after_us=1540.0, method="measured"),
    Fix(id="F3", name="Pad the vocabulary", step_after_us=1180.0, method="replay"),
)
