from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overlapcheck.columns import ABSENT, compact, is_constant
from overlapcheck.searches import (
    covering,
    last_at_or_before,
    last_before,
    places,
    position_of,
    taken,
)


def test_positions_in_sorted_values_are_absent_where_there_is_none() -> None:
    values, at = np.array([10, 20, 20, 30]), np.array([5, 10, 20, 25, 40])

    assert last_at_or_before(values, at).tolist() == [ABSENT, 0, 2, 2, 3]
    assert last_before(values, at).tolist() == [ABSENT, ABSENT, 0, 2, 3]
    assert position_of(values, at).tolist() == [ABSENT, 0, 1, ABSENT, ABSENT]
    assert position_of(values[:0], at).tolist() == [ABSENT] * 5


def test_covering_finds_the_last_to_start_where_it_still_covers_the_time() -> None:
    start, end = np.array([0, 10, 12, 30]), np.array([5, 20, 14, 40])

    found = covering(start, end, np.array([-1, 0, 4, 5, 11, 13, 15, 39, 40]))

    assert found.tolist() == [ABSENT, 0, 0, ABSENT, 1, 2, ABSENT, 3, ABSENT]
    assert covering(start[:0], end[:0], np.array([3])).tolist() == [ABSENT]


def test_values_are_taken_at_rows_that_there_are() -> None:
    column, rows = np.array([7, 8, 9]), np.array([2, ABSENT, 0])

    assert taken(column, rows, 0).tolist() == [9, 0, 7]
    assert taken(column[:0], rows, 5).tolist() == [5, 5, 5]


@given(st.lists(st.integers(0, 20), max_size=4), st.lists(st.integers(-2, 22)))
def test_numbers_are_placed_as_numpy_places_them(values: list[int], numbers: list[int]) -> None:
    few = np.array(sorted(values), dtype=np.int64)
    for many in (numbers, sorted(numbers)):
        at = np.array(many, dtype=np.int64)
        left, right = np.searchsorted(few, at), np.searchsorted(few, at, side="right")
        assert places(few, at, side="left").tolist() == left.tolist()
        assert places(few, at, side="right").tolist() == right.tolist()


def test_a_constant_column_taken_at_rows_that_there_are_stays_stored_once() -> None:
    column = compact(np.array([7, 7, 7]))

    assert is_constant(taken(column, np.array([2, 1, 0]), 0))
    assert taken(column, np.array([2, ABSENT]), 0).tolist() == [7, 0]
