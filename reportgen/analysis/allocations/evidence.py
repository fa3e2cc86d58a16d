"""What every question about a block is answered from: its history, phase, operator and place."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.allocations.pairing import pair_histories
from reportgen.analysis.allocations.phases import BlockPhases, find_phases
from reportgen.analysis.allocations.places import AllocationPlaces
from reportgen.analysis.arithmetic.links import follow

if TYPE_CHECKING:
    from reportgen.analysis.allocations.history import History
    from reportgen.analysis.attribution.attribution import Attribution
    from reportgen.analysis.model import Source
    from reportgen.trace.columns import Int32, Int64
    from reportgen.trace.memory_columns import MemoryHistory

Shapes = tuple[tuple[int, ...], ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evidence:
    """The blocks of one history with what the trace and the snapshot know of them."""

    history: History
    phases: BlockPhases
    places: AllocationPlaces
    attribution: Attribution | None

    def operator(self, row: int) -> tuple[str | None, Shapes | None, tuple[str, ...] | None]:
        """Return name, shapes and types of the operator that asked for a block."""
        if self.attribution is None:
            return None, None, None
        group = int(follow(self.history.blocks.operator[row : row + 1], self.attribution.detail_group)[0])
        if group < 0:
            return None, None, None
        known = self.attribution.groups[group]
        signature = known.signature
        return known.name, signature.shapes if signature else None, signature.types if signature else None

    def source(self, row: int) -> Source | None:
        """Return the place that allocated a block, by the line of the call where a snapshot knows it."""
        blocks = self.history.blocks
        return self.places.source(int(blocks.frame[row]), int(blocks.stack[row]))

    def place_codes(self, rows: Int64) -> tuple[Int32, Int32]:
        """Number the places and the operators of blocks: equal codes are one kind of allocation."""
        blocks = self.history.blocks
        codes, _ = self.places.codes(blocks.frame[rows], blocks.stack[rows])
        if self.attribution is None:
            return codes, np.full(len(rows), -1, dtype=np.int32)
        return codes, follow(blocks.operator[rows], self.attribution.detail_group)


def gather_evidence(
    attribution: Attribution | None, trace: History | None, history: History | None, snapshot: MemoryHistory | None
) -> tuple[Evidence | None, Evidence | None]:
    """Return the evidence of the trace's history and of the snapshot's, each with what the other one knows."""
    places = AllocationPlaces(attribution, snapshot.stacks if snapshot is not None else ())
    of_trace = of_snapshot = None
    if trace is not None and attribution is not None:
        of_trace = Evidence(
            history=trace, phases=find_phases(trace, attribution), places=places, attribution=attribution
        )
    if history is not None:
        of_snapshot = Evidence(
            history=history, phases=_phases_by_stack(history, places), places=places, attribution=attribution
        )
    if of_trace is None or of_snapshot is None:
        return of_trace, of_snapshot
    return _exchange(of_trace, of_snapshot)


def _exchange(of_trace: Evidence, of_snapshot: Evidence) -> tuple[Evidence, Evidence]:
    pairs = pair_histories(of_trace.history, of_snapshot.history)
    stack = follow(pairs.in_snapshot, of_snapshot.history.blocks.stack)
    mine = of_trace.history.blocks
    twin, own = pairs.in_trace, of_snapshot.phases
    paired = twin >= 0
    known = of_trace.phases
    phases = BlockPhases(
        backward=np.where(paired, known.backward[twin], own.backward),
        optimizer=np.where(paired, known.optimizer[twin], own.optimizer),
        from_host=np.where(paired, known.from_host[twin], own.from_host),
        saved=np.where(paired, known.saved[twin], own.saved),
        scope=np.where(paired, known.scope[twin], own.scope),
    )
    theirs = dataclasses.replace(
        of_snapshot.history.blocks, operator=follow(twin, mine.operator), frame=follow(twin, mine.frame)
    )
    return (
        dataclasses.replace(
            of_trace, history=dataclasses.replace(of_trace.history, blocks=dataclasses.replace(mine, stack=stack))
        ),
        dataclasses.replace(
            of_snapshot, history=dataclasses.replace(of_snapshot.history, blocks=theirs), phases=phases
        ),
    )


def _phases_by_stack(history: History, places: AllocationPlaces) -> BlockPhases:
    """Tell what stacks alone tell: what torch.optim allocated."""
    blocks = history.blocks
    optimizer = np.array([places.is_optimizer(code) for code in range(len(places.stacks))] + [False])
    nothing = np.zeros(len(blocks.first), dtype=bool)
    return BlockPhases(
        backward=nothing,
        optimizer=optimizer[blocks.stack],
        from_host=nothing,
        saved=nothing,
        scope=np.full(len(blocks.first), -1, dtype=np.int64),
    )
