"""The tables of single reports, left where each is judged and read again when its ranks are known.

Whoever judges a report, in whatever process, leaves its tables in a folder of their own; so no
report is read twice, and no more than one rank's tables are in memory.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from overlapcheck.fleet import FleetReport
from overlapcheck.kinds import DeviceKey
from overlapcheck.redaction import names_no_one
from overlapcheck.report import Report
from overlapcheck.report_result import RankRow
from overlapcheck.reporting.tables import measured_tables

_WHOLE = "whole"
"""Stands beside tables that were written to their end."""


@dataclass(frozen=True)
class RankParts:
    """Tables of reports in a folder that all see who judge them; picklable."""

    folder: Path

    def leave(self, path: Path, report: Report) -> None:
        """Write the tables of a report.

        Args:
            path: of the report.
            report: what came out.

        Raises:
            OSError: they cannot be written.
        """
        place = self._place(path)
        place.mkdir(exist_ok=True)
        if report.measurements is not None:
            for device in report.measurements.devices:
                folder = place / _name(device.key)
                folder.mkdir(exist_ok=True)
                alone = replace(report.measurements, devices=(device,))
                for name, frame in measured_tables(alone).items():
                    frame.to_parquet(folder / f"{name}.parquet", index=False)
        (place / _WHOLE).touch()

    def has(self, path: Path) -> bool:
        """Whether the tables of a report are there."""
        return (self._place(path) / _WHOLE).exists()

    def frames(
        self, report: FleetReport, paths: Sequence[Path], name: str
    ) -> Iterator[pd.DataFrame]:
        """One table of each rank, in their order, with the rank as first column; at least one.

        Args:
            report: all ranks.
            paths: all reports.
            name: of the table.
        """
        empty = pd.DataFrame({"rank": pd.Series(dtype="string")})
        some = False
        for row in report.rows:
            path = paths[row.report_number]
            if self.has(path):
                frame = pd.read_parquet(self._place(path) / _name(_key(row)) / f"{name}.parquet")
                labels = [names_no_one(row.label)] * len(frame)
                frame.insert(0, "rank", pd.Series(labels, dtype="string"))
                # Without rows its columns have no types of their own.
                if len(frame):
                    some = True
                    yield frame
                else:
                    empty = frame
        if not some:
            yield empty

    def _place(self, path: Path) -> Path:
        return self.folder / hashlib.sha256(os.fsencode(path)).hexdigest()


def _key(row: RankRow) -> DeviceKey:
    return DeviceKey(row.pid, row.device, row.host)


def _name(key: DeviceKey) -> str:
    return f"{key.host}-{key.pid}-{key.device_id}"
