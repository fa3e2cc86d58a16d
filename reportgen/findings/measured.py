"""Gains that were measured: the fix was made by the runner and the step timed again."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from reportgen import formatting as fmt
from reportgen.findings.model import Evidence, Gain

if TYPE_CHECKING:
    from reportgen.analysis.model import Alternative, CaseAnalysis
    from reportgen.findings.rule import Draft

# What an alternative is called in a sentence.
NAMES = {
    "cuda-graph": "replayed as one CUDA graph",
    "compile": "compiled",
    "compile-reduce-overhead": "compiled with reduced overhead",
    "sdpa-flash": "with the flash attention backend",
    "sdpa-efficient": "with the memory-efficient attention backend",
    "sdpa-cudnn": "with the cuDNN attention backend",
    "sdpa-math": "with the math attention backend",
    "matmul-tf32": "with TF32 matrix products",
    "channels-last": "in channels-last layout",
    "cudnn-benchmark": "with cudnn.benchmark",
    "inference-mode": "in inference mode",
    "autocast-bf16": "under bf16 autocast",
    "fused-optimizer": "with the fused optimizer",
    "async-input": "with pinned, asynchronous input copies",
}


def with_measured_gain(draft: Draft, case: CaseAnalysis) -> Draft:
    """Put the gain of the fastest of the draft's alternatives in place of the bound, where one was tried and helped.

    One that was tried and did not help is said as evidence; the bound stays, for the fix may be made in other ways.
    """
    tried = [one for one in case.alternatives if one.name in draft.tries and one.outcome != "not-applicable"]
    step_us = case.step_us
    if not tried or not step_us:
        return draft
    faster = [one for one in tried if one.outcome == "faster" and one.step_us is not None]
    evidence = (*draft.evidence, *(_evidence(one) for one in tried))
    if not faster:
        return dataclasses.replace(draft, evidence=evidence)
    best = min(faster, key=lambda one: one.step_us.median_us if one.step_us else float("inf"))
    gain = _gain(best, step_us, draft.gain)
    if gain is None:
        return dataclasses.replace(draft, evidence=evidence)
    return dataclasses.replace(draft, evidence=evidence, gain=gain, confidence="high")


def name_of(alternative: str) -> str:
    """Return an alternative as a sentence names it: "replayed as one CUDA graph"."""
    return NAMES.get(alternative, f"as {fmt.legible(alternative.removeprefix('variant:'), 40)}")


def _gain(best: Alternative, step_us: float, bound: Gain | None) -> Gain | None:
    times = best.step_us
    if times is None or times.median_us >= step_us:
        return None
    return Gain(
        at_most_us_per_step=step_us - times.median_us,
        at_least_us_per_step=max(0.0, step_us - times.p95_us),
        share_of_step=(step_us - times.median_us) / step_us,
        step_after_us=times.median_us,
        resource=bound.resource if bound else "both",
        method="measured",
        edit=best.name,
        excludes=bound.excludes if bound else (),
    )


def _evidence(tried: Alternative) -> Evidence:
    name = name_of(tried.name)
    if tried.step_us is None or tried.original_us is None:
        return Evidence(text=f"{name} it could not be timed: {fmt.legible(tried.reason or 'no reason known', 120)}")
    same = "" if tried.outcome != "within-noise" else ", within the spread of the blocks"
    difference = tried.max_relative_difference
    results = "" if difference is None else f"; its results differ by {_difference(difference)}"
    count = fmt.count(tried.step_us.num_samples)
    return Evidence(
        text=f"{name} the step takes {fmt.step_time(tried.step_us.median_us)}, as it is "
        f"{fmt.step_time(tried.original_us.median_us)} (n = {count} each, blocks in turn){same}{results}",
        value=tried.step_us.median_us,
        unit="us",
    )


def _difference(value: float) -> str:
    """Write a relative difference: per cent of the norm, or its order where it is rounding."""
    if value == 0:
        return "nothing"
    return f"{fmt.share(value, 2)} of their norm"
