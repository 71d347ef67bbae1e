"""Writing the full tables for notebooks: one Parquet or CSV file each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from overlapcheck.clean import spreadsheet_cell
from overlapcheck.cli.files import replace
from overlapcheck.errors import OutputUnwritable

if TYPE_CHECKING:
    import pandas as pd


def table_files(folder: Path, kind: str) -> list[Path]:
    """The files that may be written for one report, or for several."""
    from overlapcheck.reporting.fleet_tables import fleet_table_names
    from overlapcheck.reporting.tables import table_names

    return [folder / f"{name}.{kind}" for name in (*table_names(), *fleet_table_names())]


def write_tables(tables: Mapping[str, Iterable[pd.DataFrame]], folder: Path, kind: str) -> None:
    """Write tables into a folder, which is made where it is missing.

    Args:
        tables: by the names of their files; each in parts with the same columns, one at least.
        folder: where they go.
        kind: "parquet" or "csv", also the suffix of the files.

    Raises:
        OutputUnwritable: naming the folder or file.
    """
    make_folder(folder)
    for name, parts in tables.items():
        replace(folder / f"{name}.{kind}", partial(_csv if kind == "csv" else _parquet, parts))


def make_folder(folder: Path) -> None:
    """Make the folder of the tables where it is missing.

    Raises:
        OutputUnwritable: naming it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputUnwritable(
            f"{folder}: cannot be made ({error.strerror or error})",
            "give --tables a folder that is writable",
        ) from error


def _csv(parts: Iterable[pd.DataFrame], path: Path) -> None:
    with path.open("w", encoding="utf-8", errors="replace", newline="") as file:
        for number, frame in enumerate(parts):
            texts: list[str] = list(frame.select_dtypes("string").columns)
            safe = {name: frame[name].map(spreadsheet_cell, na_action="ignore") for name in texts}
            frame.assign(**safe).to_csv(file, index=False, header=number == 0)


def _parquet(parts: Iterable[pd.DataFrame], path: Path) -> None:
    from pyarrow import Table
    from pyarrow.parquet import ParquetWriter

    left = iter(parts)
    first = Table.from_pandas(next(left), preserve_index=False)
    with ParquetWriter(path, first.schema) as writer:
        writer.write_table(first)
        for frame in left:
            writer.write_table(Table.from_pandas(frame, first.schema, preserve_index=False))
