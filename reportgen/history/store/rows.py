"""What the store gives back, as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from reportgen.history.model import Verdict

NightState = Literal["running", "done", "interrupted"]


class NightRow(NamedTuple):
    """One run of ``reportgen nightly``."""

    id: int
    started_at: str
    ended_at: str | None
    state: NightState
    host: str
    pid: int
    commit: str | None
    version: str
    remark: str | None


class ReportRow(NamedTuple):
    """One report of a night; `folder` and `failure` exclude each other, but for a run of which some cases failed."""

    id: int
    night_id: int
    created_at: str
    workload: str
    torch: str | None
    repeat: int
    folder: str | None
    failure: str | None


class Judgement(NamedTuple):
    """What a night says of one subject of a case: a quantity, or ``finding:FINGERPRINT``.

    `base` is the level before, `since` the night from which on it is as it is, `text` the judgement in words.
    """

    subject: str
    verdict: Verdict | Literal["new", "gone"]
    base: float | None
    value: float | None
    since: str | None
    needs_nights: int | None
    text: str

    @property
    def is_alarm(self) -> bool:
        """Tell whether somebody should look."""
        return self.verdict in ("worse", "new")

    @property
    def is_open(self) -> bool:
        """Tell whether the night could not decide: more nights are needed, or nothing was measured that counts."""
        return self.needs_nights is not None or (self.verdict == "not-comparable" and self.value is None)


def is_first_night(rows: Sequence[Judgement]) -> bool:
    """Tell whether none of the figures that a night judged had one before it to be held against."""
    return any(row.value is not None for row in rows) and all(row.base is None for row in rows)


class SeriesPoint(NamedTuple):
    """One quantity of one case on one night, all measurements of that night."""

    night_id: int
    started_at: str
    values: tuple[float, ...]
    commit: str | None
    torch: str | None
    version: str | None = None


class TrendRow(NamedTuple):
    """One figure of one measurement of a case."""

    series: str
    workload: str
    case: str
    device: str
    night_id: int
    started_at: str
    commit: str | None
    torch: str | None
    quantity: str
    value: float
