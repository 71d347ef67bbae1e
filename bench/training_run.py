"""One real training run of 15 steps, as nsys saw it and as the PyTorch profiler did."""

from __future__ import annotations

import lzma
import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from bench.inputs import KERNEL

FIXTURES = Path(__file__).parents[1] / "fixtures"
NAME, WHAT = "training-run", "one training run, 15 steps"


@dataclass(frozen=True)
class TrainingRun:
    """The recordings, where peers may write beside them."""

    export: Path
    """SQLite export of nsys."""
    kineto: Path
    """Folder with the profiler's trace, the form in which HTA takes it."""
    kernels: int


def unpack(folder: Path) -> TrainingRun:
    """Copies of both recordings below a folder."""
    export = folder / "pt_pageable.sqlite"
    shutil.copyfile(FIXTURES / "exports" / export.name, export)
    kineto = folder / "kineto"
    kineto.mkdir()
    packed = (FIXTURES / "kineto" / "pageable.json.xz").read_bytes()
    (kineto / "pageable.json").write_bytes(lzma.decompress(packed))
    with closing(sqlite3.connect(export)) as connection:
        (kernels,) = connection.execute(f"SELECT count(*) FROM {KERNEL}").fetchone()
    return TrainingRun(export, kineto, kernels)
