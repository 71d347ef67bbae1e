"""Writing the full tables for notebooks: one Parquet or CSV file each."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from overlapcheck.clean import spreadsheet_cell
from overlapcheck.cli.files import replace
from overlapcheck.errors import OutputUnwritable

if TYPE_CHECKING:
    import pandas as pd

    from overlapcheck.measurements import Measurements


def table_files(folder: Path, kind: str) -> list[Path]:
    """The files that `write_tables` writes."""
    from overlapcheck.reporting.tables import table_names

    return [folder / f"{name}.{kind}" for name in table_names()]


def write_tables(measured: Measurements, folder: Path, kind: str) -> None:
    """Write every table of a measurement into a folder, which is made where it is missing.

    Args:
        measured: the tables.
        folder: where they go.
        kind: "parquet" or "csv", also the suffix of the files.

    Raises:
        OutputUnwritable: naming the folder or file.
    """
    from overlapcheck.reporting.tables import measured_tables

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputUnwritable(
            f"{folder}: cannot be made ({error.strerror or error})",
            "give --tables a folder that is writable",
        ) from error
    for name, frame in measured_tables(measured).items():
        replace(folder / f"{name}.{kind}", partial(_write, frame, kind))


def _write(frame: pd.DataFrame, kind: str, path: Path) -> None:
    if kind == "csv":
        texts: list[str] = list(frame.select_dtypes("string").columns)
        safe = {name: frame[name].map(spreadsheet_cell, na_action="ignore") for name in texts}
        frame = frame.assign(**safe)
        frame.to_csv(path, index=False, errors="replace")
    else:
        frame.to_parquet(path, index=False)
