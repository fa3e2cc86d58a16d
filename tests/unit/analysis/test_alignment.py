from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reportgen.analysis.arithmetic import alignment
from reportgen.analysis.arithmetic.alignment import align

sequences = st.lists(st.integers(0, 4), max_size=14)


def partners(one: list[int], other: list[int]) -> list[int]:
    found = align(np.array(one, dtype=np.int64), np.array(other, dtype=np.int64))
    return [int(position) for position in found]


def longest_common(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    @cache
    def length(i: int, j: int) -> int:
        if i == len(one) or j == len(other):
            return 0
        if one[i] == other[j]:
            return 1 + length(i + 1, j + 1)
        return max(length(i + 1, j), length(i, j + 1))

    return length(0, 0)


def test_equal_sequences_pair_in_order() -> None:
    assert partners([3, 1, 3], [3, 1, 3]) == [0, 1, 2]


def test_an_event_that_one_side_lacks_shifts_nothing_after_it() -> None:
    assert partners([1, 2, 3, 4], [1, 9, 2, 3, 4]) == [0, 2, 3, 4]
    assert partners([1, 9, 2, 3, 4], [1, 2, 3, 4]) == [0, -1, 1, 2, 3]


def test_a_replaced_event_has_no_partner() -> None:
    assert partners([1, 2, 3], [1, 5, 3]) == [0, -1, 2]


@pytest.mark.parametrize("table_bits", [alignment._TABLE_BITS, 12])  # whole, and in halves
@given(one=sequences, other=sequences)
def test_partners_are_equal_ordered_and_as_many_as_possible(table_bits: int, one: list[int], other: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alignment, "_TABLE_BITS", table_bits)
        found = partners(one, other)
    joined = [(i, j) for i, j in enumerate(found) if j >= 0]

    assert all(one[i] == other[j] for i, j in joined)
    assert [j for _, j in joined] == sorted({j for _, j in joined})
    assert len(joined) == longest_common(tuple(one), tuple(other))
