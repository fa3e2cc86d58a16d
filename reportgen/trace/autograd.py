"""Which forward operator a backward operator belongs to: the one that made its autograd node.

Both carry the node's sequence number. An operator carries the number that the *next* node will get, so all operators
that ran between two nodes share one; the node is made by the last of them to start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from reportgen.trace.columns import Int32, Int64, Operators


def find_forward_operators(operators: Operators) -> Int32:
    """Give the row of the forward operator of each backward operator, -1 for others and where it is not recorded.

    Sequence numbers are counted per thread, and a backward operator names the forward thread by a number of
    autograd's own. That number stands for the thread on which most of its sequence numbers are found; where two
    threads fit equally well, nothing is linked.
    """
    forward = np.full(len(operators.sequence), -1, dtype=np.int32)
    numbered = operators.sequence >= 0
    backward = np.flatnonzero(numbered & (operators.forward_thread > 0))
    makers = np.flatnonzero(numbered & (operators.forward_thread <= 0))
    for number in np.unique(operators.forward_thread[backward]):
        of_number = backward[operators.forward_thread[backward] == number]
        thread = _thread_with_most_of(operators.sequence[of_number], operators, makers)
        if thread >= 0:
            on_thread = makers[operators.thread[makers] == thread]
            forward[of_number] = _last_started_before(of_number, on_thread, operators)
    return forward


def _thread_with_most_of(sequence: Int64, operators: Operators, makers: Int64) -> int:
    """Give the thread on which the most of these sequence numbers occur, -1 for none or a tie."""
    fitting = makers[np.isin(operators.sequence[makers], sequence)]
    pairs = np.unique(np.stack([operators.thread[fitting], operators.sequence[fitting]]), axis=1)
    hits = np.bincount(pairs[0].astype(np.int64), minlength=1)
    best = int(hits.argmax())
    return best if hits[best] and np.count_nonzero(hits == hits[best]) == 1 else -1


def _last_started_before(backward: Int64, makers: Int64, operators: Operators) -> Int32:
    """Give, for each backward operator, the last of `makers` with its number that started before it, or -1."""
    by_sequence = makers[np.argsort(operators.sequence[makers], kind="stable")]
    # Rows are in order of start, so among equal sequence numbers the last row below the operator's own is wanted.
    num_rows = len(operators.sequence)
    ids, index = np.unique(operators.sequence[by_sequence], return_inverse=True)
    keys = index.astype(np.int64) * num_rows + by_sequence
    wanted = np.searchsorted(ids, operators.sequence[backward]).astype(np.int64)
    known = (wanted < len(ids)) & (ids[np.minimum(wanted, len(ids) - 1)] == operators.sequence[backward])
    at = np.searchsorted(keys, wanted * num_rows + backward) - 1
    found = known & (at >= 0) & (keys[np.maximum(at, 0)] >= wanted * num_rows)
    return np.where(found, by_sequence[np.maximum(at, 0)], -1).astype(np.int32)
