"""The head of the document: title, sub-title, how sure, notices."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Sequence
from pathlib import PurePath

from reportgen import formatting as fmt
from reportgen.analysis.model import CaseAnalysis, Notice
from reportgen.findings.model import Confidence, Finding
from reportgen.report import wording
from reportgen.report.model import Report
from reportgen.report.view import cases
from reportgen.report.view.figures import chosen_times
from reportgen.report.view.medium import Medium

MOST_NOTICES = 3
LONGEST_REASON = 160
# Medians of the first and the last quarter that lie further apart than this share of the median are two regimes.
DRIFT_SHARE = 0.2
_COMMON = ("batch", "dtype", "preset")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Head:
    """What stands above the verdict."""

    title: str
    subtitle: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Sureness:
    """A line of "How sure": what is said of which findings."""

    lead: str
    text: str


def view_head(report: Report) -> Head:
    """Return title and sub-title: what ran, where, when."""
    return Head(title=_title(report), subtitle=" · ".join(_subtitle(report)))


def short_title(report: Report) -> str:
    """Return what was profiled, without the device."""
    if report.workload is not None:
        return fmt.legible(report.workload.name, 48)
    return fmt.legible(PurePath(report.input.path).name.removesuffix(".gz").removesuffix(".json"), 48)


def _title(report: Report) -> str:
    place = device_words(report)
    return f"{short_title(report)} on {place}" if place else short_title(report)


def device_words(report: Report) -> str | None:
    """Return the devices of a report as words, "one NVIDIA H200"; None where nothing is known of them."""
    if report.cases and all(case.device_kind == "host" for case in report.cases):
        processor = report.environment.processor
        return fmt.legible(processor, 40) if processor else "CPU"
    names = [device.name for device in report.devices] or [case.device for case in report.cases[:1] if case.device]
    if not names:
        return None
    worked = max((case.device_time.num_devices or 0 for case in report.cases if case.device_time), default=0)
    # A file lists every device of the machine; those that did nothing in the steps were not measured.
    number = min(worked, len(names)) or len(names)
    if len(set(names)) > 1 and number > 1:
        return f"{fmt.spelled(number)} devices"
    used = next((case.device for case in report.cases if case.device), None) if len(set(names)) > 1 else None
    return f"{fmt.spelled(number)} {fmt.legible(used or names[0], 40)}"


def _subtitle(report: Report) -> list[str]:
    parts = []
    if report.workload is not None and report.workload.description:
        parts.append(fmt.legible(report.workload.description, 100))
    elif report.input.kind == "trace":
        parts.append(f"from the trace {fmt.legible(PurePath(report.input.path).name, 60)}")
    on_host = bool(report.cases) and all(case.device_kind == "host" for case in report.cases)
    common = [
        _parameter(name, report.cases[0].parameters[name])
        for name in _COMMON
        if report.cases
        and not (name == "dtype" and on_host)  # a workload may choose another on the host
        and report.cases[0].parameters.get(name) is not None
        and len({repr(case.parameters.get(name)) for case in report.cases}) == 1
    ]
    if common:
        parts.append(", ".join(common))
    return [*parts, fmt.date(report.created_at)]


def _parameter(name: str, value: object) -> str:
    text = fmt.legible(str(value), 24)
    return text if name == "dtype" else f"{name} {text}"


def view_sureness(report: Report) -> tuple[Sureness, ...]:
    """Say how far the first findings, the coverage and the step's time can be trusted."""
    lines = []
    if crowded := _crowded(report):
        lines.append(Sureness(lead="The step's time is not sure:", text=crowded))
    top = cases.faults(report)[:3]
    levels: tuple[Confidence, ...] = ("high", "medium", "low")
    for level in levels:
        names = [finding.id for finding in top if finding.confidence == level]
        if names:
            lead = f"{level.capitalize()} for {fmt.listing(names)}:"
            lines.append(Sureness(lead=lead, text=_reason(level, [f for f in top if f.confidence == level])))
    if coverage := _coverage(report):
        lines.append(Sureness(lead="", text=coverage))
    if unsteady := _unsteady(report):
        lines.append(Sureness(lead="", text=unsteady))
    if timing := _timing(report):
        lines.append(Sureness(lead="", text=timing))
    return tuple(lines)


def _reason(level: Confidence, findings: Sequence[Finding]) -> str:
    """Say why findings are that sure; a high one whose gain was not tried rests on what was measured of the step."""
    if level == "high" and not all(finding.gain and finding.gain.method == "measured" for finding in findings):
        says = "it says" if len(findings) == 1 else "they say"
        return f"what {says} was measured; a gain that was tried reads “measured”."
    if level == "low":
        bounds = [finding.id for finding in findings if finding.gain and finding.gain.method in ("bound", "roofline")]
        others = [finding.id for finding in findings if finding.id not in bounds]
        if not others:
            return "the gain is a bound and can be smaller, down to nothing."
        if not bounds:
            return "the cause is inferred."
        return f"the gain of {fmt.listing(bounds)} is a bound, the cause of {fmt.listing(others)} is inferred."
    return f"{wording.CONFIDENCE_REASONS[level]}."


def _coverage(report: Report) -> str | None:
    known = [case for case in report.cases if case.device_kind == "device" and case.coverage.operators is not None]
    if not known:
        return None
    lowest = min(known, key=lambda case: case.coverage.operators or 0.0)
    operators, shapes = lowest.coverage.operators, lowest.coverage.shapes
    if operators == 1.0 and shapes == 1.0:
        return f"All device time has its operator and its shape (100{fmt.NBSP}%)."
    where = f" of {cases.label(lowest)}" if len(report.cases) > 1 else ""
    return f"{fmt.share(operators)} of the device time{where} has its operator, {fmt.share(shapes)} its shape."


def _crowded(report: Report) -> str | None:
    """Name the case that others disturbed most while it was timed, and what it took when they did not."""
    timed = [(case, chosen_times(case)) for case in report.cases]
    crowded = [(case, times) for case, times in timed if times is not None and times.is_crowded]
    if not crowded:
        return None
    case, times = min(crowded, key=lambda pair: len(pair[1].undisturbed_us) / max(pair[1].num_samples, 1))
    alone = times.undisturbed_us
    took = f" and took {fmt.step_time(statistics.median(alone))}" if alone else ""
    return (
        f"other processes had the cores; {fmt.count(len(alone))} of {fmt.plural(times.num_samples, 'step')} of "
        f"{cases.label(case)} ran undisturbed{took}. Repeat it on a quiet machine."
    )


def _unsteady(report: Report) -> str | None:
    """Name the case whose step wanders most; where it drifted, its first and last quarter's medians."""
    fired = {record.case for record in report.rules if record.id == "unstable-timing" and record.outcome == "fired"}
    found = []
    for case in report.cases:
        times = chosen_times(case)
        if case.name in fired and times is not None and times.median_us > 0:
            low_us, high_us = times.spread_us
            found.append(((high_us - low_us) / times.median_us, case, times))
    if not found:
        return None
    _, case, times = max(found, key=lambda one: one[0])
    quarter = len(times.samples_us) // 4
    lead = f"The step of {cases.label(case)}"
    if quarter:
        first, last = statistics.median(times.samples_us[:quarter]), statistics.median(times.samples_us[-quarter:])
        if abs(last - first) >= DRIFT_SHARE * times.median_us:
            return f"{lead} drifts: {fmt.step_time(first)} at first, {fmt.step_time(last)} in the end."
    return f"{lead} is not steady: {fmt.spread(*times.spread_us)}."


def _timing(report: Report) -> str | None:
    """Say what the profiler adds, and whether the figures hold it."""
    within: str | None = None
    for case in report.cases:
        timing = case.timing
        if timing is None or timing.step_us is None:
            continue
        if timing.basis == "unprofiled":
            profiled_us = timing.profiled_step_us.timeline or timing.profiled_step_us.detail
            times = timing.counted
            if profiled_us is not None and profiled_us > (times.spread_us[1] if times else timing.step_us):
                added = fmt.duration(profiled_us - timing.step_us)
                return (
                    f"The profiler adds {added} to the step of {cases.label(case)}: parts are scaled to go without it."
                )
            if profiled_us is not None and times is not None:
                within = within or (
                    f"What the profiler adds to the step of {cases.label(case)} is within the spread of the unprofiled "
                    f"steps, {fmt.spread(*times.spread_us)}."
                )
            continue
        row = next((row for row in case.budget.parts if row.name == "profiler"), None) if case.budget else None
        if row is not None and row.high_us > 0:
            interval = fmt.spread(row.low_us, row.high_us)
            whole = fmt.step_time(timing.step_us)
            bare = fmt.spread(timing.step_us - row.high_us, timing.step_us - row.low_us)
            return (
                f"The step was timed under the profiler, whose own share is {interval} of {whole}: without it the step "
                f"is {bare} already, and steps after a fix hold that share too."
            )
        return "The step was timed under the profiler: what recording adds is in its figures."
    return within


def all_notices(report: Report) -> tuple[tuple[str, Notice], ...]:
    """Return every notice once with the case it belongs to, those that touch conclusions first."""
    rows: list[tuple[str, Notice]] = [("", notice) for notice in report.notices]
    for case in report.cases:
        rows += [(cases.label(case), notice) for notice in _of_case(case)]
    unique = {(where, notice.text): (where, notice) for where, notice in rows}
    return tuple(sorted(unique.values(), key=lambda row: not row[1].affects_conclusions))


def _of_case(case: CaseAnalysis) -> list[Notice]:
    notices = list(case.notices)
    reason = fmt.legible(case.reason, LONGEST_REASON) if case.reason else ""
    if case.outcome != "done":
        word = "failed" if case.outcome == "failed" else "did not finish"
        text = f"The case {word}{f': {reason}' if reason else ''}"
        notices.insert(0, Notice(code="case-outcome", text=text, affects_conclusions=True))
    elif reason:  # a captured loop that ended in order, before all passes had
        notices.insert(0, Notice(code="case-outcome", text=cases.sentence(reason), affects_conclusions=True))
    return notices


def _in_brief(text: str, limit: int = 160) -> str:
    """Keep the sentences of a notice that fit into `limit` characters; of a longer first one its beginning."""
    whole = fmt.legible(text)
    end = whole.rfind(". ", 0, limit) if len(whole) > limit else -1
    return whole[: end + 1] if end >= 0 else cases.cut(whole, limit)


def view_notices(report: Report, medium: Medium) -> tuple[str, ...]:
    """Return the first notices, or their count where page one has no room."""
    rows = all_notices(report)
    if not rows:
        return ("None: the record is complete in all that was looked for.",)
    if medium.fit >= 1:
        return (f"{fmt.plural(len(rows), 'notice')}, listed in the appendix.",)
    named = len(report.cases) > 1
    texts = [
        cases.sentence((f"{where}: " if named and where else "") + _in_brief(notice.text))
        for where, notice in rows[:MOST_NOTICES]
    ]
    if len(rows) > MOST_NOTICES:
        texts.append(f"{fmt.plural(len(rows) - MOST_NOTICES, 'more notice')} in the appendix.")
    return tuple(texts)
