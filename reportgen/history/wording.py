"""The words of a comparison and of a history: verdicts, changes, and what they rest on."""

from __future__ import annotations

from reportgen import formatting as fmt
from reportgen.history import noise
from reportgen.history.model import CaseDifference, Difference, Moved, ReportDifference, Verdict
from reportgen.history.quantities import BY_NAME, Quantity

VERDICT_WORDS: dict[Verdict, str] = {
    "worse": "worse",
    "better": "better",
    "changed": "changed",
    "within-noise": "within noise",
    "unchanged": "no change",
    "not-comparable": "not comparable",
}
_LEADS: dict[Verdict, str] = {
    "worse": "Worse.",
    "better": "Better.",
    "changed": "Changed, neither better nor worse.",
    "within-noise": "Within noise.",
    "unchanged": "No change.",
    "not-comparable": "Not comparable.",
}
_MOST_SAID = 3


def lead(difference: ReportDifference) -> str:
    """Return the verdict in one to three words."""
    return _LEADS[difference.verdict]


def headline(difference: ReportDifference) -> str:
    """Return in a sentence or two what the verdict rests on."""
    if difference.verdict in ("unchanged", "within-noise"):
        return " ".join([_nothing_moved(difference), *_first(_left_open(difference))])
    said = [
        sentence
        for case in difference.cases
        if case.verdict == difference.verdict
        for sentence in ([case_reason(case)] if difference.verdict == "not-comparable" else _moves(case))
    ]
    return " ".join(_first(said))


def _first(said: list[str]) -> list[str]:
    more = len(said) - _MOST_SAID
    return said[:_MOST_SAID] + ([f"{more} more below."] if more > 0 else [])


def _nothing_moved(difference: ReportDifference) -> str:
    which = "was judged" if _left_open(difference) else "was measured"
    if difference.verdict == "unchanged":
        return f"Every figure that {which} is equal."
    return f"No figure {'that was judged ' if _left_open(difference) else ''}moved by more than it does by itself."


def _left_open(difference: ReportDifference) -> list[str]:
    """Return a sentence for each figure that was not judged: of it nobody may read that it did not move."""
    return [
        f"{case.name}: {BY_NAME[row.quantity].label} not judged, {row.reason}."
        for case in difference.cases
        for row in _not_judged(case)
    ]


def _not_judged(case: CaseDifference) -> list[Difference]:
    return [row for row in shown(case) if row.verdict == "not-comparable"]


def case_verdict(case: CaseDifference) -> str:
    """Return the verdict on a case, with the figures that it says nothing of: "no change, step time not judged"."""
    words = VERDICT_WORDS[case.verdict]
    labels = [BY_NAME[row.quantity].label for row in _not_judged(case)]
    if case.verdict == "not-comparable" or not labels:
        return words
    return f"{words}, {fmt.listing(labels)} not judged"


def not_compared(difference: ReportDifference) -> str:
    """Say how many findings came or went with what is not comparable; nothing where there are none."""
    num = difference.num_findings_not_compared
    return f"{fmt.plural(num, 'finding')} not compared, found in what is not comparable." if num else ""


def _moves(case: CaseDifference) -> list[str]:
    rows = [row for row in case.differences if row.verdict == case.verdict]
    return [f"{case.name}: {move(row)}." for row in rows[:1]]


def move(row: Difference) -> str:
    """Return "device time per step 1.30 → 1.37 ms (+5.0 %)"."""
    quantity = BY_NAME[row.quantity]
    if row.base is None or row.new is None:
        return f"{quantity.label} {quantity.text(row.base)} → {quantity.text(row.new)}"
    return moved_by(quantity, row.base, row.new)


def moved_by(quantity: Quantity, base: float, new: float) -> str:
    """Return "device time per step 1.30 ms → 1.37 ms (+5.0 %)"."""
    change = f" ({percent((new - base) / base)})" if base else ""
    return f"{quantity.label} {quantity.text(base)} → {quantity.text(new)}{change}"


def needs(nights: int | None) -> str:
    """Return ", needs 4 nights to be told from noise", or nothing."""
    if nights is None:
        return ""
    if nights > noise.MOST_NIGHTS:
        return f", needs more than {fmt.plural(noise.MOST_NIGHTS, 'night')}, or more --repeats, to be told from noise"
    return f", needs {fmt.plural(nights, 'night')} to be told from noise"


def short(commit: str | None) -> str:
    """Return the first digits of a commit."""
    return commit[:9] if commit else fmt.NOT_RECORDED


def shown(case: CaseDifference) -> list[Difference]:
    """Return the figures worth a line: what is 0 on both sides is none."""
    return [row for row in case.differences if row.base or row.new]


def percent(change: float | None) -> str:
    """Write a change with its sign: "+5.0 %", "−0.4 %", "0 %"; nothing where there is none to give."""
    if change is None:
        return ""
    if change == 0:
        return fmt.share(0.0)
    if change > 10:
        return fmt.factor(1.0 + change, 1.0)
    if change < -0.99:
        return f"1/{fmt.number(1.0 / (1.0 + change))}" if change > -1 else f"{fmt.MINUS}{fmt.share(1.0)}"
    return f"{'+' if change > 0 else fmt.MINUS}{fmt.share(abs(change))}"


def case_reason(case: CaseDifference) -> str:
    """Return why a case is not comparable, or why none of its figures is."""
    reasons = case.reasons or tuple(dict.fromkeys(row.reason for row in _not_judged(case)))
    return f"{case.name}: {'; '.join(reasons)}." if reasons else ""


def reason(row: Difference) -> str:
    """Return what a verdict rests on, and how many nights would decide where these could not."""
    if row.needs_nights is None:
        return row.reason
    return f"{row.reason}; needs {fmt.plural(row.needs_nights, 'night')} a side"


def signed_time(us: float | None) -> str:
    """Write a difference of times with its sign."""
    if us is None:
        return fmt.NOT_RECORDED
    return f"{'+' if us > 0 else fmt.MINUS if us < 0 else ''}{fmt.duration(abs(us))}"


def moved_name(row: Moved, limit: int | None = None) -> str:
    """Return the name of what moved, with its shapes or file."""
    name = fmt.operator_name(row.name) if row.kind in ("operator", "shape") else row.name
    name = fmt.shorten(fmt.legible(name), limit)
    return f"{name} {row.detail}" if row.detail else name
