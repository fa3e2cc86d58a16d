"""What a captured loop was too short for, and what its user can do about it, by how the session was opened."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection

from reportgen.recording import PassName
from reportgen.runner import schedule

# Steps that settle the loop before the first pass, and the one in which the flags are looked at.
SETTLING_STEPS = 3
_PASSES: tuple[PassName, ...] = ("timing", "timeline", "detail")
_LONG_STEP_US, _SHORT_STEP_US = 1e6, 1e3


@dataclasses.dataclass(frozen=True, kw_only=True)
class Entry:
    """How a session was opened: why it may have seen no step, and how many steps passed before it."""

    no_step: str
    num_before: int = 0


BY_HAND = Entry(no_step="call session.step() at the end of each pass of the loop")


def count_window_steps(skip: int, step_us: float) -> int:
    """Return how many steps of `step_us` a whole window takes, the `skip` that are let pass included."""
    blocks = 2 * (schedule.block_steps(step_us) + 1)
    profiled = [schedule.timeline_window(step_us), schedule.detail_window(step_us)]
    return skip + 1 + SETTLING_STEPS + 1 + blocks + sum(one.warmup_steps + one.recorded_steps for one in profiled)


def describe_shortfall(entry: Entry, num_steps: int, skip: int, done: Collection[PassName]) -> str | None:
    """Return what a session that saw `num_steps` steps lacks and what to do, None where all passes are `done`."""
    missing = [name for name in _PASSES if name not in done]
    if not missing:
        return None
    seen = num_steps + entry.num_before
    if not seen:
        return f"no step was seen: {entry.no_step}"
    if len(missing) < len(_PASSES):
        return f"the loop ended after {_steps(seen)}, before these passes were over: {', '.join(missing)}"
    least, most = (count_window_steps(skip, step_us) + entry.num_before for step_us in (_LONG_STEP_US, _SHORT_STEP_US))
    return (
        f"no step was recorded, since the loop ended after {_steps(seen)}: let it run longer; a window takes "
        f"{least} steps of a second each, or {most} short ones"
    )


def _steps(number: int) -> str:
    return f"{number} step" if number == 1 else f"{number} steps"
