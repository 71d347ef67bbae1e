from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import pytest

from overlapcheck import measurements, trace_tables
from overlapcheck.columns import (
    Bools,
    Columns,
    Floats,
    Ints,
    Texts,
    blocks,
    compact,
    is_constant,
)

TABLES = [
    kind
    for module in (trace_tables, measurements)
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
