"""Key figures: one row a case, five figures with what stands behind each."""

from __future__ import annotations

import dataclasses

from reportgen import formatting as fmt
from reportgen.analysis.model import CaseAnalysis, StepTimes
from reportgen.findings.samples import spread_ends
from reportgen.report import wording
from reportgen.report.model import Report
from reportgen.report.view import cases
from reportgen.report.view.gains import step_before
from reportgen.report.view.medium import SCREEN, Medium


@dataclasses.dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure, its unit and the note under it; without a figure `value` says why in words."""

    value: str
    unit: str = ""
    note: str = ""
    missing: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class CaseFigures:
    """The figures of one case, in the order of the heads."""

    case: str
    figures: tuple[Figure, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class KeyFigures:
    """The table of key figures; `more` says what was left out."""

    heads: tuple[str, ...]
    rows: tuple[CaseFigures, ...]
    more: str | None


def view_figures(report: Report, medium: Medium) -> KeyFigures:
    """Return the key figures of the cases that page one has room for."""
    shown = report.cases[: medium.most_cases_on_page_one]
    rows = tuple(CaseFigures(case=cases.label(case), figures=case_figures(report, case, medium)) for case in shown)
    left = len(report.cases) - len(shown)
    more = f"{fmt.plural(left, 'more case')}, each in the budget below." if left else None
    return KeyFigures(heads=_heads(report, shown), rows=rows, more=more)


def _heads(report: Report, shown: tuple[CaseAnalysis, ...]) -> tuple[str, ...]:
    profiled = {cases.is_profiled(case) for case in shown}
    step = {frozenset({True}): "Step, profiled", frozenset({False}): "Step, not profiled"}.get(
        frozenset(profiled), "Step"
    )
    on_host = bool(shown) and all(case.device_kind == "host" for case in shown)
    best = [finding for case in shown if (finding := cases.best_gain(report, case))]
    measured = bool(best) and all(finding.gain and finding.gain.method == "measured" for finding in best)
    return (
        "Case",
        step,
        "Throughput",
        "Operators run" if on_host else "Device busy",
        "Best step measured" if measured else "With the best fix",
        "Peak memory",
    )


def case_figures(
    report: Report, case: CaseAnalysis, medium: Medium = SCREEN
) -> tuple[Figure, Figure, Figure, Figure, Figure]:
    """Return step, throughput, busy share, best step and peak memory of a case."""
    return (_step(case, medium), _throughput(case), _busy(case), _best(report, case), _memory(case))


def split(text: str, note: str = "") -> Figure:
    """Return a figure from a text as `formatting` writes it, "6.60 ms"."""
    value, _, unit = text.rpartition(fmt.NBSP)
    if not value or text == fmt.NOT_RECORDED:
        return Figure(value=text, note=note, missing=text == fmt.NOT_RECORDED)
    return Figure(value=value, unit=unit, note=note)


def missing(note: str = "", word: str = fmt.NOT_RECORDED) -> Figure:
    """Return the figure of what is not known."""
    return Figure(value=word, note=note, missing=True)


def chosen_times(case: CaseAnalysis) -> StepTimes | None:
    """Return the samples that the step's time is the median of."""
    return case.timing.counted if case.timing is not None else None


def spread_words(case: CaseAnalysis, medium: Medium) -> str:
    """Return the spread of the step's time and what it is: "6.00 to 7.30 ms, 5th to 95th percentile, n = 200".

    Paper leaves percentiles, which most spreads are of, to the glossary: its page one has no line for them.
    """
    times = chosen_times(case)
    if times is None:
        return ""
    ends = f"{spread_ends(times)}, " if times.is_few or not medium.is_print else ""
    return f"{fmt.spread(*times.spread_us)}, {ends}{fmt.sample(times.num_samples)}"


def _step(case: CaseAnalysis, medium: Medium) -> Figure:
    if case.outcome == "failed":
        return missing("the case failed")
    step_us = cases.step_us(case)
    if step_us is None:
        return missing("no step was timed")
    revisit = case.timing.revisit if case.timing else None
    if revisit is not None and revisit.median_us < step_us / 2:
        known = f"{fmt.step_time(revisit.median_us)}, shapes known"
        spread = spread_words(case, medium)
        return split(fmt.step_time(step_us), f"{spread}; {known}" if spread else known)
    return split(fmt.step_time(step_us), spread_words(case, medium))


def _throughput(case: CaseAnalysis) -> Figure:
    throughput = case.timing.throughput if case.timing else None
    if throughput is None:
        return missing("no tokens given")
    thousands = throughput.value >= 10_000
    value = fmt.number(throughput.value / 1e3 if thousands else throughput.value)
    step_us = cases.step_us(case)
    noun = throughput.unit.partition("/")[0]
    note = ""
    if step_us and noun != "steps":
        note = f"{fmt.plural(round(throughput.value * step_us / 1e6, 6), noun.removesuffix('s'))} a step"
    return Figure(value=value, unit=("k " if thousands else "") + throughput.unit, note=note)


def _busy(case: CaseAnalysis) -> Figure:
    if case.device_kind == "not-recorded":
        return missing("no device activity")
    work_us, step_us = cases.work_us(case), cases.step_us(case)
    if work_us is None or not step_us:
        return missing()
    return split(fmt.share(min(1.0, work_us / step_us)), f"{fmt.step_time(work_us)} a step")


def _best(report: Report, case: CaseAnalysis) -> Figure:
    finding = cases.best_gain(report, case)
    step_us = cases.step_us(case)
    if finding is None or finding.gain is None or step_us is None:
        return missing("no rule found time to gain" if step_us else "", "none")
    after_us = finding.gain.step_after_us
    unit, size = fmt.step_unit(step_us)
    # Of a step a bound is the best, of a gain it is the most.
    known = "at best" if finding.gain.method == "bound" else wording.METHOD_WORDS[finding.gain.method]
    before = fmt.number((step_before(report, finding) or step_us) / size)
    if before == fmt.number(step_us / size):
        note = f"{finding.id}, {known}, {fmt.factor(step_us, after_us)}"
    else:  # what was timed in turn with it is another step than the one beside it
        note = f"{finding.id}, {known} from {before}"
    return Figure(value=fmt.number(after_us / size if after_us is not None else None), unit=unit, note=note)


def _memory(case: CaseAnalysis) -> Figure:
    memory = case.memory
    if memory is None or memory.peak_allocated_bytes is None:
        return missing("not traced")
    note = ""
    if memory.since_recording:
        note = "above what was there before"
    elif memory.start_bytes is not None:
        note = f"{fmt.size(memory.peak_allocated_bytes - memory.start_bytes)} over its start"
    return split(fmt.size(memory.peak_allocated_bytes), note)
