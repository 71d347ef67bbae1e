from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlapcheck import measurements, trace
from overlapcheck.columns import (
    ABSENT,
    Bools,
    Columns,
    Floats,
    Ints,
    Texts,
    blocks,
    by_group,
    compact,
    distinct,
    first_rows,
    groups,
    is_constant,
    last_at_or_before,
    last_before,
    numbered,
    ordered,
    places,
    position_of,
    taken,
)

TABLES = [
    kind
    for module in (trace, measurements)
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, Columns) and kind is not Columns
]


@dataclass(frozen=True)
class Sample(Columns):
    number: Ints
    flag: Bools
    share: Floats
    text: Texts


def sample() -> Sample:
    return Sample(
        number=np.array([1, 2, 3]),
        flag=np.array([True, False, True]),
        share=np.array([0.5, 0.25, 1.0]),
        text=np.array(["a", "b", "c"], dtype=object),
    )


def test_columns_cannot_be_written_to() -> None:
    with pytest.raises(ValueError, match="read-only"):
        sample().number[0] = 9


def test_making_a_table_leaves_the_callers_array_writeable() -> None:
    number = np.array([1])
    Sample(number, np.array([True]), np.array([0.5]), np.array(["a"], dtype=object))
    number[0] = 2

    assert number.tolist() == [2]


def test_columns_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="Sample: columns of different shapes"):
        Sample(np.array([1]), np.array([True, False]), np.array([0.5]), np.array(["a"]))


def test_columns_of_more_than_one_dimension_are_refused() -> None:
    square = np.zeros((2, 2))

    with pytest.raises(ValueError, match="different shapes"):
        Sample(square.astype(np.int64), square.astype(bool), square, square.astype(object))


@pytest.mark.parametrize(
    "which", [np.array([True, False, True]), np.array([0, 2]), slice(0, None, 2)]
)
def test_rows_are_chosen_by_mask_index_or_slice(which: np.ndarray | slice) -> None:
    chosen = sample().rows(which)

    assert chosen.number.tolist() == [1, 3]
    assert chosen.text.tolist() == ["a", "c"]
    assert isinstance(chosen, Sample)


def test_rows_keep_the_order_of_an_index() -> None:
    assert sample().rows(np.array([2, 0])).number.tolist() == [3, 1]


@pytest.mark.parametrize("kind", [Sample, *TABLES], ids=lambda kind: kind.__name__)
def test_every_table_can_be_empty_with_its_own_column_types(kind: type[Columns]) -> None:
    types = {
        "Ints": np.int64,
        "Rows": np.int32,
        "Codes": np.int8,
        "Bools": np.bool_,
        "Floats": np.float64,
        "Texts": np.object_,
    }
    empty = kind.none()

    assert len(empty) == 0
    assert len(empty.frame()) == 0
    for field in fields(kind):
        assert getattr(empty, field.name).dtype == types[str(field.type)], field.name


def test_a_frame_has_one_column_per_field() -> None:
    frame = sample().frame()

    assert list(frame.columns) == ["number", "flag", "share", "text"]
    assert frame["share"].tolist() == [0.5, 0.25, 1.0]
    assert frame["flag"].dtype == bool


NUMBERS = st.lists(st.one_of(st.integers(-3, 3), st.integers(-(1 << 60), 1 << 60)), max_size=60)


def ints(values: list[int]) -> Ints:
    return np.array(values, dtype=np.int64)


@given(NUMBERS)
def test_distinct_and_numbered_are_numpys_unique(values: list[int]) -> None:
    wanted, positions = np.unique(ints(values), return_inverse=True)
    found, position = numbered(ints(values))

    assert distinct(ints(values)).tolist() == found.tolist() == wanted.tolist()
    assert position.tolist() == positions.tolist()


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


@pytest.mark.parametrize(
    "which", [np.array([True, False, True]), np.array([0, 2]), slice(0, None, 2)]
)
def test_a_column_of_one_value_stays_stored_once(which: np.ndarray | slice) -> None:
    number = compact(np.array([5, 5, 5]))
    table = Sample(number, compact(np.array([True] * 3)), np.zeros(3), np.array(["a"] * 3, object))
    chosen = table.rows(which)

    assert is_constant(chosen.number)
    assert is_constant(chosen.flag)
    assert chosen.number.tolist() == [5, 5]


def test_a_column_of_several_values_is_left_as_it_is() -> None:
    values = np.array([5, 6, 5])

    assert compact(values) is values
    assert not is_constant(values)


def test_blocks_are_all_rows_once() -> None:
    covered = [row for block in blocks(200_001) for row in range(block.start, block.stop)]

    assert covered == list(range(200_001))


def test_positions_in_sorted_values_are_absent_where_there_is_none() -> None:
    values, at = np.array([10, 20, 20, 30]), np.array([5, 10, 20, 25, 40])

    assert last_at_or_before(values, at).tolist() == [ABSENT, 0, 2, 2, 3]
    assert last_before(values, at).tolist() == [ABSENT, ABSENT, 0, 2, 3]
    assert position_of(values, at).tolist() == [ABSENT, 0, 1, ABSENT, ABSENT]
    assert position_of(values[:0], at).tolist() == [ABSENT] * 5


@given(st.lists(st.integers(0, 20), max_size=4), st.lists(st.integers(-2, 22)))
def test_numbers_are_placed_as_numpy_places_them(values: list[int], numbers: list[int]) -> None:
    for at in (ints(numbers), ints(sorted(numbers))):
        for side in ("left", "right"):
            wanted = np.searchsorted(ints(sorted(values)), at, side=side)
            assert places(ints(sorted(values)), at, side=side).tolist() == wanted.tolist()


def test_a_constant_column_taken_at_rows_that_there_are_stays_stored_once() -> None:
    column, rows = compact(np.array([7, 7, 7])), np.array([2, 1, 0])

    assert is_constant(taken(column, rows, 0))
    assert taken(column, np.array([2, ABSENT]), 0).tolist() == [7, 0]


def test_values_are_taken_at_rows_that_there_are() -> None:
    column, rows = np.array([7, 8, 9]), np.array([2, ABSENT, 0])

    assert taken(column, rows, 0).tolist() == [9, 0, 7]
    assert taken(column[:0], rows, 5).tolist() == [5, 5, 5]
