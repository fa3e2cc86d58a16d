"""A comparison as plain text for the terminal, and as Markdown for a pull request."""

from __future__ import annotations

from collections.abc import Sequence

from reportgen import formatting as fmt
from reportgen.history import wording
from reportgen.history.model import CaseDifference, FindingDifference, Moved, ReportDifference
from reportgen.history.quantities import BY_NAME
from reportgen.report.terminal import columns_of, plain

_MOST_MOVED = 5
_NAME = 44
_STATES = {"new": "New", "gone": "Gone", "still": "Still there"}


def render_text(difference: ReportDifference, width: int = 100) -> str:
    """Return the summary of `difference`, at most `width` columns wide."""
    lines = [f"{wording.lead(difference)} {wording.headline(difference)}", *_sides(difference), ""]
    for case in difference.cases:
        lines += _case_text(case)
    lines += _findings_text(difference)
    return "\n".join(_wrapped(plain(line), width) for line in lines).rstrip() + "\n"


def _sides(difference: ReportDifference) -> list[str]:
    lines = [f"  base {difference.base.path}", f"  new  {difference.new.path}"]
    if difference.also:
        lines.append(f"  also different: {fmt.listing(difference.also)}")
    return lines


def _wrapped(line: str, width: int) -> str:
    """Fold a line at its words, what follows indented under it."""
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    lines, rest = [], line
    while columns_of(rest) > width:
        cut = rest.rfind(" ", len(indent) + 1, width)
        cut = width if cut < 0 else cut
        lines.append(rest[:cut].rstrip())
        rest = indent + rest[cut:].lstrip()
    return "\n".join([*lines, rest])


def _case_text(case: CaseDifference) -> list[str]:
    lines = [f"{case.name}: {wording.case_verdict(case)}", *(f"  {reason}" for reason in case.reasons)]
    rows = [
        (
            BY_NAME[row.quantity].label,
            BY_NAME[row.quantity].text(row.base),
            BY_NAME[row.quantity].text(row.new),
            wording.percent(row.change),
            wording.VERDICT_WORDS[row.verdict],
        )
        for row in wording.shown(case)
    ]
    lines += _columns(rows)
    lines += [f"  {fmt.sentence_start(BY_NAME[row.quantity].label)}: {wording.reason(row)}."
              for row in case.differences if row.needs_nights]  # fmt: skip
    lines += [f"  {_moved_text(row)}" for row in first_moved(case)]
    if shows_host(case):
        lines += [f"  {_moved_text(row)} on the host" for row in host_moved(case)]
    return [*lines, ""]


def _columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    room = [max((columns_of(row[column]) for row in rows), default=0) for column in range(5)]
    return [
        "  "
        + "  ".join(
            cell + " " * pad if column in (0, 4) else " " * pad + cell
            for column, (cell, pad) in enumerate(
                (cell, room[column] - columns_of(cell)) for column, cell in enumerate(row)
            )
        ).rstrip()
        for row in rows
    ]


def first_moved(case: CaseDifference) -> list[Moved]:
    """Return the operators that moved most; they name kernels and shapes in the full table."""
    return [row for row in case.moved if row.kind == "operator" and row.basis == case.moved_basis][:_MOST_MOVED]


def host_moved(case: CaseDifference) -> list[Moved]:
    """Return the operators and functions whose host time moved most: where a longer step may come from."""
    rows = [row for row in case.moved if row.kind in ("operator", "function") and row.basis == "host"]
    return sorted(rows, key=lambda row: -abs(row.change_us))[:_MOST_MOVED]


def shows_host(case: CaseDifference) -> bool:
    """Tell whether host times are worth showing beside the device's: where the step got longer or shorter."""
    return case.moved_basis == "device" and any(
        row.quantity == "step_time" and row.verdict in ("worse", "better") for row in case.differences
    )


def _moved_text(row: Moved) -> str:
    name = wording.moved_name(row, _NAME)
    return f"{wording.signed_time(row.change_us):>12}  {name} ({calls_text(row)})"


def calls_text(row: Moved) -> str:
    """Return how the number of calls changed: "12 → 13 calls", "added, 1 call"."""
    if row.state != "changed":
        calls = row.new_calls if row.state == "added" else row.base_calls
        return row.state if calls is None else f"{row.state}, {fmt.plural(calls, 'call')}"
    if row.base_calls is None or row.new_calls is None:
        return "changed"
    if row.base_calls == row.new_calls:
        return fmt.plural(row.new_calls, "call")
    return f"{fmt.count(row.base_calls)} → {fmt.plural(row.new_calls, 'call')}"


def _findings_text(difference: ReportDifference) -> list[str]:
    told = [f"{_STATES[row.state]}: {row.title}{gain_text(row)}" for row in faults(difference)]
    return [*told, *filter(None, [wording.not_compared(difference)])]


def faults(difference: ReportDifference) -> list[FindingDifference]:
    """Return the findings that somebody can act on; facts about a run come and go with it."""
    return [row for row in difference.findings if row.severity != "info"]


def gain_text(row: FindingDifference) -> str:
    """Return what was promised, and of a finding that is gone what came of it."""
    if row.state == "new" or not row.promised_us:
        return ""
    promised = f" (promised at most {fmt.duration(row.promised_us)}"
    if row.state == "still":
        return f"{promised})"
    if row.realised_us is None:
        return f"{promised}; what came of it cannot be compared)"
    if abs(row.realised_us) < 0.005 * row.promised_us:
        return f"{promised}; the step is as long as before)"
    came = "shorter" if row.realised_us > 0 else "longer"
    return f"{promised}; the step is {fmt.duration(abs(row.realised_us))} {came})"


def render_markdown(difference: ReportDifference) -> str:
    """Return a summary of `difference` for a pull request."""
    lines = [f"**{wording.lead(difference)}** {_escaped(wording.headline(difference))}", ""]
    if difference.also:
        lines += [f"Also different: {_escaped(fmt.listing(difference.also))}.", ""]
    lines += ["| case | figure | base | new | change | verdict |", "| --- | --- | ---: | ---: | ---: | --- |"]
    for case in difference.cases:
        lines += _rows_markdown(case)
    for case in difference.cases:
        lines += _moved_markdown(case)
    lines += _findings_markdown(faults(difference))
    lines += ["", note] if (note := wording.not_compared(difference)) else []
    return "\n".join(lines) + "\n"


def _rows_markdown(case: CaseDifference) -> list[str]:
    """Return a row for each figure that is another, and one for all that are not: a reviewer looks for what changed."""
    rows = []
    shown = wording.shown(case)
    same = [BY_NAME[row.quantity].label for row in shown if row.verdict == "unchanged"]
    for row in shown:
        if row.verdict != "unchanged":
            quantity = BY_NAME[row.quantity]
            cells = (case.name, quantity.label, quantity.text(row.base), quantity.text(row.new))
            rows.append((*cells, wording.percent(row.change), wording.VERDICT_WORDS[row.verdict]))
    if same:
        which = f"all {len(same)} figures" if len(same) == len(shown) else fmt.listing(same)
        rows.append((case.name, which, "", "", "", wording.VERDICT_WORDS["unchanged"]))
    return [f"| {' | '.join(map(_escaped, cells))} |" for cells in rows]


def _findings_markdown(rows: Sequence[FindingDifference]) -> list[str]:
    if not rows:
        return []
    told = [f"- {_STATES[row.state]}: {_escaped(row.title + gain_text(row))}" for row in rows if row.state != "still"]
    still = len(rows) - len(told)
    told += [f"- {fmt.plural(still, 'finding')} still there"] if still else []
    return ["", "Findings:", "", *told]


def _moved_markdown(case: CaseDifference) -> list[str]:
    told = [(case.moved_basis, first_moved(case))]
    if shows_host(case):
        told.append(("host", host_moved(case)))
    lines = []
    for basis, rows in told:
        if rows:
            lines += ["", f"What moved in {_escaped(case.name)} ({basis} time per step):", ""]
            lines += [f"- {wording.signed_time(row.change_us)} `{_code(row)}` ({calls_text(row)})" for row in rows]
    return lines


def _code(row: Moved) -> str:
    return wording.moved_name(row, 80).replace("`", "'")


def _escaped(text: str) -> str:
    """Keep what a trace or a parameter says from being read as Markdown or HTML."""
    for mark in ("\\", "|", "<", "*", "_", "["):
        text = text.replace(mark, f"\\{mark}" if mark != "<" else "&lt;")
    return fmt.legible(text) if text else ""
