"""Gains that were measured: the fix was made by the runner and the step timed again."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from reportgen import formatting as fmt
from reportgen.findings.model import Evidence, Gain
from reportgen.findings.samples import spread_ends

if TYPE_CHECKING:
    from reportgen.analysis.model import Alternative, CaseAnalysis
    from reportgen.findings.rule import Draft

# What an alternative is called in a sentence.
NAMES = {
    "cuda-graph": "captured as one CUDA graph",
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
    best = min(faster, key=lambda one: one.step_us.median_us if one.step_us else float("inf"), default=None)
    replayed_us = draft.gain.step_after_us if draft.gain and draft.gain.method == "replay" else None
    evidence = (*draft.evidence, *(_evidence(one, replayed_us if one is best else None) for one in tried))
    if best is None:
        return dataclasses.replace(draft, evidence=evidence)
    gain = _gain(best, draft.gain)
    if gain is None:
        return dataclasses.replace(draft, evidence=evidence)
    name = name_of(best.name)
    verify = f"{draft.verify} {name[:1].upper()}{name[1:]} the step came to {fmt.step_time(gain.step_after_us)}."
    return dataclasses.replace(draft, evidence=evidence, gain=gain, confidence="high", verify=verify)


def name_of(alternative: str) -> str:
    """Return an alternative as a sentence names it: "captured as one CUDA graph"."""
    return NAMES.get(alternative, f"as {fmt.legible(alternative.removeprefix('variant:'), 40)}")


def _gain(best: Alternative, bound: Gain | None) -> Gain | None:
    """Return what the alternative took off the step in blocks in turn with it.

    It is told from the step of those blocks: the case's own was timed at another minute, and the host's pace wanders.
    """
    times, original = best.step_us, best.original_us
    if times is None or original is None or times.median_us >= original.median_us:
        return None
    return Gain(
        at_most_us_per_step=original.median_us - times.median_us,
        at_least_us_per_step=max(0.0, original.median_us - times.spread_us[1]),
        share_of_step=1 - times.median_us / original.median_us,
        step_after_us=times.median_us,
        resource=bound.resource if bound else "both",
        method="measured",
        edit=best.name,
        excludes=bound.excludes if bound else (),
    )


def _evidence(tried: Alternative, replayed_us: float | None) -> Evidence:
    """Say what the step took in blocks in turn; `replayed_us` is what the replay made of the fix."""
    name = name_of(tried.name)
    times, original = tried.step_us, tried.original_us
    if times is None or original is None:
        return Evidence(text=f"{name} it could not be timed: {fmt.legible(tried.reason or 'no reason known', 120)}")
    same = ", within the spread of the blocks" if tried.outcome == "within-noise" else ""
    difference = tried.max_relative_difference
    results = "" if difference is None else f"; {_results(difference)}"
    miss = "" if replayed_us is None else f"; the replay is {_off(replayed_us, times.median_us)}"
    return Evidence(
        text=f"{name} and timed, the step takes {fmt.step_time(times.median_us)} "
        f"({fmt.spread(*times.spread_us)}, {spread_ends(times)}), unchanged {fmt.step_time(original.median_us)} in "
        f"blocks in turn with it ({fmt.sample(times.num_samples)} each){same}{miss}{results}",
        value=times.median_us,
        unit="us",
    )


def _off(replayed_us: float, measured_us: float) -> str:
    """Write how far a replayed step is from the measured one."""
    share = replayed_us / measured_us - 1
    return f"{fmt.share(abs(share))} {'above' if share > 0 else 'below'} that"


def _results(difference: float) -> str:
    """Say how far results lie apart: in per cent of their norm."""
    if difference == 0:
        return "its results are equal"
    return f"its results differ by {fmt.share(difference, 2)} of their norm"
