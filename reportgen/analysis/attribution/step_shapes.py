"""Whether the shapes of a program stay from step to step, where it has no device whose launches would tell."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.arithmetic.alignment import align

if TYPE_CHECKING:
    from reportgen.trace.columns import Bool, Int64, Trace

# The share of operators with the shapes that they had in the step before: 0.92 to 0.96 where a cache grows by a token a
# step, 0.42 in fine-tuning on texts that are padded batch by batch.
SAME_SHAPES = 0.75


def shapes_stay(trace: Trace) -> bool:
    """Say whether the steps of `trace` have the same shapes, or hardly any were recorded that could differ."""
    alike = shapes_alike(trace)
    return not len(alike) or bool(alike.mean() >= SAME_SHAPES)


def shapes_alike(trace: Trace) -> Bool:
    """Say for each operator that takes tensors, and has a twin in the step before, whether it took the same shapes."""
    operators = trace.operators
    shape = np.append(_shape_codes(trace), -1)[operators.signature]
    around = np.where(operators.parent >= 0, np.append(operators.name, -1)[operators.parent], -1)
    key = operators.name.astype(np.int64) * 2**32 + around
    found = [np.zeros(0, dtype=bool)]
    for thread in np.unique(operators.thread):
        here = operators.thread == thread
        steps = np.unique(operators.step[here & (operators.step >= 0)])
        blocks = [np.flatnonzero(here & (operators.step == step)) for step in steps]
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
