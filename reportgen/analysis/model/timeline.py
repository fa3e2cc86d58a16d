"""The timeline strip: one step, binned."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from reportgen.analysis.model.budget import BudgetPart
from reportgen.analysis.model.values import told_step

LaneKind: TypeAlias = Literal["host", "launch", "device", "cause"]


class Segment(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of a timeline lane. `part` colours it; `share` of the stretch is filled (binned lanes)."""

    start_us: float
    duration_us: float
    part: BudgetPart
    share: float = 1.0
    label: str | None = None


class Lane(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the timeline strip.

    A segment has the part that fills most of it; `us_by_part` is the time of each part, exactly.
    """

    name: str
    kind: LaneKind
    segments: tuple[Segment, ...]
    us_by_part: dict[BudgetPart, float] = {}


class Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """One step, binned so that its size does not depend on the number of events; times from the step's start."""

    step: int
    duration_us: float
    basis: Literal["timeline", "trace"]
    lanes: tuple[Lane, ...]
    # Which of the recorded steps of its pass it is, from 1: documents call it so. `step` is the n of `ProfilerStep#n`.
    ordinal: int | None = None

    @property
    def told(self) -> int:
        """Return the number that documents call the step by."""
        return told_step(self.step, self.ordinal)
