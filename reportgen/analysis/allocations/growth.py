"""Growth from step to step: blocks that stay, or a cache whose blocks are replaced by larger ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from reportgen.analysis.allocations.phases import steps_of
from reportgen.analysis.arithmetic.grouping import combine, total
from reportgen.analysis.model import Growth, KeptLine

if TYPE_CHECKING:
    from reportgen.analysis.allocations.evidence import Evidence
    from reportgen.trace.columns import Int64

# Two differences at least: one rise may be the first step's.
LEAST_STEPS = 3
# Of the growth that the blocks which stay must explain to be called its reason.
_KEPT_SHARE = 0.5
MOST_LINES = 8


def measure_growth(evidence: Evidence, device_bytes: int | None) -> Growth | None:
    """Compare the allocated bytes at the ends of the steps; None with fewer than two of them.

    Steady growth is at least three steps' ends strictly rising, the last rise at least half the first. It is "kept"
    where at least half of it are blocks that a whole later step did not free, else "cache".
    """
    history = evidence.history
    ends = history.counter(history.steps.end)
    if len(ends) < 2:
        return None
    rises = np.diff(ends)
    steadily = len(ends) >= LEAST_STEPS and bool((rises > 0).all()) and bool(2 * rises[-1] >= rises[0])
    per_step = float(ends[-1] - ends[0]) / len(rises)
    kept = _kept(evidence)
    kept_per_step = float(evidence.history.blocks.bytes[kept].sum()) / len(rises)
    kind: Literal["none", "kept", "cache"] = "none"
    if steadily:
        kind = "kept" if kept_per_step >= _KEPT_SHARE * per_step else "cache"
    return Growth(
        kind=kind,
        bytes_per_step=per_step,
        rises_bytes=tuple(rises.tolist()),
        steadily=steadily,
        steps_until_full=(device_bytes - float(ends[-1])) / per_step if steadily and device_bytes else None,
        lines=_lines(evidence, kept, len(rises)) if kind == "kept" else (),
    )


def _kept(evidence: Evidence) -> Int64:
    """Return the rows of blocks allocated in a step but the last and still alive at the end of the last."""
    history = evidence.history
    step = steps_of(history)
    num_steps = len(history.steps.start)
    return np.flatnonzero((step >= 0) & (step < num_steps - 1) & (history.blocks.last >= history.steps.end[-1]))


def _lines(evidence: Evidence, kept: Int64, num_rises: int) -> tuple[KeptLine, ...]:
    blocks = evidence.history.blocks
    if len(kept) == 0:
        return ()
    group, first = combine(*evidence.place_codes(kept))
    sums, counts = total(group, blocks.bytes[kept], len(first)), np.bincount(group)

    def line(index: int) -> KeptLine:
        row = int(kept[first[index]])
        return KeptLine(
            source=evidence.source(row),
            operator=evidence.operator(row)[0],
            bytes_per_step=float(sums[index]) / num_rises,
            blocks_per_step=float(counts[index]) / num_rises,
        )

    return tuple(line(int(index)) for index in np.argsort(-sums, kind="stable")[:MOST_LINES])
