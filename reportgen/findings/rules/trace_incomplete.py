"""trace-incomplete: the trace lacks something that a printed conclusion rests on."""

from __future__ import annotations

from reportgen import formatting as fmt
from reportgen.findings.model import Evidence
from reportgen.findings.rule import Context, Draft, Rule, Threshold, Verdict, fired, not_evaluated, passed

UNATTRIBUTED = Threshold(
    name="unattributed-share",
    value=0.05,
    unit="of device time",
    reason="under a twentieth, what has no operator cannot change the order of the operators that matter",
)

IN_SHORT = "Record the trace again as the notices say"


def judge(context: Context) -> Verdict:
    """Collect the notices that can make a conclusion wrong, and device time without an operator over the threshold."""
    case = context.case
    if not case.num_steps and not case.notices:
        return not_evaluated("no trace was recorded")
    grave = [notice for notice in case.notices if notice.affects_conclusions]
    evidence = [Evidence(text=notice.text, value=notice.count, unit=None) for notice in grave]
    limit = context.thresholds[UNATTRIBUTED.name]
    share = case.device_time.unattributed_share if case.device_time else None
    measured = context.measured(UNATTRIBUTED, share) if share is not None else None
    if share is not None and share > limit:
        text = f"{fmt.share(share)} of device time has no operator: the ranking of operators covers the rest"
        evidence.append(Evidence(text=text, value=share, unit="share"))
    if not evidence:
        return passed("nothing that a conclusion rests on is missing", measured)
    respects = fmt.plural(len(evidence), "respect")
    draft = Draft(
        title=f"The trace of {fmt.shorten(case.name, 20)} is incomplete in {respects}",
        evidence=tuple(evidence),
        mechanism="What the profiler did not record cannot be told from what did not happen.",
        short_action=IN_SHORT,
        action="Record the trace again as the notices say, before acting on what they touch.",
        verify=f"{context.check_command()}: the notices must be gone.",
        confidence="high",
        severity="info",
        identity=tuple(notice.code for notice in grave),
    )
    return fired(draft, measured=measured)


RULE = Rule(id="trace-incomplete", checklist_step=5, judge=judge, thresholds=(UNATTRIBUTED,))
