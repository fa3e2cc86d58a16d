"""A step that can be run again: what it takes as it is, and with fixes made."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, NamedTuple

from reportgen.analysis.replay.simulate import measure_period_ns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.analysis.replay.edits import Edit
    from reportgen.analysis.replay.program import Program

# A replay whose base misses the measured step by more is not used for gains.
MOST_ERROR = 0.1
# A host's time wanders by this much from one minute to the next: the unprofiled prefill step of GPT-2 on an H200 took
# 5.9 to 7.1 ms. A trace tells of its own minute only.
WANDER = 0.09


class Interval(NamedTuple):
    """A step time, µs, with the bounds that the profiler's share leaves open."""

    low_us: float
    middle_us: float
    high_us: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class Replay:
    """The model of a step.

    `program` is the step without the profiler; `least` and `most` are the same with the most and the least of the
    host's time taken for the profiler's. With a timing pass all three are one. `base_error` is by how much (share) the
    model misses what was measured: the unprofiled step where there is a timing pass, else the profiled step of the
    trace, replayed with the profiler's share left in.

    `recorded` is the step with the profiler's share left in, None with a timing pass. The bounds of what recording
    costs come from other machines: on this one it may have cost nothing, and a fix gives what it gives to the recorded
    step.
    """

    program: Program
    least: Program
    most: Program
    base_error: float
    recorded: Program | None = None
    # How far another minute's step may lie outside the bounds; 0 where the step was timed beside the trace.
    wander: float = WANDER

    @property
    def is_usable(self) -> bool:
        """Whether the base reproduces the measured step well enough for gains to be read off."""
        return self.base_error <= MOST_ERROR

    def period_us(self, edits: Sequence[Edit] = ()) -> float:
        """Return the step time with `edits` made one after the other, µs."""
        return _period_us(self.program, edits)

    def interval_us(self, edits: Sequence[Edit] = ()) -> Interval:
        """Return the step time with its bounds, what a step wanders included, µs."""
        middle = self.period_us(edits)
        low, high = _period_us(self.least, edits), _period_us(self.most, edits)
        return Interval(
            low_us=min(low, middle) * (1 - self.wander),
            middle_us=middle,
            high_us=max(high, middle) * (1 + self.wander),
        )

    def program_with(self, edits: Sequence[Edit]) -> Program:
        """Return the step's program with `edits` made one after the other."""
        program = self.program
        for edit in edits:
            program = edit.apply(program)
        return program

    def gain_us(self, edits: Sequence[Edit], given: Sequence[Edit] = ()) -> Interval:
        """Return what `edits` take off the step after the edits `given`; negative gains are kept.

        Where the profiler's share is not known, the bounds reach from its most to none of it.
        """
        programs = [self.least, self.program, self.most, *([self.recorded] if self.recorded else [])]
        gains = [_period_us(program, given) - _period_us(program, (*given, *edits)) for program in programs]
        return Interval(low_us=min(gains), middle_us=gains[1], high_us=max(gains))


def _period_us(program: Program, edits: Sequence[Edit]) -> float:
    for edit in edits:
        program = edit.apply(program)
    return measure_period_ns(program) / 1e3
