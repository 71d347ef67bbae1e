from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlapcheck.columns import Ints
from overlapcheck.grouping import (
    by_group,
    distinct,
    first_rows,
    groups,
    numbered,
    ordered,
    repeated,
)

NUMBERS = st.lists(st.one_of(st.integers(-3, 3), st.integers(-(1 << 60), 1 << 60)), max_size=60)


def ints(values: list[int]) -> Ints:
    return np.array(values, dtype=np.int64)


@given(NUMBERS)
def test_distinct_and_numbered_are_numpys_unique(values: list[int]) -> None:
    wanted, positions = np.unique(ints(values), return_inverse=True)
    found, position = numbered(ints(values))

    assert distinct(ints(values)).tolist() == found.tolist() == wanted.tolist()
    assert position.tolist() == positions.tolist()


@given(NUMBERS)
def test_rows_that_share_their_value_are_repeated(values: list[int]) -> None:
    wanted = [row for row, value in enumerate(values) if values.count(value) > 1]

    assert repeated(ints(values)).tolist() == wanted


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-2, 2), st.integers(0, 1 << 40))))
def test_rows_are_grouped_in_the_order_of_their_keys(rows: list[tuple[int, int, int]]) -> None:
    keys = [ints([row[i] for row in rows]) for i in range(3)]
    first, group = groups(*keys)
    order, bounds = by_group(group, first.size)

    wanted = sorted(set(rows))
    assert [rows[i] for i in first] == wanted
    assert first.tolist() == [rows.index(key) for key in wanted]
    for number, key in enumerate(wanted):
        members = order[bounds[number] : bounds[number + 1]].tolist()
        assert members == [i for i, row in enumerate(rows) if row == key]


@given(st.lists(st.tuples(st.integers(0, 1 << 33), st.integers(0, 3), st.integers(-2, 2))))
def test_rows_are_ordered_as_lexsort_orders_them(rows: list[tuple[int, int, int]]) -> None:
    for keys in (rows, sorted(rows), [(a % 5, b, c) for a, b, c in rows]):
        columns = [ints([row[i] for row in keys]) for i in range(3)]
        assert ordered(columns[0]).tolist() == np.argsort(columns[0], kind="stable").tolist()
        assert ordered(*columns).tolist() == np.lexsort(columns[::-1]).tolist()


@pytest.mark.parametrize("width", [1 << 10, 1 << 20, 1 << 40])
def test_random_numbers_of_any_width_are_ordered_stably(width: int) -> None:
    values = np.random.default_rng(0).integers(-width, width, 20_000) // 3

    assert np.array_equal(ordered(values), np.argsort(values, kind="stable"))
    assert np.array_equal(first_rows(values), np.unique(values, return_index=True)[1])
