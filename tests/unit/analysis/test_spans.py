from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reportgen.analysis.arithmetic.spans import covered, overlap_ns, union

intervals = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)), max_size=12)


def columns(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    start = np.array([start for start, _ in pairs], dtype=np.int64)
    return start, start + np.array([length for _, length in pairs], dtype=np.int64)


def instants(pairs: list[tuple[int, int]]) -> set[int]:
    return {instant for start, length in pairs for instant in range(start, start + length)}


def test_overlapping_and_touching_intervals_become_one() -> None:
    merged = union(*columns([(5, 5), (0, 3), (8, 4), (12, 1), (20, 0)]))

    assert list(zip(*(column.tolist() for column in merged), strict=True)) == [(0, 3), (5, 13)]


@given(intervals)
def test_a_union_covers_exactly_the_instants_of_its_parts(pairs: list[tuple[int, int]]) -> None:
    assert union(*columns(pairs)).total_ns == len(instants(pairs))


@given(intervals, intervals)
def test_overlap_counts_the_instants_that_both_cover(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> None:
    assert overlap_ns(union(*columns(one)), union(*columns(other))) == len(instants(one) & instants(other))


@given(intervals, intervals)
def test_cover_of_each_interval_is_counted_alone(spans: list[tuple[int, int]], asked: list[tuple[int, int]]) -> None:
    found = covered(union(*columns(spans)), *columns(asked))

    assert found.tolist() == [len(instants(spans) & instants([pair])) for pair in asked]
