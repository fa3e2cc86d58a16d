"""The fixed words of the documents: what parts, methods, outcomes and passes are called and what they mean."""

from __future__ import annotations

from typing import Literal

from reportgen.analysis.model import BudgetPart, Memory, MemoryCurve
from reportgen.findings.model import Confidence, RuleOutcome, Severity
from reportgen.recording import PassName

GainMethod = Literal["measured", "replay", "roofline", "bound", "none"]

# What a budget part is, where a device was recorded. {host} is filled for the host.
PART_MEANINGS: dict[BudgetPart, str] = {
    "compute": "kernels run",
    "communication": "collectives and sends run with nothing beside them",
    "copy": "copies and fills run with nothing beside them",
    "launch": "Python and PyTorch prepare the next launch",
    "launch-call": "the runtime call that launches",
    "turnaround": "launched, not yet started",
    "sync": "a wait the program asked for, and refilling the queue",
    "input": "the data loader has no batch ready",
    "allocator": "device memory is allocated or freed",
    "build": "plans or kernels are built or loaded",
    "stall": "the host is busy in one place",
    "profiler": "what recording adds",
    "unexplained": "no event of the trace says why",
}
# The same on a machine without a device, where the host does the work itself.
HOST_PART_MEANINGS: dict[BudgetPart, str] = {
    **PART_MEANINGS,
    "compute": "an operator is open on some thread",
    "communication": "a communication operator is open",
    "copy": "a copying operator is open",
    "launch": "Python and PyTorch between operators",
    "unexplained": "no operator is open and no event says why",
}
PART_LABELS: dict[BudgetPart, str] = {"launch-call": "launch call"}

METHOD_WORDS: dict[GainMethod, str] = {
    "measured": "measured",
    "replay": "replayed",
    "roofline": "roofline",
    "bound": "at most",
    "none": "not evaluated",
}
SEVERITY_WORDS: dict[Severity, str] = {"high": "High", "medium": "Medium", "low": "Low", "info": "Info"}
CONFIDENCE_REASONS: dict[Confidence, str] = {
    "high": "the fix was made and the step timed in turn with the unchanged one",
    "medium": "the step was replayed with the fix made, on a model that gives the unchanged step within 10\u00a0%",
    "low": "the gain is a bound, or the cause is inferred",
}
OUTCOME_WORDS: dict[RuleOutcome, str] = {
    "fired": "fired",
    "passed": "passed",
    "not-applicable": "not applicable",
    "not-evaluated": "not evaluated",
    "failed": "failed",
}
OUTCOME_ORDER: tuple[RuleOutcome, ...] = ("fired", "passed", "not-applicable", "not-evaluated", "failed")

PASS_MEANINGS: dict[PassName, str] = {
    "cold": "building the case, the first step, the allocator's first growth; no profiler",
    "timing": "the step's time; no profiler",
    "timeline": "when activities ran, launches, gaps; activities recorded and nothing else",
    "detail": "operator, shape, function and allocation; shapes, memory and stacks recorded",
    "memory": "what was alive at the peak and who allocated it; allocator history",
    "sync": "the line of each synchronization; no profiler",
    "ceilings": "copy bandwidth and matrix rate that the device reaches",
    "alternatives": "the step with a fix tried; no profiler",
}

# The checklist: its five steps, and what each looks at.
CHECKLIST: dict[int, tuple[str, str]] = {
    1: ("Operators", "time by operator, shape and type; fusion of optimizer and attention; copies"),
    2: ("The timeline", "every wait and its cause; synchronizations, stalls and slow steps; how work is issued"),
    3: ("Memory", "the high-water mark, rises that are gone again, growth from step to step, the allocator's calls"),
    4: ("Shapes", "time over the roof's time; alignment and layout; the same operator at other shapes"),
    5: ("The real workload", "the first step, the profiler's own cost, what is synthetic, spread, gaps in the record"),
}

GLOSSARY: tuple[tuple[str, str], ...] = (
    ("activity", "a kernel, copy or fill on the device"),
    ("busy", "the union of activities over streams: two at once count once"),
    ("completion", "the end of the last activity that a step launched, or the step's host end if that is later"),
    ("pipelined step", "the time from one completion to the next, steps issued back to back"),
    ("drained step", "the time from the host's start on an idle device to completion"),
    ("lap", "one pass over the shapes that a case steps through: new ones in the first, known ones in later laps"),
    ("settling step", "the first recorded step: it fills the queue and is in no median"),
    ("spread of a step", "5th to 95th percentile of its times; of fewer than 20, from the shortest to the longest"),
    (
        "launch latency",
        "from the end of a launch call to the start of its activity on an idle device; the "
        "10\u00a0% quantile of the recorded launches, since a launch can be slow for reasons of its own",
    ),
    ("lead", "how far the host runs ahead of the device: launch end to activity start"),
    ("refilling", "after a wait has emptied the queue, launches come late until the host is ahead of the device again"),
    ("build", "preparing what a step needs once: a library's plan, a kernel's code; of a case, the model and its data"),
    ("stall", "host code in one place that launches nothing while the device has nothing left to do"),
    ("roof", "the shortest time that the measured or stated ceilings allow for an operator's work"),
    ("replayed", "the step's host stretches, streams and waits run again as a model with the fix made"),
    ("at most", "a bound: the gain can be smaller, down to nothing"),
)
LIMITS: tuple[str, ...] = (
    "Cache hits, occupancy and bank conflicts are in no trace; hardware counters tell them.",
    "A Python frame carries the line where its function begins, not the line that acts.",
    "A kernel launched by a graph replay has no operator and no shape.",
    "Gains are not added up: each is what one fix gives alone. “One fix after another” says what they give together.",
)


def part_label(part: BudgetPart) -> str:
    """Return the name of a budget part as documents print it."""
    return PART_LABELS.get(part, part)


def step_of_curve(curve: MemoryCurve | None) -> str | None:
    """Name the step that a curve is of, among those that were recorded beside it; None where it is alone."""
    if curve is None or curve.ordinal is None or curve.num_steps < 2:
        return None
    return f"step {curve.ordinal} of {curve.num_steps}"


def pass_of_curve(memory: Memory) -> str:
    """Return the pass of an own run that the curve of allocated bytes is of."""
    return "memory pass" if memory.curve is not None and memory.curve.basis == "snapshot" else "detail pass"
