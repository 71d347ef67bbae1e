"""Commands that are run to their end, and what is left of those that are not."""

from __future__ import annotations

import gc
import warnings

import pytest

from overlapcheck.capture.tool import run_tool
from overlapcheck.errors import CaptureFailed


def test_a_command_that_takes_too_long_leaves_no_file_open() -> None:
    gc.collect()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with pytest.raises(CaptureFailed, match="did not end within"):
            run_tool(["sleep", "1000"], timeout_s=0.1)
        gc.collect()

    assert [str(warning.message) for warning in warned] == []
