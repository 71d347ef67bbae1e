"""Members of enumerations beside columns of bytes: plain numbers to numpy, and no wider."""

from __future__ import annotations

import numpy as np
import pytest

from overlapcheck.codes import Code
from overlapcheck.order import Work

COLUMN = np.array([Work.NONE, Work.COMPUTE, Work.H2D, Work.COMPUTE], dtype=np.int8)


def test_a_column_of_bytes_stays_one() -> None:
    assert (COLUMN + Work.COMPUTE).dtype == np.int8
    assert np.maximum(COLUMN, Work.COMPUTE).dtype == np.int8


def test_members_are_compared_by_their_number() -> None:
    assert (COLUMN == Work.COMPUTE).tolist() == [False, True, False, True]
    assert np.not_equal(Work.COMPUTE, COLUMN).tolist() == [True, False, True, False]
    assert COLUMN[1] == Work.COMPUTE
    assert COLUMN[0] != Work.COMPUTE


@pytest.mark.parametrize("kind", Code.__subclasses__(), ids=lambda kind: kind.__name__)
def test_every_code_fits_into_the_byte_that_columns_give_it(kind: type[Code]) -> None:
    assert all(-128 <= code <= 127 for code in kind)
