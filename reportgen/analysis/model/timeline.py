"""The timeline strip: one step, binned."""

from __future__ import annotations

from typing import Literal

import msgspec

from reportgen.analysis.model.budget import BudgetPart


class Segment(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of a timeline lane. `part` colours it; `share` of the stretch is filled (binned lanes)."""

    start_us: float
    duration_us: float
    part: BudgetPart
    share: float = 1.0
    label: str | None = None


class Lane(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the timeline strip."""

    name: str
    kind: Literal["host", "launch", "device", "cause"]
    segments: tuple[Segment, ...]


class Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """One step, binned so that its size does not depend on the number of events; times from the step's start."""

    step: int
    duration_us: float
    basis: Literal["timeline", "trace"]
    lanes: tuple[Lane, ...]
