"""Method and environment, and the appendices: command, passes, rules, notices, glossary, limits."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from reportgen import formatting as fmt
from reportgen.findings.model import RuleRecord
from reportgen.findings.rules import RULES
from reportgen.recording import Device
from reportgen.report import wording
from reportgen.report.model import Report
from reportgen.report.view import cases, tables
from reportgen.report.view.checklist import rules_sentence
from reportgen.report.view.head import all_notices
from reportgen.report.view.medium import Medium
from reportgen.report.view.tables import Cell, Row, Table


@dataclasses.dataclass(frozen=True, kw_only=True)
class Method:
    """The section: how it was measured, on what."""

    paragraphs: tuple[tuple[str, str], ...]
    environment: tuple[tuple[str, str], ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Appendices:
    """What stands behind the body."""

    command: str | None
    command_missing: str
    cases: Table
    passes: Table | None
    flags: tuple[tuple[str, str], ...]
    rules: Table
    notices: Table | None
    glossary: tuple[tuple[str, str], ...]
    limits: tuple[str, ...]


def view_method(report: Report) -> Method:
    """Return method and environment."""
    return Method(paragraphs=tuple(_paragraphs(report)), environment=tuple(_environment(report)))


def _paragraphs(report: Report) -> list[tuple[str, str]]:
    own = any(not cases.is_profiled(case) for case in report.cases)
    modes = {case.timing.mode for case in report.cases if case.timing}
    how = {
        frozenset({"pipelined"}): "from one completion to the next, steps issued back to back",
        frozenset({"drained"}): "from the host’s start on an idle device to completion",
    }.get(frozenset(modes), "pipelined or drained, as each workload’s loop runs")
    if own:
        step = f"without the profiler, {how}; blocks of steps interleaved with the passes."
        rest = (
            "when activities run comes from a pass that records nothing else; operators, shapes, functions and memory "
            "from a detailed pass."
        )
    else:
        step = f"from the trace, {_from_trace(report, how)}."
        rest = "all from this one trace. What recording added is given as an interval."
    return [
        ("Step time", step),
        ("Timeline and operators", rest),
        ("Rules", f"{len(RULES)} on {fmt.plural(len(report.cases), 'case')}. {rules_sentence(report)}"),
        ("Not seen in a trace", "cache hits, occupancy, bank conflicts. Hardware counters tell them."),
    ]


def _from_trace(report: Report, by_completion: str) -> str:
    """Say from what in a trace the step's time follows."""
    told = []
    for case in report.cases:
        if not case.steps:
            told.append("the whole window as one step, since no step is marked")
        elif len(case.steps) == 1:
            told.append("the one step that is marked, from its start on the host to its completion")
        elif case.timing is not None and case.timing.pipelined is None:
            told.append("from one step’s end on the host to the next, since no work of the device was recorded")
        else:
            told.append(f"{by_completion}; the first recorded step settles and is in no median")
    return "; ".join(dict.fromkeys(told)) or "of which no step was recorded"


def _environment(report: Report) -> list[tuple[str, str]]:
    environment = report.environment
    cores = fmt.plural(environment.num_cores, "core") if environment.num_cores is not None else ""
    host = [part for part in (environment.host, environment.processor, cores) if part]
    software = [
        f"{name} {value}"
        for name, value in (
            ("PyTorch", environment.torch),
            (environment.runtime.kind.upper(), environment.runtime.version),
            ("transformers", environment.transformers),
            ("Python", environment.python),
        )
        if value
    ]
    rows = [("Device", _devices(report.devices) or _no_device(report))]
    used = {item.ceiling for case in report.cases for item in case.operators.items if item.ceiling}
    ceilings = [text for device in report.devices[:1] if (text := _ceilings(device, used))]
    rows.append(("Ceilings", ceilings[0] if ceilings else fmt.NOT_RECORDED))
    rows.append(("Host", fmt.legible(", ".join(host), 90) if host else fmt.NOT_RECORDED))
    rows.append(("Software", fmt.legible(", ".join(software), 90) if software else fmt.NOT_RECORDED))
    rows.append(("Driver", _driver(report)))
    rows.append(("Made by", f"{report.generator.name} {report.generator.version}"))
    return rows


def _driver(report: Report) -> str:
    """Name the driver; a trace has not its version, but the newest CUDA or HIP that it supports."""
    environment = report.environment
    if not environment.driver:
        return fmt.NOT_RECORDED
    version = fmt.legible(environment.driver, 40)
    if report.input.kind != "trace":
        return version
    return f"for {environment.runtime.kind.upper()} up to {version}; its own version is {fmt.NOT_RECORDED}"


def _no_device(report: Report) -> str:
    if report.cases and all(case.device_kind == "host" for case in report.cases):
        return "none: the host does the work"
    return next((fmt.legible(case.device, 40) for case in report.cases if case.device), fmt.NOT_RECORDED)


def _devices(devices: Sequence[Device]) -> str:
    """List the devices of the machine, equal ones once with their number."""
    counts: dict[str, int] = {}
    for device in devices:
        counts[_device(device)] = counts.get(_device(device), 0) + 1
    texts = [text if number == 1 else f"{fmt.count(number)} {fmt.TIMES} {text}" for text, number in counts.items()]
    return "; ".join([*texts[:2], *([f"{len(texts) - 2} more kinds"] if len(texts) > 2 else [])])


def _device(device: Device) -> str:
    parts = [fmt.legible(device.name, 40)]
    if device.memory_bytes:
        parts.append(fmt.size(device.memory_bytes))
    if device.multiprocessors:
        parts.append(fmt.plural(device.multiprocessors, "multiprocessor"))
    return ", ".join(parts)


def _ceilings(device: Device, used: set[str]) -> str | None:
    ceilings = device.ceilings
    rates = ceilings.matmul_flops_per_s.items()
    told = [pair for pair in rates if pair[0] in used] or list(rates)[:2]
    parts = [f"{fmt.flop_rate(rate)} ({fmt.legible(kind, 20)})" for kind, rate in told[:3]]
    if ceilings.copy_bytes_per_s:
        parts.append(fmt.byte_rate(ceilings.copy_bytes_per_s))
    if not parts:
        return None
    return ", ".join(parts) + (f"; {ceilings.method}" if ceilings.method else "")


def view_appendices(report: Report, medium: Medium) -> Appendices:
    """Return the appendices."""
    return Appendices(
        command=fmt.command_line(report.input.command) if report.input.command else None,
        command_missing="No command makes this report again: its input was not recorded by reportgen.",
        cases=_cases(report),
        passes=_passes(report),
        flags=_flags(report),
        rules=_rules(report, medium),
        notices=_notices(report, medium),
        glossary=wording.GLOSSARY,
        limits=wording.LIMITS,
    )


def _provenance(words: Mapping[str, str]) -> str:
    """Say what of a case is real: whole, as its author put it, but for what would fill a page."""
    said = (f"{fmt.legible(name, 24)}: {fmt.legible(text, 160)}" for name, text in words.items())
    return fmt.shorten("; ".join(said), 800)


def _cases(report: Report) -> Table:
    rows = tuple(
        Row(
            cells=(
                Cell(text=cases.label(case)),
                tables.text(case.phase or fmt.NOT_RECORDED),
                tables.text(
                    fmt.shorten(
                        ", ".join(
                            f"{fmt.legible(k, 24)} = {fmt.legible(str(v), 40)}" for k, v in case.parameters.items()
                        ),
                        160,
                    )
                    or fmt.NOT_RECORDED
                ),
                tables.text(_provenance(case.provenance) or fmt.NOT_RECORDED),
            )
        )
        for case in report.cases
    )
    heads = (
        ("Case", 14.0, False),
        ("Phase", 12.0, False),
        ("Parameters", 37.0, False),
        ("Real and synthetic", 37.0, False),
    )
    return Table(caption="The cases", columns=tables.columns(*heads), rows=rows)


def _passes(report: Report) -> Table | None:
    names = list(dict.fromkeys(record.name for case in report.cases for record in case.passes))
    if not names:
        return None
    rows = []
    for name in names:
        told = [(case, record) for case in report.cases for record in case.passes if record.name == name]
        outcomes = "; ".join(
            f"{cases.label(case)}: {record.outcome}"
            + (f", {fmt.number(record.seconds)}{fmt.NBSP}s" if record.seconds is not None else "")
            + (f" ({fmt.legible(record.reason, 80)})" if record.reason else "")
            for case, record in told
        )
        rows.append(
            Row(cells=(Cell(text=name), Cell(text=wording.PASS_MEANINGS[name], muted=True), Cell(text=outcomes)))
        )
    heads = (("Pass", 14.0, False), ("What it answers", 44.0, False), ("What became of it", 42.0, False))
    return Table(caption="The passes", columns=tables.columns(*heads), rows=tuple(rows))


def _flags(report: Report) -> tuple[tuple[str, str], ...]:
    """Return each flag's name and value, by name."""
    return tuple(
        (fmt.legible(name, 60), "not set" if value is None else fmt.legible(str(value), 100))
        for name, value in sorted(report.environment.flags.items())
    )


def _rules(report: Report, medium: Medium) -> Table:
    rows = []
    for rule in RULES:
        records = [record for record in report.rules if record.id == rule.id]
        in_force = records[0].thresholds if records else {}
        thresholds = (
            "; ".join(f"{t.name} {threshold_words(in_force.get(t.name, t.value), t.unit)}" for t in rule.thresholds)
            or "none"
        )
        outcome = _outcomes(records)
        reasons = list(dict.fromkeys(record.reason for record in records if record.reason))
        reason = fmt.legible("; ".join(reasons), 400) if reasons else ""
        rows.append(
            Row(
                cells=(
                    Cell(text=rule.id, code=True),
                    Cell(text=outcome or fmt.NOT_EVALUATED),
                    Cell(text=reason),
                    Cell(text=thresholds, muted=True),
                )
            )
        )
    heads = (
        ("Rule", 21.0, False),
        ("Outcome", 19.0, False),
        ("Why it did not fire", 38.0, False),
        ("Thresholds", 24.0, False),
    )
    return Table(
        caption="Every rule and what became of it",
        breaks=True,
        columns=tables.columns(*heads),
        rows=tuple(rows),
        sortable=not medium.is_print,
    )


# Units that follow a figure as they are; the first word of the others is a noun that takes its number.
_UNCHANGED = ("of ", "per ", "times ", "MiB")
_SINGULAR = {"activities": "activity"}


def threshold_words(value: float, unit: str) -> str:
    """Write a threshold in its own unit: a share of something, a factor, a time, a size or a count."""
    if unit.startswith("of "):
        return f"{fmt.share(value)} {unit}"
    if unit == "x":
        return f"{fmt.number(value)}{fmt.TIMES}"
    if unit == "us":
        return fmt.duration(value)
    if unit == "bytes":
        return fmt.size(value)
    if unit.startswith(_UNCHANGED):
        return f"{fmt.count(value)}{fmt.NBSP}{unit}"
    several, _, rest = unit.partition(" ")
    text = fmt.plural(value, _SINGULAR.get(several, several.removesuffix("s")), several)
    return f"{text} {rest}".rstrip()


def _outcomes(records: Sequence[RuleRecord]) -> str:
    """Name the cases of each outcome; one outcome of all cases stands alone."""
    cases_of: dict[str, list[str]] = {}
    for record in records:
        cases_of.setdefault(wording.OUTCOME_WORDS[record.outcome], []).append(cases.label(record.case, 14))
    if len(cases_of) == 1:
        return next(iter(cases_of))
    return "; ".join(f"{outcome}: {', '.join(names)}" for outcome, names in cases_of.items())


def _notices(report: Report, medium: Medium) -> Table | None:
    notices = all_notices(report)
    if not notices:
        return None
    shown = notices[:30] if medium.is_print else notices
    rows = tuple(
        Row(
            cells=(
                Cell(text=where or "all cases"),
                Cell(text=cases.sentence(fmt.legible(notice.text, 400))),
                Cell(text="yes" if notice.affects_conclusions else "no"),
            )
        )
        for where, notice in shown
    )
    heads = (("Case", 16.0, False), ("Notice", 68.0, False), ("Touches a conclusion", 16.0, False))
    left = len(notices) - len(shown)
    note = f"{fmt.plural(left, 'more notice')} in report.json." if left else None
    return Table(caption="Notices", columns=tables.columns(*heads), rows=rows, note=note)
