"""A file that holds a saved result → the report, to be shown again without its trace."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from overlapcheck.errors import InputUnreadable, NotAReport
from overlapcheck.report import Report
from overlapcheck.saved import any_restored, not_a_report, restored

if TYPE_CHECKING:
    from overlapcheck.fleet import FleetReport

Restored = TypeVar("Restored")


def read_result(path: Path) -> Report:
    """The report saved in a file.

    Raises:
        InputUnreadable: the file cannot be read.
        NotAReport: see `restored`.
    """
    return _read(path, restored)


def read_any_result(path: Path) -> Report | FleetReport:
    """The report, of one recording or of many ranks, saved in a file.

    Raises:
        InputUnreadable: the file cannot be read.
        NotAReport: see `any_restored`.
    """
    return _read(path, any_restored)


def _read(path: Path, made: Callable[[str, str], Restored]) -> Restored:
    try:
        with path.open("rb") as stream:
            begin = stream.read(1024)
            # Traces are large, and no result begins like one.
            content = begin + stream.read() if begin.lstrip()[:1] == b"{" else b""
    except OSError as error:
        raise InputUnreadable(
            f"{path}: cannot be read ({error.strerror or error})",
            "give the result that -o FILE.json wrote",
        ) from error
    if not content:
        if begin.startswith(b"SQLite format 3\0") or path.suffix in (".nsys-rep", ".qdrep"):
            raise NotAReport(
                f"{path}: a trace, not a saved result",
                f"judge it first: overlapcheck analyze {path}",
            )
        raise not_a_report(str(path), "it is no JSON" if begin else "it is empty")
    try:
        return made(content.decode("utf-8"), str(path))
    except UnicodeDecodeError as error:
        raise not_a_report(str(path), "it is no UTF-8 text") from error
