"""grad-in-inference: a forward-only phase records a graph for a backward pass that never comes."""

from __future__ import annotations

from reportgen import formatting as fmt
from reportgen.analysis.model import AutogradWork, CaseAnalysis
from reportgen.findings.model import Evidence
from reportgen.findings.places import place_of
from reportgen.findings.rule import (
    Context,
    Draft,
    Rule,
    Threshold,
    Verdict,
    fired,
    not_applicable,
    not_evaluated,
    passed,
)

NODES = Threshold(
    name="nodes",
    value=1,
    unit="nodes per step",
    reason="without gradients no node is made at all; a single one is a leaf that somebody asked a gradient of",
)
# A window of so few steps can hold a forward whose backward lies behind its end.
LEAST_STEPS = 2
FORWARD_PHASES = frozenset({"prefill", "decode", "forward", "encode", "generate"})

IN_SHORT = "Run the step under `torch.inference_mode()`"


def judge(context: Context) -> Verdict:
    """Count autograd's nodes in a phase that runs no backward: each keeps what its backward would need.

    A trace from elsewhere has no phase; it counts as forward-only where no backward operator ran and no optimizer.
    """
    case = context.case
    work = case.autograd
    if case.phase is not None and case.phase not in FORWARD_PHASES:
        return not_applicable(f"the phase {fmt.legible(case.phase, 24)} needs gradients")
    if work is None or not case.num_steps:
        return not_evaluated("operators were not recorded")
    if case.phase is None and len(case.steps) < LEAST_STEPS:
        return not_evaluated("without a phase and step marks a backward may lie outside the window")
    if work.backward_operators_per_step or case.optimizer_updates:
        return not_applicable("a backward pass or an optimizer ran in the steps")
    measured = context.measured(NODES, work.nodes_per_step)
    if work.nodes_per_step > measured.threshold:
        return fired(_draft(context, case, work), measured=measured)
    return passed("no graph is recorded for a backward pass", measured)


def _draft(context: Context, case: CaseAnalysis, work: AutogradWork) -> Draft:
    place = place_of(work.source)
    at_peak = (case.memory.at_peak if case.memory else None) or ()
    kept = sum(row.bytes for row in at_peak if row.category == "activations")
    evidence = [
        Evidence(
            text=f"{fmt.plural(work.nodes_per_step, 'node')} of autograd a step{f', most {place}' if place else ''}; "
            f"no backward operator ran ({fmt.plural(case.num_steps, 'step')})",
            value=work.nodes_per_step,
            unit="per step",
        )
    ]
    if kept:
        evidence.append(Evidence(text=f"activations alive at the peak: {fmt.size(kept)}", value=kept, unit="bytes"))
    return Draft(
        title=f"{fmt.sentence_start(fmt.shorten(case.name, 20))} records gradients that nothing uses",
        evidence=tuple(evidence),
        mechanism="Each node costs host time, and keeps its operator's inputs alive until the result is dropped.",
        short_action=IN_SHORT,
        action="Run the step under `with torch.inference_mode():`, or decorate its function with "
        "`@torch.inference_mode()`; `model.eval()` alone does not do it.",
        verify=f"{context.check_command()}: this finding must be gone, and the peak of memory must not rise.",
        beware="Results of inference mode cannot enter autograd later; `torch.no_grad()` allows that."
        if case.phase is not None
        else "If the trace is of training and its backward lies outside the window, the graph is needed.",
        confidence="high" if case.phase is not None else "low",
        severity="low",
        source=work.source,
        identity=(work.source.function if work.source else "",),
        tries=("inference-mode",),
    )


RULE = Rule(id="grad-in-inference", checklist_step=5, judge=judge, thresholds=(NODES,))
