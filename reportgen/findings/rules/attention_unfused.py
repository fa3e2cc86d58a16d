"""attention-unfused: attention writes the whole matrix of scores to memory and reads it back."""

from __future__ import annotations

from reportgen import formatting as fmt
from reportgen.analysis.model import AttentionChain
from reportgen.analysis.replay.changes import Change
from reportgen.findings.gain import bounded_gain
from reportgen.findings.guards import unseen_shapes
from reportgen.findings.model import Evidence
from reportgen.findings.places import place_of
from reportgen.findings.rule import Context, Draft, Rule, Threshold, Verdict, fired, not_applicable, passed
from reportgen.findings.samples import recorded_steps
from reportgen.findings.shape_faults import step_us_of

SHARE = Threshold(
    name="share",
    value=0.05,
    unit="of the step",
    reason="a small matrix of scores stays cheap: below 5 % of the step writing it out is right as it is",
)
# Operators that put minus infinity where nothing may be attended to; "triu" and "tril" make a causal mask.
_MASKS = ("masked_fill", "where", "triu", "tril")

IN_SHORT = "Use `scaled_dot_product_attention` in its place"


def judge(context: Context) -> Verdict:
    """Find product, softmax over [.., T, S] and product in one function, and the device time between the products.

    The products themselves remain in a fused kernel; what it spares is writing and reading the scores in between.
    """
    if unseen := unseen_shapes(context.case):
        return unseen
    case, step_us = context.case, step_us_of(context.case)
    if not case.attention_chains:
        return not_applicable("no attention is written out as products and a softmax")
    limit = context.thresholds[SHARE.name]
    worst = context.measured(SHARE, max(chain.between_us_per_step for chain in case.attention_chains) / step_us)
    slow = [chain for chain in case.attention_chains if chain.between_us_per_step >= limit * step_us]
    if slow:
        return fired(*(_draft(context, chain, step_us) for chain in slow), measured=worst)
    return passed(f"the scores between the products take {fmt.share(worst.value)} of the step", worst)


def _draft(context: Context, chain: AttentionChain, step_us: float) -> Draft:
    case = context.case
    busy_us = case.busy_us or 0.0
    # The host issues what is left of the step; fused attention is one activity.
    activities = (case.device_time.activities_per_step if case.device_time else None) or 0.0
    kept = 1 - (chain.activities_per_step - chain.count_per_step) / activities if activities else 1.0
    host_us = kept * ((case.launching.host_low_us if case.launching else None) or 0.0)
    function = f"`{fmt.legible(chain.source.function, 16)}`" if chain.source else "Attention"
    place = place_of(chain.source)
    scores = fmt.shapes((chain.scores_shape,), (chain.scores_type,) if chain.scores_type else None)
    cost_us = chain.between_us_per_step
    links = fmt.plural(chain.activities_per_step / chain.count_per_step, "activity", "activities")
    return Draft(
        title=f"{function} writes whole attention scores: {fmt.duration_of(cost_us, step_us)}",
        evidence=(
            Evidence(
                text=f"{fmt.times(chain.count_per_step)} a step{f' {place}' if place else ''}: product, "
                f"softmax of {scores}, product, in {links} ({recorded_steps(case)})",
                value=chain.count_per_step,
                unit="per step",
            ),
            Evidence(
                text=f"{fmt.duration(cost_us)} of device time a step between the products, which take "
                f"{fmt.duration(chain.device_us_per_step - cost_us)} themselves",
                value=cost_us,
                unit="us",
            ),
        ),
        mechanism="Scale, mask, softmax and casts each read and write a matrix of queries by keys; a fused kernel "
        "keeps a piece of it on the chip and writes only the result.",
        short_action=IN_SHORT,
        action=_action(chain, place),
        verify=f"{context.check_command()}: the softmax of {scores} must be gone from the operators table and the "
        f"device's time fall by {fmt.duration(cost_us)}.",
        beware="Results differ in the last digits; a mask that is not causal goes in as `attn_mask`.",
        confidence="medium",
        gain=bounded_gain(
            step_us=step_us,
            cost_us=cost_us,
            floor_us=max(busy_us - cost_us, min(host_us, step_us)),
            resource="device",
            edit="keep the scores on the chip",
        ),
        change=Change(kind="drop-operators", operators=dict.fromkeys(chain.between_operators, 0.0)),
        source=chain.source,
        where=(chain.where,) if chain.where else (),
        identity=(chain.source.function if chain.source else "",),
    )


def _action(chain: AttentionChain, place: str) -> str:
    causal = any(mask in name for name in chain.scaling_operators for mask in ("triu", "tril"))
    masked = any(mask in name for name in chain.scaling_operators for mask in _MASKS)
    argument = ", is_causal=True" if causal else ", attn_mask=mask" if masked else ""
    queries = "queries, keys and values in half precision" if chain.scores_type == "float" else "queries, keys, values"
    return (
        f"Replace the products and the softmax {place or 'there'} by "
        f"`torch.nn.functional.scaled_dot_product_attention(q, k, v{argument})`, with {queries}."
    )


RULE = Rule(id="attention-unfused", checklist_step=1, judge=judge, thresholds=(SHARE,), of_device=True)
