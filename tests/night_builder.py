"""Reports of one night and the next, for tests of history: a step of 1000 us, 200 of them on the device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from reportgen.analysis.model import CaseAnalysis, Cut, Kernel, Memory, SourceRow, Timing
from reportgen.analysis.steps.timing import summarize_times
from reportgen.recording import Device, Environment
from reportgen.report.model import Report
from tests.case_builder import host_bound_case, operator
from tests.report_builder import report

H200 = (Device(index=0, name="NVIDIA H200"),)
HOST = Environment(torch="2.13.0", host="node7", processor="Xeon", num_cores=16)


def kernel(name: str, us: float, calls: float = 1.0) -> Kernel:
    """Return a kernel that takes `us` a step."""
    return Kernel(
        name=name,
        category="kernel",
        calls_per_step=calls,
        us_per_step=us,
        share_of_device=us / 200.0,
        mean_us=us / calls,
        min_us=us / calls,
        max_us=us / calls,
    )


def night_case(
    step_us: float = 1000.0,
    mm_us: float = 120.0,
    adds: float = 1.0,
    peak_bytes: int = 2**30,
    forward_us: float = 900.0,
    **fields: Any,
) -> CaseAnalysis:
    """Return a case in which mm takes `mm_us` and each of `adds` additions 80 us of device time.

    `forward_us` is the host time of the function that calls them.
    """
    base = host_bound_case()
    device_us = mm_us + 80.0 * adds
    assert base.device_time is not None
    values: dict[str, Any] = {
        "parameters": {"batch": 1},
        "timing": Timing(step_us=step_us, mode="pipelined", basis="unprofiled"),
        "device_time": msgspec.structs.replace(
            base.device_time, activity_sum_us_per_step=device_us, activities_per_step=2.0 + adds
        ),
        "operators": Cut(
            items=(
                operator("aten::mm", device_us_per_step=mm_us, calls_per_step=2.0, input_shapes=((2, 3), (3, 4))),
                operator("aten::add", device_us_per_step=80.0 * adds, calls_per_step=adds),
            ),
            total=2,
        ),
        "kernels": Cut(items=(kernel("gemm", mm_us, 2.0), kernel("vectorized_add", 80.0 * adds, adds)), total=2),
        "sources": Cut(
            items=(
                SourceRow(
                    file="model.py",
                    line=3,
                    line_kind="def",
                    function="forward",
                    device_us_per_step=device_us,
                    host_us_per_step=forward_us,
                ),
            ),
            total=1,
        ),
        "memory": Memory(
            peak_allocated_bytes=peak_bytes, peak_reserved_bytes=None, start_bytes=None, growth_bytes_per_step=None
        ),
    }
    return host_bound_case(**(values | fields))


def timed(*samples_us: float, starved_us: Sequence[float] = ()) -> Timing:
    """Return the timing of a pipelined step with these unprofiled samples."""
    times = summarize_times(samples_us)
    assert times is not None
    times = msgspec.structs.replace(times, starved_us=tuple(starved_us))
    return Timing(step_us=times.median_us, mode="pipelined", basis="unprofiled", pipelined=times)


def night(cases: Sequence[CaseAnalysis] | None = None, **fields: Any) -> Report:
    """Return the report of a night on an H200 in the host node7."""
    values: dict[str, Any] = {"devices": H200, "environment": HOST}
    return report([night_case()] if cases is None else cases, **(values | fields))
