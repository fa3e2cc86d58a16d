"""Whether the steps of the timeline pass had the shapes that the detail pass recorded.

Where each step works on a batch of other lengths, its twin in the detail pass did the same with other shapes: operator
and function hold for it, shapes do not.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.alignment import align

if TYPE_CHECKING:
    from reportgen.trace.columns import Bool, Int32, Int64, Trace

# The share of a step's activities with their twins' grid and block from which on its shapes are the twins'. A cache
# that grows by a token a step leaves 0.90 to 0.96 of them alike (GPT-2 and a Llama-like decoder on an H200).
SAME_GRIDS = 0.8
# Without a device, the share of operators with the shapes of the step before: 0.92 to 0.96 where a cache grows, 0.42
# in fine-tuning on texts that are padded batch by batch.
SAME_SHAPES = 0.8


def with_other_grids(step: Int32, same: Bool) -> tuple[int, ...]:
    """Return the steps of whose activities too few are the same as their twins; one entry each for `step`, `same`."""
    return tuple(number for number in np.unique(step).tolist() if same[step == number].mean() < SAME_GRIDS)


def with_other_shapes(timeline: Trace, detail: Trace) -> tuple[int, ...]:
    """Return all steps of the timeline where the detail pass's own differ from each other in too many shapes.

    For a timeline without device activities, whose grids would tell.
    """
    alike = shapes_alike(detail)
    if not len(alike) or alike.mean() >= SAME_SHAPES:
        return ()
    return tuple(np.unique(timeline.operators.step).tolist())


def shapes_alike(trace: Trace) -> Bool:
    """Say for each operator that takes tensors whether it took the same shapes in the step before."""
    operators = trace.operators
    shape = np.append(_shape_codes(trace), -1)[operators.signature]
    around = np.where(operators.parent >= 0, np.append(operators.name, -1)[operators.parent], -1)
    key = operators.name.astype(np.int64) * 2**32 + around
    found = [np.zeros(0, dtype=bool)]
    for thread in np.unique(operators.thread):
        steps = np.unique(operators.step[(operators.thread == thread) & (operators.step >= 0)])
        blocks = [np.flatnonzero((operators.thread == thread) & (operators.step == step)) for step in steps]
        for one, other in pairwise(blocks):
            partner = align(key[one], key[other])
            joined = partner >= 0
            before, after = shape[one[joined]], shape[other[partner[joined]]]
            known = (before >= 0) & (after >= 0)
            found.append(before[known] == after[known])
    return np.concatenate(found)


def _shape_codes(trace: Trace) -> Int64:
    """Number the signatures by their shapes; -1 where none is a tensor's."""
    codes: dict[object, int] = {}
    return np.array(
        [codes.setdefault(it.shapes, len(codes)) if any(it.shapes or ()) else -1 for it in trace.signatures],
        dtype=np.int64,
    )
