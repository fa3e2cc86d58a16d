"""The rules, one a file, in checklist order."""

from __future__ import annotations

from reportgen.findings.rule import Rule
from reportgen.findings.rules import (
    allocation_spike,
    allocator_churn,
    cold_start,
    dominant_operator,
    fragmentation,
    gemm_misaligned,
    host_bound,
    host_stall,
    input_stall,
    layout_conversion,
    low_roofline,
    memory_growth,
    near_capacity,
    phase_contrast,
    profiler_distortion,
    shape_specialisation,
    step_outlier,
    sync_point,
    synthetic_inputs,
    tensor_cores_unused,
    trace_incomplete,
    unstable_timing,
)

RULES: tuple[Rule, ...] = (
    dominant_operator.RULE,
    host_bound.RULE,
    sync_point.RULE,
    host_stall.RULE,
    input_stall.RULE,
    step_outlier.RULE,
    shape_specialisation.RULE,
    allocation_spike.RULE,
    memory_growth.RULE,
    allocator_churn.RULE,
    fragmentation.RULE,
    near_capacity.RULE,
    tensor_cores_unused.RULE,
    gemm_misaligned.RULE,
    layout_conversion.RULE,
    low_roofline.RULE,
    phase_contrast.RULE,
    cold_start.RULE,
    profiler_distortion.RULE,
    trace_incomplete.RULE,
    synthetic_inputs.RULE,
    unstable_timing.RULE,
)
