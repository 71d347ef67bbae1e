"""One input, measured: who took part, and the ratios that the budget judges."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import training_run
from bench.budget import PER_ROW, START_UP, TENFOLD, TO_SCAN
from bench.contest import ROOT, Ratio, Runs, contest, ratio
from bench.contestants import OURS, SCAN, ours, peers, scan
from bench.inputs import INPUTS, LARGE, Input

TENTH = "ours, a tenth of the rows"


@dataclass(frozen=True)
class Measured:
    """What became of one input."""

    name: str
    what: str
    rows: int
    runs: Sequence[Runs]
    """Of the contestants of the table, in its order."""
    ratios: Mapping[str, Ratio]
    """By measure of the budget."""
    bytes_per_row: float | None

    @property
    def values(self) -> dict[str, float]:
        """What is judged, by measure."""
        medians = {measure: found.median for measure, found in self.ratios.items()}
        return medians | ({PER_ROW: self.bytes_per_row} if self.bytes_per_row else {})


def recorded(folder: Path, rounds: int, *, with_peers: bool) -> Measured:
    """The real training run: so small that start-up is most of it, and the one HTA can read."""
    run = training_run.unpack(folder)
    invited = peers(run.export, run.kineto) if with_peers else []
    runs = contest([ours(run.export), scan(run.export, LARGE), *invited], rounds)
    return Measured(
        training_run.NAME,
        training_run.WHAT,
        run.kernels,
        list(runs.values()),
        {START_UP: ratio(runs[OURS], runs[SCAN])},
        None,
    )


def made_up(one: Input, folder: Path, rounds: int, scale: float, *, with_peers: bool) -> Measured:
    """A made-up input beside a tenth of it; the peers, which take minutes, on the first one."""
    rows = one.rows_at(scale)
    large = _written(one, rows, folder / "large.sqlite")
    small = _written(one, rows // 10, folder / "small.sqlite")
    invited = peers(large, once=True) if with_peers and one is INPUTS[0] else []
    contestants = [ours(large), scan(large, one.scanned), ours(small, TENTH), *invited]
    runs = contest(contestants, rounds)
    tenth = runs.pop(TENTH)
    return Measured(
        one.name,
        one.what,
        rows,
        list(runs.values()),
        {TO_SCAN: ratio(runs[OURS], runs[SCAN]), TENFOLD: ratio(runs[OURS], tenth)},
        runs[OURS].rss_mib * 2**20 / rows,
    )


def _written(one: Input, rows: int, path: Path) -> Path:
    command = [sys.executable, "-m", "bench.inputs", one.name, str(rows), str(path)]
    subprocess.run(command, check=True, cwd=ROOT)
    return path
