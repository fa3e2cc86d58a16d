"""phase-contrast: the same operators are limited by different things in two cases. A fact, no fault."""

from __future__ import annotations

from reportgen import formatting as fmt
from reportgen.analysis.comparison import Comparison, FamilyCell, compare_cases
from reportgen.findings.guards import unseen_shapes
from reportgen.findings.model import Evidence
from reportgen.findings.rule import Context, Draft, Rule, Threshold, Verdict, fired, not_applicable, passed

SHARE = Threshold(
    name="share",
    value=0.1,
    unit="of device time",
    reason="a family with less than a tenth of the work in either case does not characterise it",
)
_PHASES = ("prefill", "decode")
_LIMITS = {"compute": "arithmetic", "memory": "memory", "latency": "latency"}

IN_SHORT = "Judge the two cases apart"


def judge(context: Context) -> Verdict:
    """Compare the bound of each family of operators in a decode case with that in the report's prefill case."""
    if unseen := unseen_shapes(context.case):
        return unseen
    case = context.case
    partner = next((other for other in context.cases if other.phase == _PHASES[0]), None)
    if case.phase != _PHASES[1] or partner is None:
        return not_applicable("this is no decode case beside a prefill case")
    comparison = compare_cases([partner, case])
    if comparison is None:
        return not_applicable("one of the two cases has no device time")
    found = _contrasts(comparison, context.thresholds[SHARE.name])
    if not found:
        return passed("no family of operators of weight changes its bound from prefill to decode")
    family, before, after = found[0]
    return fired(
        Draft(
            title=f"{family.capitalize()}: limited by {_LIMITS[before.bound or '']} in prefill, "
            f"by {_LIMITS[after.bound or '']} in decode",
            evidence=tuple(
                Evidence(
                    text=f"{name}: {_words(first)} in {fmt.shorten(partner.name, 16)}, "
                    f"{_words(second)} in {fmt.shorten(case.name, 16)}"
                )
                for name, first, second in found[:3]
            ),
            mechanism="Prefill multiplies each weight with many tokens, decode with few: the same bytes are read for "
            "less arithmetic.",
            short_action=IN_SHORT,
            action="Judge the two apart: what speeds up prefill (faster arithmetic) does little for decode, which "
            "gains from smaller weights and cache, larger batches, or fewer launches.",
            verify=f"{context.check_command()}: the comparison table shows bound and intensity of both.",
            confidence="high",
            severity="info",
            identity=(family,),
        )
    )


def _contrasts(comparison: Comparison, least: float) -> list[tuple[str, FamilyCell, FamilyCell]]:
    found = []
    for row in comparison.families:
        before, after = row.cells
        if before is None or after is None or None in (before.bound, after.bound) or before.bound == after.bound:
            continue
        if max(before.share_of_device, after.share_of_device) >= least:
            found.append((row.family, before, after))
    return found


def _words(cell: FamilyCell) -> str:
    intensity = f", {fmt.quantity(cell.intensity, 'FLOP/B')}" if cell.intensity is not None else ""
    return f"{cell.bound}-bound at {fmt.share(cell.share_of_device)} of device time{intensity}"


RULE = Rule(id="phase-contrast", checklist_step=4, judge=judge, thresholds=(SHARE,))
