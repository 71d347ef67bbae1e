"""What an input file is, by its content; the name does not matter."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

from overlapcheck.errors import InputUnreadable, NotAReport, ReportDamaged
from overlapcheck.sources.nsys.columnar import is_table_folder
from overlapcheck.sources.nsys.table_files import ARROW, PARQUET

SQLITE_MAGIC = b"SQLite format 3\0"
REPORT_MAGIC = b"NVIDIA Tegra Profiler Report "
# NOTE: a .qdstrm begins with a section mark; the name of the format follows it.
STREAM_MAGIC = b"NVIDIA Nsight Systems Stream "
REPORT_END = b"[END]"
HEAD_BYTES = 512
MOST_LISTED = 3

_RECORD_HINT = "give a .nsys-rep or .qdrep report, or its SQLite, parquetdir or arrowdir export"
_EXPORT_HINT = "export the report as SQLite instead: nsys export --type=sqlite REPORT.nsys-rep"
# First bytes of files that people have beside their reports.
_OTHER_KINDS = (
    (b"PAR1", "a Parquet file", _EXPORT_HINT),
    (b"ARROW1", "an Arrow file", _EXPORT_HINT),
    (b"\x89HDF\r\n", "an HDF5 file", _EXPORT_HINT),
    (b"\xfd7zXZ\0", "compressed with xz", "unpack it first: unxz --keep FILE"),
    (b"\x1f\x8b", "compressed with gzip", "unpack it first: gunzip --keep FILE"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd", "unpack it first: unzstd FILE"),
    (b"PK\x03\x04", "a zip archive", "unpack it first: unzip FILE"),
    (b"NVR\0", "an Nsight Compute report", "record the program with nsys, not ncu"),
)


class InputKind(StrEnum):
    """What an input can be."""

    SQLITE = "sqlite"
    """A SQLite database; whether nsys wrote it is for the reader to see."""
    REPORT = "report"
    """A whole .nsys-rep or .qdrep report, to be exported first."""
    TABLES = "tables"
    """A folder of Parquet or Arrow files, one per table."""
    STREAM = "stream"
    """A .qdstrm recording, to be imported by the QdstrmImporter of the nsys that made it."""


def identify(path: Path) -> InputKind:
    """Tell what a file or folder is.

    Raises:
        InputUnreadable: missing, neither a file nor an export, or not permitted.
        NotAReport: something else; the message says what.
        ReportDamaged: a report without its end.
    """
    try:
        if is_table_folder(path):
            return InputKind.TABLES
        if path.is_dir():
            raise _directory(path)
        if not path.is_file():
            raise InputUnreadable(f"{path}: {_absence(path)}", _RECORD_HINT)
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
            file.seek(max(0, size - len(REPORT_END)))
            tail = file.read()
    except OSError as error:
        raise InputUnreadable(
            f"{path}: cannot be read: {error.strerror}", _fix(path, error)
        ) from error
    return _kind(path, head, tail)


def _kind(path: Path, head: bytes, tail: bytes) -> InputKind:
    if head.startswith(SQLITE_MAGIC):
        return InputKind.SQLITE
    if head.startswith(REPORT_MAGIC):
        if tail != REPORT_END:
            raise ReportDamaged(
                f"{path}: the report is truncated",
                "copy it again from where it was made, or record it again",
            )
        return InputKind.REPORT
    if STREAM_MAGIC in head[:64]:
        return InputKind.STREAM
    raise _other(path, head)


def _other(path: Path, head: bytes) -> NotAReport:
    if not head:
        return NotAReport(f"{path}: the file is empty", _RECORD_HINT)
    if path.suffix in (PARQUET, ARROW) and is_table_folder(path.parent):
        return NotAReport(f"{path}: one table of an export", f"name its folder: {path.parent}")
    for magic, name, hint in _OTHER_KINDS:
        if head.startswith(magic):
            return NotAReport(f"{path}: not an Nsight Systems report but {name}", hint)
    start = head.lstrip()
    if start.startswith((b"{", b"[")):
        return NotAReport(f"{path}: not an Nsight Systems report but JSON", _RECORD_HINT)
    if _is_text(head):
        return NotAReport(f"{path}: not an Nsight Systems report but a text file", _RECORD_HINT)
    return NotAReport(f"{path}: not an Nsight Systems report", _RECORD_HINT)


def _is_text(head: bytes) -> bool:
    try:
        # The last character may be cut in half.
        text = head[:-3].decode("utf-8") if len(head) == HEAD_BYTES else head.decode("utf-8")
    except UnicodeDecodeError as error:
        text = "" if error.start < len(head) - 4 else head[: error.start].decode("utf-8")
    return bool(text) and all(char.isprintable() or char in "\t\r\n\f" for char in text)


def _absence(path: Path) -> str:
    if path.exists():
        return "not a regular file"
    return "a link to a missing file" if path.is_symlink() else "no such file"


def _directory(path: Path) -> InputUnreadable:
    inside = list(_reports_in(path))
    if not inside:
        return InputUnreadable(f"{path}: a directory, with no report in it", _RECORD_HINT)
    listed = ", ".join(str(report) for report in inside[:MOST_LISTED])
    more = f" and {len(inside) - MOST_LISTED} more" if len(inside) > MOST_LISTED else ""
    return InputUnreadable(f"{path}: a directory", f"name one report: {listed}{more}")


def _reports_in(directory: Path) -> Iterator[Path]:
    for path in sorted(directory.iterdir()):
        if path.suffix in (".nsys-rep", ".qdrep", ".sqlite") and path.is_file():
            yield path


def _fix(path: Path, error: OSError) -> str:
    if isinstance(error, PermissionError):
        return f"ask its owner for access, or: chmod u+r {path}"
    return _RECORD_HINT
