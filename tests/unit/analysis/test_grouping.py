from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reportgen.analysis.arithmetic.grouping import combine, heaviest, total

codes = st.integers(-1, 2**31 - 1) | st.integers(-1, 3)


@given(st.lists(st.tuples(codes, codes, codes), min_size=1, max_size=20))
def test_rows_share_a_group_exactly_where_all_their_codes_agree(rows: list[tuple[int, int, int]]) -> None:
    group, first = combine(*np.array(rows, dtype=np.int64).T)

    for i, one in enumerate(rows):
        for j, other in enumerate(rows):
            assert (group[i] == group[j]) == (one == other)
    assert [rows.index(rows[row]) for row in first] == first.tolist()
    assert sorted(set(group.tolist())) == list(range(len(first)))


def test_rows_without_a_group_are_left_out_of_totals() -> None:
    group = np.array([0, -1, 2, 0])

    assert total(group, np.array([1, 50, 3, 4]), 3).tolist() == [5, 0, 3]
    assert total(group, None, 3).tolist() == [2, 0, 1]


def test_the_heaviest_items_of_a_group_come_first() -> None:
    group = np.array([0, 0, 0, 1, -1, 0])
    item = np.array([7, 8, 7, 9, 9, -1])

    assert heaviest(group, item, np.array([1, 5, 3, 2, 100, 100]), 2) == {0: [8, 7], 1: [9]}
    assert heaviest(group, item, np.array([1, 5, 3, 2, 100, 100]), 1) == {0: [8], 1: [9]}
