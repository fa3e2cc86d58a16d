"""Where on the page a name is explained: the rows of operators, kernels and functions, by what they are called."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Sequence
from typing import Literal, TypeVar

from reportgen.analysis.model import CaseAnalysis, Operator, Source
from reportgen.analysis.replay.changes import operator_key
from reportgen.report.model import Report
from reportgen.report.view.medium import Medium

Key = TypeVar("Key", bound=Hashable)
Word = Literal["operator", "kernel", "function"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Anchors:
    """The ids of a case's rows. Operators go by `operator_key`, functions by file and name.

    `case` is the number of the case, from 1 on; None on paper, where rows have no ids.
    """

    case: int | None = None
    operators: dict[str, str] = dataclasses.field(default_factory=dict)
    kernels: dict[str, str] = dataclasses.field(default_factory=dict)
    functions: dict[tuple[str, str], str] = dataclasses.field(default_factory=dict)

    def operator(self, row: Operator) -> str | None:
        """Return the id of an operator's row, None where the page does not show it."""
        return self.operators.get(operator_key(row))

    def function(self, source: Source | None) -> str | None:
        """Return the id of a function's row, None where the page does not show it."""
        return self.functions.get((source.file, source.function)) if source else None

    def row(self, word: Word, index: int) -> str | None:
        """Return the id of the row at `index` of a table."""
        return None if self.case is None else _id(word, self.case, index)


def ranked_operators(case: CaseAnalysis) -> list[Operator]:
    """Return the operators that a case's table lists, the dearest first."""
    on_host = case.device_kind == "host"
    return [row for row in case.operators.items if (row.host_us_per_step if on_host else row.device_us_per_step)]


def find_anchors(report: Report, medium: Medium) -> tuple[Anchors, ...]:
    """Return the ids of every case's rows, in the order of the cases."""
    if medium.is_print:
        return tuple(Anchors() for _ in report.cases)
    return tuple(_anchors(case, number, medium) for number, case in enumerate(report.cases, 1))


def _anchors(case: CaseAnalysis, number: int, medium: Medium) -> Anchors:
    operators = [operator_key(row) for row in ranked_operators(case)[: medium.operator_rows]]
    kernels = [kernel.name for kernel in case.kernels.items[: medium.small_rows]]
    functions = [(row.file, row.function) for row in case.sources.items[: medium.small_rows]]
    return Anchors(
        case=number,
        operators=_ids("operator", number, operators),
        kernels=_ids("kernel", number, kernels),
        functions=_ids("function", number, functions),
    )


def _ids(word: Word, case: int, keys: Sequence[Key]) -> dict[Key, str]:
    """Return the id of each key's first row."""
    found: dict[Key, str] = {}
    for index, key in enumerate(keys):
        found.setdefault(key, _id(word, case, index))
    return found


def _id(word: Word, case: int, index: int) -> str:
    return f"{word}-{case}-{index + 1}"
