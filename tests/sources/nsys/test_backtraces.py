"""Payloads of Python backtraces that are no backtraces: a finding then has no source line."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from overlapcheck.sources.nsys.read import read_trace
from overlapcheck.trace import Frame
from tests.export import RealExport

_FRAME = '{"Python Backtrace on CUDA": {"Frames": [{"Function": 1, "File": %s, "Line": 7}]}}'
_DEEP = 100_000


def _marked(export: Path, folder: Path, payload: str) -> Path:
    """A copy with one mark before its calls."""
    marked = folder / "marked.sqlite"
    shutil.copyfile(export, marked)
    with closing(sqlite3.connect(marked)) as connection:
        connection.execute(
            "INSERT INTO NVTX_EVENTS (start, eventType, globalTid, jsonText)"
            " SELECT start, 34, globalTid, ? FROM NVTX_EVENTS LIMIT 1",
            (payload,),
        )
        connection.commit()
    return marked


def test_a_mark_names_its_frames(real_export: RealExport, tmp_path: Path) -> None:
    marked = _marked(real_export("pt_pageable"), tmp_path, _FRAME % 2)

    (frames,) = read_trace(marked).stacks.values()

    assert [type(frame) for frame in frames] == [Frame]
    assert frames[0].line == 7


@pytest.mark.parametrize(
    "file",
    [
        pytest.param("[" * _DEEP + "]" * _DEEP, id="deep lists"),
        pytest.param('{"a":' * _DEEP + "1" + "}" * _DEEP, id="deep objects"),
        pytest.param("Infinity", id="infinity"),
        pytest.param("1e400", id="infinity as a number"),
        pytest.param("NaN", id="no number"),
        pytest.param("9" * 30, id="more than SQLite can hold"),
        pytest.param("9" * 5000, id="more than Python reads"),
        pytest.param("null", id="null"),
        pytest.param("", id="half"),
    ],
)
def test_what_is_no_backtrace_has_no_frames(
    file: str, real_export: RealExport, tmp_path: Path
) -> None:
    marked = _marked(real_export("pt_pageable"), tmp_path, _FRAME % file)

    assert list(read_trace(marked).stacks.values()) == [()]
