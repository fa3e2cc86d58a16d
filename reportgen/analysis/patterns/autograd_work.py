"""What autograd did in the steps: the nodes that forward operators made, and those that were run backward."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.arithmetic.grouping import heaviest
from reportgen.analysis.arithmetic.links import follow
from reportgen.analysis.model import AutogradWork
from reportgen.analysis.steps.window import count

if TYPE_CHECKING:
    from reportgen.analysis.attribution.attribution import Attribution
    from reportgen.analysis.model import Source
    from reportgen.trace.columns import Int64, Trace


def measure_autograd(attribution: Attribution) -> AutogradWork | None:
    """Count autograd's nodes; None where no operator was recorded.

    An operator that runs while gradients are recorded carries the number that the thread's next node will get, so a
    node was made wherever that number rises from one operator to the next.
    """
    trace = attribution.detail
    counted = count(trace)
    operators = trace.operators
    if not counted.operators.any():
        return None
    backward = np.array([group.direction == "backward" for group in attribution.groups] + [False])
    is_backward = backward[attribution.detail_group]
    makers = _makers(trace, np.flatnonzero(counted.operators & ~is_backward & (operators.sequence >= 0)))
    return AutogradWork(
        nodes_per_step=len(makers) / counted.num_steps,
        backward_operators_per_step=int((counted.operators & is_backward).sum()) / counted.num_steps,
        source=_source(attribution, makers),
    )


def _makers(trace: Trace, rows: Int64) -> Int64:
    """Return the operators after which the next one of their thread carries a higher number."""
    operators = trace.operators
    rows = rows[np.lexsort((operators.start_ns[rows], operators.thread[rows]))]
    same = operators.thread[rows[1:]] == operators.thread[rows[:-1]]
    made: Int64 = rows[:-1][same & (operators.sequence[rows[1:]] > operators.sequence[rows[:-1]])]
    return made


def _source(attribution: Attribution, makers: Int64) -> Source | None:
    if len(makers) == 0 or len(attribution.detail.frames.name) == 0:
        return None
    code = follow(attribution.detail_frame[makers], attribution.frames.source_code)
    ranked = heaviest(np.zeros(len(makers), dtype=np.int64), code, np.ones(len(makers)), 1)
    return attribution.frames.sources[ranked[0][0]] if ranked else None
