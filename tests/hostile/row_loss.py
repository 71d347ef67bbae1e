"""Row-loss sweep: what becomes of a verdict when rows of one device table are lost?

    python -m tests.hostile.row_loss EXPORT ... [--seed N] [--sample N]

From each export a random 1, 10, 33 and 100 % of the rows of each table of the device are deleted,
scattered or in one piece (at the start, amid, at the end), and what is left is judged. Wrong is:

- a PASS where the whole export fails,
- "complete" where a tenth or more of a table that numbers are made from is gone,
- "complete" and no more where a tenth of a table that explanations are made from is gone.
"""

from __future__ import annotations

import argparse
import lzma
import random
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from overlapcheck.checks.judge import judge
from overlapcheck.passes.measure import measure
from overlapcheck.selection import Selection
from overlapcheck.sources.nsys.read import read_trace
from overlapcheck.verdict import Outcome, Policy, Verdict

JUDGED = (
    "CUPTI_ACTIVITY_KIND_KERNEL",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
    "CUPTI_ACTIVITY_KIND_MEMCPY",
    "CUPTI_ACTIVITY_KIND_MEMSET",
)
"""Tables that numbers are made from."""
EXPLAINING = ("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",)
"""Tables that only explanations are made from."""
# Most rows of synchronisations are queries, which nothing is made from.
_WAITS = """correlationId IN (
    SELECT correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON StringIds.id = nameId
    WHERE value LIKE '%WaitEvent%' OR value LIKE '%StreamSynchronize%'
)"""
SHARES = (1, 10, 33, 100)
"""Per cent of the rows of a table."""
MUST_SHOW = 10
"""From this share on, per cent, a loss must show."""


class Place(StrEnum):
    """Where rows are lost, in order of their start."""

    SCATTERED = "scattered"
    START = "start"
    MIDDLE = "middle"
    TAIL = "tail"


class Result(StrEnum):
    """What became of the verdict."""

    SHOWN = "the loss is shown"
    SMALL = "too small to matter, and no false PASS"
    UNTOLD = "migrations of unified memory alone, of which no call tells"
    FALSE_PASS = "PASS where the whole export fails"
    HIDDEN = "complete, though a tenth or more is gone"


WRONG = (Result.FALSE_PASS, Result.HIDDEN)


@dataclass(frozen=True)
class Loss:
    """Rows to delete."""

    table: str
    percent: int
    place: Place

    def rows(self, all_rows: Sequence[int], chance: random.Random) -> list[int]:
        """Which of the rows, in order of their start, are lost; at least one."""
        count = max(1, -(-len(all_rows) * self.percent // 100))
        if self.place is Place.SCATTERED:
            return chance.sample(list(all_rows), count)
        first = {
            Place.START: 0,
            Place.MIDDLE: chance.randint(0, len(all_rows) - count),
            Place.TAIL: len(all_rows) - count,
        }[self.place]
        return list(all_rows[first : first + count])


def losses(path: Path) -> Iterator[Loss]:
    """All losses of an export's tables."""
    for table in (*JUDGED, *EXPLAINING):
        if not _rows(path, table):
            continue
        for percent in SHARES:
            for place in Place:
                if percent < 100 or place is Place.SCATTERED:
                    yield Loss(table, percent, place)


def without(path: Path, loss: Loss, seed: int, folder: Path) -> tuple[Path, bool]:
    """A copy of an export without some rows, and whether any of those had a call."""
    lost = loss.rows(_rows(path, loss.table), random.Random(f"{seed} {path.name} {loss}"))
    copy = folder / "lost.sqlite"
    copy.write_bytes(path.read_bytes())
    with closing(sqlite3.connect(copy)) as connection:
        told = connection.execute(f"SELECT rowid FROM {loss.table} WHERE correlationId != 0")
        called = {row for (row,) in told}
        connection.executemany(
            f"DELETE FROM {loss.table} WHERE rowid = ?", [(row,) for row in lost]
        )
        connection.commit()
    return copy, not called.isdisjoint(lost)


def verdict_of(path: Path) -> Verdict:
    """The verdict with the default limits."""
    return judge(measure(read_trace(path), Selection()), Policy())


def result(whole: Verdict, left: Verdict, loss: Loss, *, called: bool) -> Result:
    """What became of the verdict."""
    if whole.outcome is Outcome.FAIL and left.outcome is Outcome.PASS:
        return Result.FALSE_PASS
    reasons = {check.reason for check in left.checks if check.name == "capture"}
    shown = reasons - {check.reason for check in whole.checks if check.name == "capture"}
    if shown:
        return Result.SHOWN
    complete = all(c.outcome is Outcome.PASS for c in left.checks if c.name == "capture")
    if not called:
        return Result.UNTOLD
    if loss.percent >= MUST_SHOW and complete:
        return Result.HIDDEN
    return Result.SMALL


def sweep(
    path: Path, seed: int, sample: int | None = None
) -> Iterator[tuple[Loss, Result, Verdict]]:
    """Judge an export after each loss, or after a random few."""
    chosen = list(losses(path))
    if sample is not None and sample < len(chosen):
        chosen = random.Random(f"{seed} {path.name}").sample(chosen, sample)
    whole = verdict_of(path)
    with tempfile.TemporaryDirectory() as folder:
        for loss in chosen:
            copy, called = without(path, loss, seed, Path(folder))
            left = verdict_of(copy)
            yield loss, result(whole, left, loss, called=called), left


def unpacked(path: Path, folder: Path) -> Path:
    """The export itself, out of its .xz where it is in one."""
    if path.suffix != ".xz":
        return path
    export = folder / path.stem
    export.write_bytes(lzma.decompress(path.read_bytes()))
    return export


def _rows(path: Path, table: str) -> list[int]:
    """Row numbers of a table in order of their start; none where it is missing."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        known = connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,))
        if known.fetchone() is None:
            return []
        which = _WAITS if table in EXPLAINING else "1"
        sql = f"SELECT rowid FROM {table} WHERE {which} ORDER BY start"
        return [row for (row,) in connection.execute(sql)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Sweep over exports; 1 where anything is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("exports", nargs="+", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sample", type=int, help="losses per export (all)")
    options = parser.parse_args(arguments)
    counted: Counter[Result] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for packed in options.exports:
            path = unpacked(packed, Path(folder))
            for loss, became, left in sweep(path, options.seed, options.sample):
                counted[became] += 1
                if became in WRONG:
                    where = f"{loss.percent} % of {loss.table}, {loss.place}"
                    print(f"{path.name}: {where}: {became} ({left.outcome})", flush=True)
            if path is not packed:
                path.unlink()
    for became in Result:
        print(f"{counted[became]:6} {became}")
    return 1 if any(counted[became] for became in WRONG) else 0


if __name__ == "__main__":
    sys.exit(main())
