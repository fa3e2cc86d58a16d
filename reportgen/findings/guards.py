"""What rules lack before they can look: the verdicts that several of them begin with, each in one wording."""

from __future__ import annotations

from reportgen.analysis.model import CaseAnalysis
from reportgen.findings.rule import Verdict, not_applicable, not_evaluated

STEP_UNKNOWN = not_evaluated("the step's time is not known")
DEVICE_UNRECORDED = not_evaluated("device activity was not recorded")
IDLE_UNCERTAIN = not_evaluated("the device did work that was not recorded, or replayed graphs: idle time is uncertain")


def unseen_device(case: CaseAnalysis, on_a_host: str) -> Verdict | None:
    """Return why a rule about the device has nothing to look at, None where the device's activities were recorded.

    `on_a_host` is the reason where there is no device and the host does the work itself.
    """
    if case.device_kind == "host":
        return not_applicable(on_a_host)
    return DEVICE_UNRECORDED if case.device_kind == "not-recorded" else None


def unseen_shapes(case: CaseAnalysis) -> Verdict | None:
    """Return why nothing can be said of shapes, None where the step's time and shapes of device work are known."""
    if unseen := unseen_device(case, "the work was done on the host"):
        return unseen
    if not case.step_us:
        return STEP_UNKNOWN
    return None if case.coverage.shapes else not_evaluated("shapes were not recorded")
