"""How much a medium holds: the page is cut, the screen is not."""

from __future__ import annotations

import dataclasses
from typing import Literal


@dataclasses.dataclass(frozen=True, kw_only=True)
class Medium:
    """What a document can show.

    `fit` is how far page one is shortened: 0 whole, 1 notices counted, 2 set closer, 3 two cases, 4 figures without
    what stands behind them.
    """

    kind: Literal["screen", "print"]
    name_limit: int
    operator_rows: int
    small_rows: int
    fit: int = 0

    @property
    def is_print(self) -> bool:
        """Tell whether this is the PDF."""
        return self.kind == "print"

    @property
    def most_cases_on_page_one(self) -> int:
        """Return how many cases page one shows before it counts the rest."""
        if not self.is_print:
            return 12
        return 4 if self.fit < 3 else 2


SCREEN = Medium(kind="screen", name_limit=120, operator_rows=400, small_rows=100)


def page(num_cases: int, fit: int = 0) -> Medium:
    """Return the medium of the PDF: the more cases, the fewer rows each table has."""
    few = num_cases <= 2
    return Medium(kind="print", name_limit=24, operator_rows=12 if few else 6, small_rows=6 if few else 3, fit=fit)
