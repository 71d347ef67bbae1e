"""The full tables of every rank, put together as the tables of one: each row says whose it is.

Workers leave the tables of each report in a folder of their own when they judge it, so that no
report is read twice; which rank a report is of is known when all have been.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from overlapcheck.cli.files import replace as replace_file
from overlapcheck.cli.messages import say
from overlapcheck.cli.options import Judging
from overlapcheck.cli.tables import make_folder, safe_cells, write_tables
from overlapcheck.kinds import DeviceKey
from overlapcheck.ranks.run import Engine
from overlapcheck.ranks.work import Analyze, draw_report
from overlapcheck.report import Report
from overlapcheck.report_result import RankRow, Task

if TYPE_CHECKING:
    import pandas as pd

    from overlapcheck.fleet import FleetReport


@contextmanager
def tables_of_ranks(judging: Judging, analyze: Analyze) -> Iterator[RankTables]:
    """The tables, while there is room for those of single reports; none where none are asked for.

    Args:
        judging: what the user asked for.
        analyze: how to judge a report.

    Raises:
        OutputUnwritable: naming the folder, before any work.
    """
    target, kind = judging.tables, judging.tables_format
    if target is None:
        yield RankTables(analyze)
        return
    make_folder(target)
    with TemporaryDirectory(dir=target, prefix=".parts-") as folder:
        yield RankTables(_LeavingTables(analyze, Path(folder).absolute()), target, kind)


@dataclass(frozen=True)
class RankTables:
    """Tables of all ranks, where they are asked for."""

    analyze: Analyze
    """Judges a report, and leaves its tables."""
    target: Path | None = None
    """Folder of the files."""
    kind: str = ""
    """"parquet" or "csv"."""

    def write(self, report: FleetReport, paths: Sequence[Path], engine: Engine) -> None:
        """Write those of the ranks as a whole, and those of each into one file, rank by rank.

        Args:
            report: all ranks.
            paths: all reports.
            engine: where one whose tables are not there is read again.

        Raises:
            OutputUnwritable: naming the file.
        """
        from overlapcheck.reporting.fleet_tables import fleet_tables
        from overlapcheck.reporting.tables import table_names

        if self.target is None or not isinstance(self.analyze, _LeavingTables):
            return
        write_tables(fleet_tables(report), self.target, self.kind)
        left = self.analyze
        judged = sorted({row.report_number for row in report.rows})
        tasks = [Task(number, paths[number]) for number in judged if not left.has(paths[number])]
        for _ in engine.run(partial(draw_report, left.alone), tasks):
            pass
        for number in judged:
            if not left.has(paths[number]):
                say(f"no tables of {paths[number].name}: they could not be written")
        parts = [
            (row.label, left.part(paths[row.report_number], row))
            for row in report.rows
            if left.has(paths[row.report_number])
        ]
        for name in table_names():
            of_ranks = [(label, part / f"{name}.parquet") for label, part in parts]
            fill = partial(_fill, of_ranks, self.kind)
            replace_file(self.target / f"{name}.{self.kind}", fill)


@dataclass(frozen=True)
class _LeavingTables:
    """Judges a report and leaves its tables; picklable."""

    analyze: Analyze
    folder: Path
    """Seen by all workers."""

    def __call__(self, path: Path) -> Report:
        report = self.analyze(path)
        place = _place(self.folder, path)
        # Tables that cannot be kept do not cost the rank its verdict: it is named later.
        with suppress(OSError):
            place.mkdir(exist_ok=True)
            _leave(report, place)
            (place / _WHOLE).touch()
        return report

    def alone(self, path: Path) -> str:
        """For a report whose result was known already."""
        self(path)
        return ""

    def has(self, path: Path) -> bool:
        """Whether the tables of a report are there."""
        return (_place(self.folder, path) / _WHOLE).exists()

    def part(self, path: Path, row: RankRow) -> Path:
        """Where the tables of a rank are."""
        return _place(self.folder, path) / _device(DeviceKey(row.pid, row.device, row.host))


_WHOLE = "whole"
"""Stands beside tables that were written to their end."""


def _leave(report: Report, place: Path) -> None:
    from overlapcheck.reporting.tables import measured_tables

    if report.measurements is None:
        return
    for device in report.measurements.devices:
        folder = place / _device(device.key)
        folder.mkdir(exist_ok=True)
        for name, frame in measured_tables(replace(report.measurements, devices=(device,))).items():
            frame.to_parquet(folder / f"{name}.parquet", index=False)


def _place(folder: Path, report: Path) -> Path:
    return folder / hashlib.sha256(os.fsencode(report)).hexdigest()


def _device(key: DeviceKey) -> str:
    return f"{key.host}-{key.pid}-{key.device_id}"


def _fill(parts: Sequence[tuple[str, Path]], kind: str, path: Path) -> None:
    """One rank after the other: all together may be more than fits into memory."""
    if kind == "csv":
        _fill_csv(parts, path)
    else:
        _fill_parquet(parts, path)


def _fill_csv(parts: Sequence[tuple[str, Path]], path: Path) -> None:
    with path.open("w", encoding="utf-8", errors="replace", newline="") as file:
        for number, frame in enumerate(_frames(parts)):
            safe_cells(frame).to_csv(file, index=False, header=number == 0)


def _fill_parquet(parts: Sequence[tuple[str, Path]], path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer = None
    try:
        for frame in _frames(parts):
            schema = writer.schema if writer else None
            table = pa.Table.from_pandas(frame, schema=schema, preserve_index=False)
            writer = writer or pq.ParquetWriter(path, table.schema)
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()


def _frames(parts: Sequence[tuple[str, Path]]) -> Iterator[pd.DataFrame]:
    """Those with rows, whose columns have their types; of none the first, for its columns."""
    import pandas as pd

    empty: pd.DataFrame | None = None
    some = False
    for label, part in parts:
        frame = pd.read_parquet(part)
        frame.insert(0, "rank", pd.Series([label] * len(frame), dtype="string"))
        if len(frame):
            some = True
            yield frame
        elif empty is None:
            empty = frame
    if not some:
        yield empty if empty is not None else pd.DataFrame({"rank": pd.Series(dtype="string")})
