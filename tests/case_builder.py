"""Small cases for tests of what is said about numbers: each field at a value that can be checked in the head."""

from __future__ import annotations

from typing import Any

import msgspec

from reportgen.analysis.model import (
    Budget,
    BudgetPart,
    BudgetRow,
    CaseAnalysis,
    Cut,
    DeviceTime,
    Launching,
    Operator,
    ProfiledStep,
    StepTimes,
    Timing,
)


def budget(step_us: float, **parts_us: float) -> Budget:
    """Return a budget whose parts are given by name, "launch_call" for "launch-call"."""
    rows = tuple(BudgetRow(name=_part(name), us_per_step=us, low_us=us, high_us=us) for name, us in parts_us.items())
    return Budget(basis="unprofiled", step_us=step_us, parts=rows)


def _part(name: str) -> BudgetPart:
    part: BudgetPart = msgspec.convert(name.replace("_", "-"), BudgetPart)
    return part


def operator(name: str, **fields: Any) -> Operator:
    """Return an operator with one 2x3 input, called once a step, unless `fields` say otherwise."""
    values: dict[str, Any] = {
        "input_shapes": ((2, 3),),
        "input_types": ("float",),
        "input_strides": None,
        "module": None,
        "direction": None,
        "calls_per_step": 1.0,
        "device_us_per_step": None,
        "share_of_device": None,
        "host_us_per_step": None,
    }
    return Operator(name=name, **(values | fields))


def pipelined(step_us: float) -> Timing:
    """Return the timing of a pipelined step that took `step_us` each of 100 times."""
    times = StepTimes(
        median_us=step_us,
        p5_us=step_us,
        p95_us=step_us,
        min_us=step_us,
        max_us=step_us,
        num_samples=100,
        samples_us=(step_us,) * 100,
    )
    return Timing(step_us=step_us, mode="pipelined", basis="unprofiled", pipelined=times)


def host_bound_case(**fields: Any) -> CaseAnalysis:
    """Return a prefill of 1000 us with 10 activities that run for 200 us; the host works 900 to 950 us."""
    values: dict[str, Any] = {
        "name": "prefill",
        "phase": "prefill",
        "device": "cuda:0",
        "device_kind": "device",
        "num_steps": 3,
        "timing": Timing(
            step_us=1000.0,
            mode="pipelined",
            basis="unprofiled",
            profiled_step_us=ProfiledStep(timeline=1500.0, detail=3000.0),
        ),
        "device_time": DeviceTime(
            busy_us_per_step=200.0,
            idle_us_per_step=800.0,
            busy_share=0.2,
            activities_per_step=10.0,
            activity_sum_us_per_step=200.0,
            num_streams=1,
            before_window_us=0.0,
            unattributed_share=0.0,
        ),
        "budget": budget(1000.0, compute=200.0, launch=600.0, launch_call=150.0, turnaround=50.0),
        "launching": Launching(
            launches_per_step=10.0,
            median_activity_us=15.0,
            short_kernels_per_step=9.0,
            host_us_per_step=925.0,
            host_low_us=900.0,
            host_high_us=950.0,
            verdict="host-bound",
        ),
        "operators": Cut(
            items=(
                operator("aten::mm", device_us_per_step=120.0, share_of_device=0.6, calls_per_step=2.0),
                operator("aten::add", device_us_per_step=80.0, share_of_device=0.4),
            ),
            total=2,
        ),
    }
    return CaseAnalysis(**(values | fields))
