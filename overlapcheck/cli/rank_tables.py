"""`--tables` of several reports: those over all ranks, and those of each put together as one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from overlapcheck.cli.messages import say
from overlapcheck.cli.options import Judging
from overlapcheck.cli.tables import make_folder, write_tables
from overlapcheck.ranks.run import Engine
from overlapcheck.ranks.work import Analyze, draw_report
from overlapcheck.report import Report
from overlapcheck.report_result import Task

if TYPE_CHECKING:
    from overlapcheck.fleet import FleetReport
    from overlapcheck.reporting.rank_parts import RankParts


@dataclass(frozen=True)
class RankTables:
    """Where tables of ranks go, if they are asked for at all."""

    analyze: Analyze
    """Judges a report, and leaves its tables."""
    target: Path | None = None
    """Folder of the files."""
    kind: str = ""
    """"parquet" or "csv"."""

    def write(self, report: FleetReport, paths: Sequence[Path], engine: Engine) -> None:
        """Write them.

        Args:
            report: all ranks.
            paths: all reports.
            engine: where one whose result was known is read again.

        Raises:
            OutputUnwritable: naming the file.
        """
        if self.target is None or not isinstance(self.analyze, _LeavingTables):
            return
        from overlapcheck.reporting.fleet_tables import fleet_tables
        from overlapcheck.reporting.tables import table_names

        whole = {name: (frame,) for name, frame in fleet_tables(report).items()}
        write_tables(whole, self.target, self.kind)
        left = self.analyze.parts
        judged = sorted({row.report_number for row in report.rows})
        tasks = [Task(number, paths[number]) for number in judged if not left.has(paths[number])]
        for _ in engine.run(partial(draw_report, self.analyze.alone), tasks):
            pass
        for task in tasks:
            if not left.has(task.path):
                say(f"no tables of {task.path.name}: they could not be written")
        for name in table_names():
            write_tables({name: left.frames(report, paths, name)}, self.target, self.kind)


@contextmanager
def tables_of_ranks(judging: Judging, analyze: Analyze) -> Iterator[RankTables]:
    """The tables that are asked for, while there is a place for those of single reports.

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
    from overlapcheck.reporting.rank_parts import RankParts

    make_folder(target)
    with TemporaryDirectory(dir=target, prefix=".parts-") as folder:
        leaving = _LeavingTables(analyze, RankParts(Path(folder).absolute()))
        yield RankTables(leaving, target, kind)


@dataclass(frozen=True)
class _LeavingTables:
    """Judges a report and leaves its tables; picklable."""

    analyze: Analyze
    parts: RankParts

    def __call__(self, path: Path) -> Report:
        report = self.analyze(path)
        # Tables that cannot be kept do not cost the rank its verdict: it is named later.
        with suppress(OSError):
            self.parts.leave(path, report)
        return report

    def alone(self, path: Path) -> str:
        """For a report whose result was known already."""
        self(path)
        return ""
