"""The operation before each one in its stream."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overlapcheck.columns import ABSENT
from overlapcheck.passes.order.candidates import neighbours


@given(st.lists(st.integers(0, 3)))
def test_the_row_before_each_is_the_latest_of_its_stream(stream: list[int]) -> None:
    wanted = [
        max((row for row in range(at) if stream[row] == stream[at]), default=ABSENT)
        for at in range(len(stream))
    ]

    assert neighbours(np.array(stream, dtype=np.int64)).tolist() == wanted
