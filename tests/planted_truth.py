"""What was planted in the traces of known faults, and what else is true of them."""

from __future__ import annotations

import dataclasses

LOUD = ("high", "medium")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Fault:
    """A fault that was planted: the rule that must find it, by itself or in a finding that speaks for it.

    `line` is that of the function's ``def``; `value` is its size as a reference program reckoned it, in the unit of the
    finding's evidence: µs, bytes or times a step.
    """

    trace: str
    rule: str
    function: str | None = None
    kind: str | None = None
    line: int | None = None
    value: float | None = None

    def __str__(self) -> str:
        return f"{self.trace}: {self.rule}"


FAULTS = (
    Fault(trace="sync_item", rule="sync-point", function="hook", line=57, value=8),
    Fault(trace="host_stall", rule="host-stall", function="hook", value=20_000),
    Fault(trace="host_stall", rule="sync-point", function="hook"),
    Fault(trace="alloc_spike_naive_attn", rule="allocation-spike", function="attend", value=6_580_862_976),
    Fault(trace="alloc_spike_naive_attn", rule="attention-unfused", function="attend"),
    Fault(trace="leak_graph", rule="memory-growth", function="step", value=534e6),
    Fault(trace="leak_graph", rule="host-bound"),
    Fault(trace="tiny_kernels", rule="host-bound"),
    Fault(trace="tiny_kernels", rule="small-kernels"),
    Fault(trace="train_clean_fused", rule="host-bound"),
    Fault(trace="train_opt_forloop", rule="optimizer-unfused", function="step", value=592),
    Fault(trace="vocab_unaligned", rule="gemm-misaligned", function="forward", value=8_900),
    Fault(trace="h2d_pageable", rule="blocking-copy", function="step", kind="pageable"),
    Fault(trace="h2d_pinned", rule="blocking-copy", function="step", kind="exposed", value=3_600),
    Fault(trace="decode_light", rule="shape-specialisation", value=63_100),
)
# Facts that are true of traces, and no faults.
FACTS = (("cuda_graph", "trace-incomplete"), ("cpu_only_trace", "trace-incomplete"))
# Of recordings whose cases are not called after rules: the case with the fault, its rule and its twin. A twin whose
# traces were not kept says what its step takes, no more.
RECORDED_PAIRS = {
    "twins": (
        ("sync-fault", "sync-point", "sync-fixed"),
        ("stall-fault", "host-stall", "stall-fixed"),
        ("graph-fault", "host-bound", "graph-fixed"),
        ("product-fault", "gemm-misaligned", "product-fixed"),
        ("copies-fault", "needless-copy", "copies-fixed"),
        ("pageable-fault", "blocking-copy", "pageable-fixed"),
        ("optimizer-fault", "optimizer-unfused", "optimizer-fixed"),
        ("attention-fault", "attention-unfused", "attention-fixed"),
    ),
    "host-faults": (
        ("stall-5", "host-stall", "stall-0"),
        ("stall-1", "host-stall", "stall-0"),
        ("item", "sync-point", None),  # stall-0 computes no number at all: it lacks more than the wait
    ),
    "memory-cases": (("naive-attention", "attention-unfused", None), ("naive-attention", "allocation-spike", None)),
}
# What may be said aloud of traces without a planted fault, and of the twins of others, because it is true of them.
TRUE_OF_TWINS: dict[str, frozenset[str]] = {
    "clean_infer": frozenset(),
    "train_clean_fused": frozenset({"host-bound"}),
    "vocab_aligned": frozenset(),
    "h2d_pinned": frozenset({"blocking-copy", "layout-conversion"}),
    "cuda_graph": frozenset(),
    "cpu_only_trace": frozenset(),
}
# The same of twins in recorded pairs.
TRUE_OF_PAIRED_TWINS: dict[str, frozenset[str]] = {
    # Forty layers of 64 rows each run for 2 us and are launched every 20.
    "stall-0": frozenset({"host-bound"}),
    "clock-throttled-fixed": frozenset({"host-bound"}),  # made of stall-0
    # GPT-2's prefill of one prompt: the host works 6 ms for 1.3 of the device.
    "phase-contrast-fixed": frozenset({"host-bound"}),
    # Pinned and asynchronous, the copy is still on the stream that computes.
    "blocking-copy-fixed": frozenset({"blocking-copy"}),
    # The same blocks in other segments fill the device as much.
    "fragmentation-fixed": frozenset({"near-capacity"}),
}

# Unprofiled steps of the same machine, ms: with the fault and in the twin that differs by its fix.
REALISED_MS = {
    ("host_stall", "host-stall"): (24.64, 4.59),
    ("train_opt_forloop", "optimizer-unfused"): (21.4, 14.98),
    ("vocab_unaligned", "gemm-misaligned"): (13.20, 5.00),
    ("h2d_pageable", "blocking-copy"): (30.97, 9.70),
}
# Peaks of allocated bytes in the same traces: with the fault and in the twin.
REALISED_BYTES = {("alloc_spike_naive_attn", "allocation-spike"): (6_948_208_640, 908_345_344)}
