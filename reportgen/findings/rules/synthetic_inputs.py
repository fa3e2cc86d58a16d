"""synthetic-inputs: what of the workload is not real. A fact about the run."""

from __future__ import annotations

import re

from reportgen import formatting as fmt
from reportgen.findings.model import Evidence, Statement
from reportgen.findings.rule import Context, Draft, Rule, Verdict, fired, not_evaluated, passed

# Words in which an author says that something is made up. A workload that says nothing is not judged.
_SYNTHETIC = re.compile(r"\b(random|synthetic|dummy|fake|generated|zeros)\b", re.IGNORECASE)

IN_SHORT = "Profile real inputs before acting on shapes"


def judge(context: Context) -> Verdict:
    """Read in the workload's own provenance what is synthetic."""
    case = context.case
    if not {"weights", "inputs"} & set(case.provenance):
        return not_evaluated("the workload does not say what is real and what synthetic")
    made_up = {name: text for name, text in case.provenance.items() if _SYNTHETIC.search(text)}
    if not made_up:
        return passed("the workload says that its weights and inputs are real")
    names = fmt.listing(sorted(made_up))
    draft = Draft(
        title=fmt.shorten(f"{fmt.sentence_start(case.name)} runs on synthetic {names}", 60),
        evidence=tuple(Evidence(text=f"{name}: {text}") for name, text in sorted(made_up.items())),
        mechanism="Times hold where the work does not depend on values; routing, lengths and early ends do.",
        short_action=IN_SHORT,
        action="Profile real inputs of the lengths in use before acting on shapes.",
        verify=f"{context.check_command()} with real inputs: the shapes in the operators table must stay.",
        confidence="high",
        severity="info",
        statement=Statement(lead=f"The {names} {'are' if len(made_up) > 1 or names.endswith('s') else 'is'} synthetic"),
        identity=tuple(sorted(made_up)),
    )
    return fired(draft)


RULE = Rule(id="synthetic-inputs", checklist_step=5, judge=judge)
