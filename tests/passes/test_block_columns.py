from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from overlapcheck.columns import Column, constant, is_constant
from overlapcheck.passes.ledger.block_columns import BlockColumns


def put_together(*blocks: Column) -> Column:
    """The one column of blocks, which are put in place from the last to the first."""
    bounds = np.concatenate(([0], np.cumsum([len(block) for block in blocks])))
    columns = BlockColumns(int(bounds[-1]))
    for number in reversed(range(len(blocks))):
        columns.put(slice(int(bounds[number]), int(bounds[number + 1])), (blocks[number],))
    (column,) = columns.all()
    return column


@pytest.mark.parametrize(
    "blocks",
    [
        ([1, 2], [3]),
        ([1, 2], [2, 2]),
        ([5, 5], [5, 6]),
        ([7],),
        ([0, 0], [1, 1], [0, 0]),
    ],
)
@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_a_column_is_that_of_its_blocks(blocks: Sequence[list[int]], dtype: type) -> None:
    parts: list[Column] = [np.array(block, dtype) for block in blocks]

    column = put_together(*parts)

    assert column.tolist() == np.concatenate(parts).tolist()
    assert column.dtype == dtype


def test_what_holds_one_value_in_all_blocks_is_stored_once() -> None:
    assert is_constant(put_together(constant(4, 3), constant(4, 2)))
    assert is_constant(put_together(np.array([4, 4, 4]), constant(4, 2)))
    assert put_together(constant(4, 3), constant(5, 2)).tolist() == [4, 4, 4, 5, 5]
