"""The verdict: what limits the steps, and what the best changes bring them to, in two sentences."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from reportgen import formatting as fmt
from reportgen.analysis.model import WORK_PARTS, BudgetPart, CaseAnalysis
from reportgen.findings.model import Finding
from reportgen.report import wording
from reportgen.report.model import Report
from reportgen.report.view import cases
from reportgen.report.view.gains import step_before

# From this share of the step on the device's own work is what limits it: what is left to wait is a fifth at most.
DEVICE_BOUND_SHARE = 0.8
# A cause that makes this share of the waiting names the limit.
LEADING_SHARE_OF_WAITS = 0.6
MOST_CASES = 2  # named in a sentence; more are counted
# Copies or communication that are this share of the device's work are named: work of another kind limits the step.
NAMED_SHARE_OF_WORK = 0.5

_HOST_PARTS: frozenset[BudgetPart] = frozenset(
    {"launch", "launch-call", "input", "build", "stall", "sync", "allocator"}
)
_WAITS_FOR: dict[str, str] = {
    "host": "The device waits for the host",
    "launch": "The device waits for the host",
    "launch-call": "The device waits for the host’s launch calls",
    "input": "The device waits for input",
    "build": "The device waits for the host, which builds plans or kernels",
    "stall": "The device waits for one place in the host’s code",
    "sync": "The device waits after synchronizations",
    "allocator": "The device waits for memory to be allocated and freed",
    "turnaround": "The device waits between launch and start",
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class VerdictText:
    """The two sentences."""

    limits: str
    changes: str


def verdict(report: Report) -> VerdictText:
    """Say what limits the cases of `report`, and what the best change to each brings."""
    usable = [case for case in report.cases if cases.step_us(case) is not None]
    if not usable:
        return VerdictText(limits=_nothing(report), changes="What there is to gain was not evaluated.")
    return VerdictText(limits=_limits(usable), changes=_changes(report, usable))


def limit_of(case: CaseAnalysis) -> str:
    """Return what limits a case: "work", "host", a budget part, "cpu", or why it is not known."""
    if case.device_kind == "not-recorded":
        return "not-recorded"
    if case.device_kind == "host":
        return "cpu"
    step_us, work_us = cases.step_us(case), cases.work_us(case)
    if not step_us or work_us is None:
        return "unknown"
    if work_us >= DEVICE_BOUND_SHARE * step_us:
        return "work"
    if case.budget is None:
        return "unknown"
    if case.launching is not None and not case.launching.idle_is_certain:
        return "uncertain"
    return _waiting_limit(case)


def _waiting_limit(case: CaseAnalysis) -> str:
    waits = (
        {row.name: row.us_per_step for row in case.budget.parts if row.name not in WORK_PARTS} if case.budget else {}
    )
    total_us = sum(waits.values())
    undecided = case.launching is not None and case.launching.verdict == "undecided"
    known = {name: us for name, us in waits.items() if name not in ("profiler", "unexplained")}
    if total_us <= 0 or not known:
        return "unknown"
    leading = max(known, key=lambda name: known[name])
    if known[leading] >= LEADING_SHARE_OF_WAITS * total_us:
        return "undecided" if undecided and leading in ("launch", "launch-call") else leading
    host_us = sum(us for name, us in known.items() if name in _HOST_PARTS)
    if undecided:
        return "undecided"
    return "host" if host_us >= total_us / 2 else leading


def _nothing(report: Report) -> str:
    failed = [case for case in report.cases if case.outcome == "failed"]
    if failed:
        return f"No step was timed: {fmt.plural(len(failed), 'case')} failed."
    return "No step was recorded, so nothing can be said about its time."


def _limits(usable: Sequence[CaseAnalysis]) -> str:
    """Write one clause for all cases where the same thing limits them, else one sentence for each kind."""
    kinds: dict[str, list[CaseAnalysis]] = {}
    for case in usable:
        kinds.setdefault(limit_of(case), []).append(case)
    if len(kinds) > 1 and all(kind == "host" or kind in _HOST_PARTS for kind in kinds):
        kinds = {"host": list(usable)}
    ordered = sorted(kinds.items(), key=lambda item: -max(cases.step_us(case) or 0.0 for case in item[1]))
    return " ".join(_clause(kind, members, alone=len(usable) == 1) for kind, members in ordered[:MOST_CASES])


def _clause(kind: str, members: Sequence[CaseAnalysis], *, alone: bool) -> str:
    shown = members[:MOST_CASES] if len(members) > MOST_CASES + 1 else members
    parts = [f"{_work_of_step(case)}{_where(case, alone)}" for case in shown]
    left = len(members) - len(shown)
    more = f", and likewise in {fmt.spelled(left)} more cases" if left else ""
    works = fmt.listing(parts)
    if kind == "not-recorded":
        steps = _steps(shown, alone=alone)
        return f"No device activity was recorded: the step takes {steps}, and what the device does in it is not known."
    if kind == "uncertain":
        return f"The device works {works} as far as recorded; what looks like waiting may be work that was not."
    if kind == "cpu" and not any(cases.work_us(case) for case in members):
        return f"No operator ran in the recorded steps, which take {_steps(shown, alone=alone)}."
    if kind == "cpu":
        return f"The step is the host’s own work: operators run {_largest(shown, alone=alone)}{more}."
    if kind == "work":
        return f"The device’s own work sets the step: it is busy for {_busy(shown, alone=alone)}{more}."
    if kind == "undecided":
        return f"The device works {works}; whether it waits for the host or for the profiler cannot be told."
    if kind == "unknown":
        return f"The device works {works}; why it waits is not known."
    return f"{_WAITS_FOR[kind]}: it works {works}{more}."


def _steps(shown: Sequence[CaseAnalysis], *, alone: bool) -> str:
    return fmt.listing([f"{fmt.step_time(cases.step_us(case))}{_where(case, alone)}" for case in shown])


def _largest(shown: Sequence[CaseAnalysis], *, alone: bool) -> str:
    """Say how long operators run in each case, and which of them takes the most host time of its own."""
    texts = []
    for case in shown:
        most = max(case.operators.items, key=lambda item: item.share_of_host or 0.0, default=None)
        named = (
            f" ({fmt.operator_name(most.name, 40)} {fmt.share(most.share_of_host)})"
            if most and most.share_of_host
            else ""
        )
        texts.append(f"{_work_of_step(case)}{_where(case, alone)}{named}")
    return fmt.listing(texts)


def _busy(shown: Sequence[CaseAnalysis], *, alone: bool) -> str:
    return fmt.listing(
        [
            f"{fmt.share(min(1.0, (cases.work_us(case) or 0.0) / (cases.step_us(case) or 1.0)))} of "
            f"{fmt.step_time(cases.step_us(case))}{_of_it(case)}{_where(case, alone)}"
            for case in shown
        ]
    )


def _of_it(case: CaseAnalysis) -> str:
    """Name copies or communication where they are most of the work: "(23.8 ms of it copies)"."""
    work_us = cases.work_us(case)
    if not work_us or case.budget is None or case.device_kind != "device":
        return ""
    named = {"copy": "copies", "communication": "communication"}
    for row in case.budget.parts:
        if row.name in named and row.us_per_step >= NAMED_SHARE_OF_WORK * work_us:
            return f" ({fmt.step_time(row.us_per_step)} of it {named[row.name]})"
    return ""


def _where(case: CaseAnalysis, alone: bool) -> str:
    return "" if alone else f" in {cases.label(case)}"


def _work_of_step(case: CaseAnalysis) -> str:
    return f"{fmt.duration_of(cases.work_us(case), cases.step_us(case))}{_of_it(case)}"


def _changes(report: Report, usable: Sequence[CaseAnalysis]) -> str:
    best = [(case, finding) for case in usable if (finding := cases.best_gain(report, case))]
    if not best:
        return _no_gain(report, usable)
    best.sort(key=lambda pair: -(pair[1].gain.share_of_step or 0.0) if pair[1].gain else 0.0)
    shown = sorted(best[: MOST_CASES + 1], key=lambda pair: list(usable).index(pair[0]))
    number = fmt.spelled(len(shown)).capitalize()
    step = fmt.noun(len(shown), "step")
    verb = "brings" if len(shown) == 1 else "bring"
    noun = fmt.noun(len(shown), "change")
    profiled = "profiled " if all(cases.is_profiled(case) for case, _ in shown) else ""
    # Two steps of two cases stand in the order of the sentence before; else it takes names to tell them apart.
    apart = len(usable) > MOST_CASES or len(shown) < len(usable)
    where = f" of {fmt.listing([cases.label(case) for case, _ in shown])}" if apart else ""
    methods = _methods([finding for _, finding in shown])
    before, after = ("", " at best") if methods is None else (f", {methods},", "")
    return f"{number} {noun}{before} {verb} the {profiled}{step}{where} to {_after(shown)}{after}."


def _after(shown: Sequence[tuple[CaseAnalysis, Finding]]) -> str:
    unit, size = cases.step_unit([case for case, _ in shown])
    gains = [gain for _, finding in shown if (gain := finding.gain) and gain.step_after_us is not None]
    some_known = any(gain.method != "bound" for gain in gains)
    values = [
        f"{'at best ' if some_known and gain.method == 'bound' else ''}{fmt.number((gain.step_after_us or 0.0) / size)}"
        for gain in gains
    ]
    return f"{fmt.listing(values)}{fmt.NBSP}{unit}"


def _methods(findings: Sequence[Finding]) -> str | None:
    """Return how the gains are known, "both measured"; None where each is a bound only."""
    words = [wording.METHOD_WORDS[finding.gain.method] for finding in findings if finding.gain]
    if set(words) == {"at most"}:
        return None
    if len(words) == 1:
        return words[0]
    if len(set(words)) == 1:
        return f"{'both' if len(words) == 2 else 'all'} {words[0]}"
    spoken = [word if word != "at most" else "a bound" for word in dict.fromkeys(words)]
    return fmt.listing(
        [
            f"{fmt.spelled(sum(1 for w in words if w == word or (word == 'a bound' and w == 'at most')))} {word}"
            for word in spoken
        ]
    )


def _no_gain(report: Report, usable: Sequence[CaseAnalysis]) -> str:
    rare = next((f for f in cases.faults(report) if f.gain and f.gain.base == "mean-step"), None)
    if rare is not None and rare.gain is not None:
        before, after = step_before(report, rare), rare.gain.step_after_us
        return f"No rule found time to gain but in single slow steps: {fmt.change(before, after)} in the mean at best."
    memory = next((f for f in cases.faults(report) if f.gain and f.gain.bytes), None)
    if memory is not None and memory.gain is not None:
        return f"One change takes {fmt.size(memory.gain.bytes)} off the peak; no rule found time to gain."
    return _rules_sentence(report)


def _rules_sentence(report: Report) -> str:
    """Count what the rules did, for a report that promises nothing."""
    outcomes = [record.outcome for record in report.rules]
    passed, open_ = outcomes.count("passed"), outcomes.count("not-evaluated") + outcomes.count("failed")
    if not outcomes:
        return "No rule was evaluated."
    rest = f", {fmt.spelled(open_)} could not be evaluated" if open_ else ""
    return f"No rule found time to gain: {fmt.spelled(passed)} passed{rest}."
