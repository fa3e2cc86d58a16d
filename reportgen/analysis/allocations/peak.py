"""What is alive at the peak: by category, by the line that allocated it, and the largest blocks."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.allocations.categories import CATEGORIES, categorize
from reportgen.analysis.allocations.places import AllocationPlaces
from reportgen.analysis.arithmetic.grouping import combine, total
from reportgen.analysis.model import PeakBlock, PeakLine, PeakShare
from reportgen.trace.memory_columns import BlockState

if TYPE_CHECKING:
    from reportgen.analysis.allocations.evidence import Evidence
    from reportgen.trace.columns import Int8, Int64
    from reportgen.trace.memory_columns import KnownTensors, MemoryHistory

MOST_LINES = 20
MOST_BLOCKS = 12


@dataclasses.dataclass(frozen=True, kw_only=True)
class AtPeak:
    """What `at_peak`, `peak_lines` and `peak_blocks` of `Memory` hold; the shares sum to `bytes`."""

    bytes: int
    shares: tuple[PeakShare, ...]
    lines: tuple[PeakLine, ...]
    blocks: tuple[PeakBlock, ...]


def describe_peak(evidence: Evidence, tensors: KnownTensors | None) -> AtPeak | None:
    """Describe what is alive at the highest point within the steps; None without any event."""
    history = evidence.history
    event = history.peak_event()
    if event is None:
        return None
    alive = np.flatnonzero(history.blocks.alive(event))
    category = categorize(evidence, tensors)[alive]
    sizes = history.blocks.bytes[alive]
    reached = int(history.counter(np.array([event + 1]))[0])
    # What no block accounts for was there before the recording began.
    unseen = max(reached - int(sizes.sum()), 0)
    return AtPeak(
        bytes=int(sizes.sum()) + unseen,
        shares=_shares(category, sizes, unseen),
        lines=_lines(evidence, alive, category, unseen),
        blocks=_largest(evidence, alive, category),
    )


def blocks_at_end(snapshot: MemoryHistory) -> tuple[PeakBlock, ...]:
    """List the largest blocks that the program held when the snapshot was taken, which is all it tells without history.

    What they are for is unknown, but for the model's own tensors where the recording names them.
    """
    blocks, places = snapshot.blocks, AllocationPlaces(None, snapshot.stacks)
    held = np.flatnonzero(blocks.state == BlockState.ACTIVE_ALLOCATED)
    named = dict(zip(snapshot.tensors.address.tolist(), snapshot.tensors.category, strict=True))
    order = held[np.argsort(-blocks.bytes[held], kind="stable")][:MOST_BLOCKS]
    return tuple(
        PeakBlock(
            bytes=int(blocks.bytes[row]),
            category=next((name for name in CATEGORIES if name == named.get(int(blocks.address[row]))), "unknown"),
            operator=None,
            input_shapes=None,
            input_types=None,
            before_recording=True,
            source=places.source(-1, int(blocks.stack[row])),
            stack=places.path(int(blocks.stack[row])),
        )
        for row in order.tolist()
    )


def _shares(category: Int8, sizes: Int64, unseen: int) -> tuple[PeakShare, ...]:
    sums = total(category, sizes, len(CATEGORIES)).astype(np.int64)
    counts = np.bincount(category, minlength=len(CATEGORIES))
    rows = []
    for code, name in enumerate(CATEGORIES):
        rest = unseen if name == "unknown" else 0
        if sums[code] + rest:
            rows.append(
                PeakShare(category=name, bytes=int(sums[code]) + rest, num_blocks=None if rest else int(counts[code]))
            )
    return tuple(rows)


def _lines(evidence: Evidence, alive: Int64, category: Int8, unseen: int) -> tuple[PeakLine, ...]:
    """List the places by what they hold; the last line is what has no place."""
    blocks = evidence.history.blocks
    codes, sources = evidence.places.codes(blocks.frame[alive], blocks.stack[alive])
    rows = []
    if len(alive):
        before = blocks.first[alive] < 0
        group, first = combine(codes, category, before.astype(np.int8))
        sums, counts = total(group, blocks.bytes[alive], len(first)), np.bincount(group)
        for index in np.argsort(-sums, kind="stable").tolist():
            code = int(codes[first[index]])
            rows.append(
                PeakLine(
                    source=sources[code] if code >= 0 else None,
                    category=CATEGORIES[int(category[first[index]])],
                    bytes=int(sums[index]),
                    num_blocks=int(counts[index]),
                    before_recording=bool(before[first[index]]),
                )
            )
    if unseen:
        rows.append(PeakLine(source=None, category="unknown", bytes=unseen, num_blocks=0, before_recording=True))
    return tuple(sorted(rows, key=lambda row: -row.bytes)[:MOST_LINES])


def _largest(evidence: Evidence, alive: Int64, category: Int8) -> tuple[PeakBlock, ...]:
    blocks = evidence.history.blocks
    order = np.argsort(-blocks.bytes[alive], kind="stable")[:MOST_BLOCKS]

    def describe(index: int) -> PeakBlock:
        row = int(alive[index])
        operator, shapes, types = evidence.operator(row)
        return PeakBlock(
            bytes=int(blocks.bytes[row]),
            category=CATEGORIES[int(category[index])],
            operator=operator,
            input_shapes=shapes,
            input_types=types,
            before_recording=bool(blocks.first[row] < 0),
            source=evidence.source(row),
            stack=evidence.places.path(int(blocks.stack[row])),
        )

    return tuple(describe(int(index)) for index in order)
