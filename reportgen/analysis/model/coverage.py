"""How far the numbers reach: what of the device time is attributed, and what the passes have in common."""

from __future__ import annotations

import msgspec


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """Shares of device time that carry an operator, its shapes, a Python stack, and a work model."""

    operators: float | None = None
    shapes: float | None = None
    stacks: float | None = None
    work_models: float | None = None


class Joining(msgspec.Struct, frozen=True, kw_only=True):
    """How much of the timeline pass found its twin in the detail pass."""

    share_of_activities: float
    share_of_device: float
