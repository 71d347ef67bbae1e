"""Writing the full tables for notebooks: one Parquet or CSV file each."""

from __future__ import annotations

from collections.abc import Mapping
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


def write_tables(tables: Mapping[str, pd.DataFrame], folder: Path, kind: str) -> None:
    """Write tables into a folder, which is made where it is missing.

    Args:
        tables: by the names of their files.
        folder: where they go.
        kind: "parquet" or "csv", also the suffix of the files.

    Raises:
        OutputUnwritable: naming the folder or file.
    """
    make_folder(folder)
    for name, frame in tables.items():
        replace(folder / f"{name}.{kind}", partial(_write, frame, kind))


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


def safe_cells(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with texts that no spreadsheet takes for a formula."""
    texts: list[str] = list(frame.select_dtypes("string").columns)
    safe = {name: frame[name].map(spreadsheet_cell, na_action="ignore") for name in texts}
    return frame.assign(**safe)


def _write(frame: pd.DataFrame, kind: str, path: Path) -> None:
    if kind == "csv":
        safe_cells(frame).to_csv(path, index=False, errors="replace")
    else:
        frame.to_parquet(path, index=False)
