"""What each block is for, told by evidence; what cannot be told is unknown.

In this order: the model's and the optimizer's own tensors, which a recording of this project names; blocks that grow
from step to step at the same place of the step and live through it (a growing key-value cache); then the phase that
allocated the block and whether it outlived it.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, get_args

import numpy as np

from reportgen.analysis.allocations.history import BEFORE
from reportgen.analysis.allocations.pairing import rows_by_step
from reportgen.analysis.allocations.phases import freed_in_step, steps_of
from reportgen.analysis.model import MemoryCategory

if TYPE_CHECKING:
    from reportgen.analysis.allocations.evidence import Evidence
    from reportgen.analysis.allocations.history import History
    from reportgen.trace.columns import Bool, Int8, Int64
    from reportgen.trace.memory_columns import KnownTensors

CATEGORIES: tuple[MemoryCategory, ...] = get_args(MemoryCategory)
# The last backward operators free each other's results a few events after the last allocation.
_SLACK_EVENTS = 8
_CODE = {category: code for code, category in enumerate(CATEGORIES)}


def categorize(evidence: Evidence, tensors: KnownTensors | None) -> Int8:
    """Return for each block the position of its category in `CATEGORIES`."""
    history, phases = evidence.history, evidence.phases
    step = steps_of(history)
    short = freed_in_step(history, step)
    seen, inside = history.blocks.first > BEFORE, step >= 0
    # Between the steps, while the loop prepares the next one.
    prepared = seen & ~inside & (history.blocks.first >= _first_of_steps(history))
    forward = inside & ~phases.backward & ~phases.optimizer
    code = np.select(
        [
            inside & phases.optimizer & short,
            seen & phases.optimizer,
            inside & phases.backward & ~short,
            inside & phases.backward & _outlives_backward(history, step, phases.backward),
            inside & phases.backward,
            forward & phases.from_host,
            forward & (phases.scope >= 0),
            forward,
            prepared,
        ],
        [
            _CODE["temporaries"],
            _CODE["optimizer"],
            _CODE["gradients"],
            _CODE["gradients"],
            _CODE["temporaries"],
            _CODE["inputs"],
            _CODE["temporaries"],
            _CODE["activations"],
            _CODE["inputs"],
        ],
        _CODE["unknown"],
    ).astype(np.int8)
    code[forward & ~short & growing_blocks(history)] = _CODE["cache"]
    if tensors is not None:
        _name_known(code, history, tensors)
    return code


def growing_blocks(history: History) -> Bool:
    """Tell which blocks grow from step to step: larger than their like in the step before, or smaller than in the next.

    Alike are the allocations with the same number within their steps; only steps that allocate equally often are
    compared. Only what outlives its step can be a cache.
    """
    grows = np.zeros(len(history.blocks.first), dtype=bool)
    sizes = history.blocks.bytes
    steps = rows_by_step(history)
    survives = ~freed_in_step(history, steps_of(history))
    for earlier, later in itertools.pairwise(steps):
        if len(earlier) != len(later):
            continue
        larger = (sizes[later] > sizes[earlier]) & survives[later] & survives[earlier]
        grows[later[larger]] = True
        grows[earlier[larger]] = True
    return grows


def _first_of_steps(history: History) -> int:
    """Return the first event of the first step, past all events where there are no steps."""
    return int(history.steps.start[0]) if len(history.steps.start) else history.num_events + 1


def _outlives_backward(history: History, step: Int64, backward: Bool) -> Bool:
    """Tell what a step frees only after the last of its backward allocations: gradients, until they are reset."""
    ends = np.full(len(history.steps.start) + 1, history.num_events, dtype=np.int64)
    rows = np.flatnonzero(backward & (step >= 0))
    if len(rows):
        latest = np.full(len(ends), -1, dtype=np.int64)
        np.maximum.at(latest, step[rows], history.blocks.first[rows])
        ends = np.where(latest >= 0, latest, ends)
    outlives: Bool = history.blocks.last > ends[step] + _SLACK_EVENTS
    return outlives


def _name_known(code: Int8, history: History, tensors: KnownTensors) -> None:
    """Give blocks the category of the known tensor that lies in them, at the time for which it is known."""
    blocks = history.blocks
    first_ns = np.where(blocks.first >= 0, history.time_ns[np.maximum(blocks.first, 0)], np.iinfo(np.int64).min)
    freed = blocks.last < history.num_events
    last_ns = np.where(freed, history.time_ns[np.minimum(blocks.last, history.num_events - 1)], np.iinfo(np.int64).max)
    rows_at: dict[int, list[int]] = {}
    for row, address in enumerate(blocks.address.tolist()):
        rows_at.setdefault(address, []).append(row)
    columns = zip(tensors.category, tensors.address.tolist(), tensors.time_us.tolist(), strict=True)
    for category, address, time_us in columns:
        named = _CODE.get(category)  # type: ignore[call-overload]
        for row in rows_at.get(address, ()) if named is not None else ():
            # Without a time it is known for the whole history: what lies there at its end.
            if (
                (not freed[row])
                if time_us < 0
                else first_ns[row] <= time_us * 1000 + 999 and time_us * 1000 < last_ns[row]
            ):
                code[row] = named
