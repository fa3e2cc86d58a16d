"""Findings that one action fixes are one finding: which rule speaks for which, and when."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from reportgen.findings.model import Gain, Severity
from reportgen.findings.places import are_same_function
from reportgen.findings.ranking import severity_of
from reportgen.findings.rule import Draft, Rule

_SEVERITIES: tuple[Severity, ...] = ("high", "medium", "low", "info")
# Of what an absorbed finding saw, as much is repeated: its first line has the figure.
_LINES_KEPT = 1


class Judged(NamedTuple):
    """A draft and the rule that made it."""

    rule: Rule
    draft: Draft


def _same_case(_: Draft, __: Draft) -> bool:
    return True


def _same_function(keeper: Draft, absorbed: Draft) -> bool:
    return are_same_function(keeper.source, absorbed.source)


def _same_operator(keeper: Draft, absorbed: Draft) -> bool:
    """Tell whether both name one operator at one shape, which the identities of these rules begin and end with."""
    one, other = keeper.identity, absorbed.identity
    return len(one) > 1 and len(other) > 1 and (one[0], one[-1]) == (other[0], other[-1])


def _same_copy(keeper: Draft, absorbed: Draft) -> bool:
    """Tell whether what was absorbed is about the operator of the copy, in the same function."""
    return _same_function(keeper, absorbed) and keeper.identity[1] in absorbed.identity


# (the rule that stays, the rule that it speaks for, when); a pair higher up goes first.
_PAIRS: tuple[tuple[str, str, Callable[[Draft, Draft], bool]], ...] = (
    ("host-bound", "small-kernels", _same_case),
    ("attention-unfused", "allocation-spike", _same_function),
    ("attention-unfused", "needless-copy", _same_function),
    ("attention-unfused", "low-roofline", _same_function),
    ("attention-unfused", "dominant-operator", _same_function),
    ("blocking-copy", "sync-point", _same_copy),
    ("blocking-copy", "dominant-operator", _same_copy),
    ("host-stall", "sync-point", _same_function),
    ("recompilation", "shape-specialisation", _same_function),
    ("gemm-misaligned", "dominant-operator", _same_operator),
    ("gemm-misaligned", "low-roofline", _same_operator),
    ("low-roofline", "dominant-operator", _same_operator),
)


def merge(judged: Sequence[Judged]) -> list[Judged]:
    """Let one finding of a case speak for others that its action fixes as well.

    The one that stays names the rules in `merged` and repeats what they saw first; it is as severe as the most severe.
    """
    remaining = list(judged)
    for keeper_id, absorbed_id, belong in _PAIRS:
        for keeper in [one for one in remaining if one.rule.id == keeper_id]:
            mine = [one for one in remaining if one.rule.id == absorbed_id and belong(keeper.draft, one.draft)]
            if mine:
                remaining = [one for one in remaining if one not in mine]
                remaining[remaining.index(keeper)] = Judged(keeper.rule, _absorb(keeper.draft, mine))
    return remaining


def _absorb(draft: Draft, absorbed: Sequence[Judged]) -> Draft:
    merged = dict.fromkeys((*draft.merged, *(name for one in absorbed for name in (one.rule.id, *one.draft.merged))))
    severities = [severity_of(draft), *(severity_of(one.draft) for one in absorbed)]
    worst = min(severities, key=_SEVERITIES.index)
    # What the keeper names already, it has said in its own words.
    new = [one for one in absorbed if one.rule.id not in draft.merged]
    lines = [line for one in new for line in one.draft.evidence[:_LINES_KEPT] if line not in draft.evidence]
    return dataclasses.replace(
        draft,
        evidence=(*draft.evidence, *lines),
        merged=tuple(merged),
        severity=worst if draft.severity is not None or worst != severities[0] else None,
        gain=_with_bytes(draft.gain, [one.draft.gain for one in absorbed]),
    )


def _with_bytes(gain: Gain | None, others: Sequence[Gain | None]) -> Gain | None:
    """Add the memory that the absorbed findings promise to the time that the keeper does."""
    sizes = [other.bytes for other in others if other is not None and other.bytes]
    if gain is None or gain.bytes is not None or not sizes:
        return gain
    return msgspec.structs.replace(gain, bytes=max(sizes))
