"""How much of the device time carries an operator, its shapes, a Python stack."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.trace.calltree import nearest_with
from reportgen.trace.columns import Bool, Coverage

if TYPE_CHECKING:
    from reportgen.trace.columns import Trace


def measure_coverage(trace: Trace) -> Coverage:
    """Give the shares of the device time launched in the window that carry each kind of information.

    Shapes are those of the operator itself. A stack counts where a Python frame was open at the launch, or at the
    forward operator of the backward operator that launched: autograd's threads run no Python.
    """
    return Coverage(
        operators=share_of_launched(trace, trace.activities.operator >= 0),
        shapes=share_of_launched(trace, of_operators(trace, _with_shapes(trace))),
        stacks=share_of_launched(trace, _with_stack(trace)),
    )


def share_of_launched(trace: Trace, chosen: Bool) -> float | None:
    """Give the share of the device time launched in the window that the chosen activities have, None without any."""
    activities = trace.activities
    duration = np.where(activities.before_window, 0, activities.end_ns - activities.start_ns)
    total = int(duration.sum())
    return int(duration[chosen].sum()) / total if total else None


def of_operators(trace: Trace, chosen: Bool) -> Bool:
    """Tell the activities that a chosen operator launched."""
    operator = trace.activities.operator
    found = np.zeros(len(operator), dtype=np.bool_)
    linked = operator >= 0
    found[linked] = chosen[operator[linked]]
    return found


def _with_shapes(trace: Trace) -> Bool:
    recorded = np.fromiter((it.shapes is not None for it in trace.signatures), np.bool_, len(trace.signatures))
    # Signature -1 picks the entry put at the end.
    with_shapes: Bool = np.append(recorded, False)[trace.operators.signature]
    return with_shapes


def _with_stack(trace: Trace) -> Bool:
    operators, activities = trace.operators, trace.activities
    backward = nearest_with(operators.parent, operators.forward >= 0)
    forward = np.where(backward >= 0, operators.forward[backward], -1)
    has_frame = operators.frame >= 0
    known = has_frame | ((forward >= 0) & has_frame[forward])
    at_launch: Bool = np.append(trace.calls.frame >= 0, False)[np.where(activities.before_window, -1, activities.call)]
    return of_operators(trace, known) | at_launch
