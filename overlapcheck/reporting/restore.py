"""A file that holds a saved result → `Report`, so that it can be shown again without its trace."""

from __future__ import annotations

from pathlib import Path

from overlapcheck.errors import InputUnreadable, NotAReport
from overlapcheck.report import Report
from overlapcheck.saved import not_a_report, restored


def read_result(path: Path) -> Report:
    """The report saved in a file.

    Raises:
        InputUnreadable: the file cannot be read.
        NotAReport: see `restored`.
    """
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
        return restored(content.decode("utf-8"), str(path))
    except UnicodeDecodeError as error:
        raise not_a_report(str(path), "it is no UTF-8 text") from error
