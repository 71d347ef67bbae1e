"""Journals beside a database: changes that are begun, or done and not yet in the file.

An export is opened as a file that nobody writes to, so that nothing is ever created beside it;
SQLite then looks at no journal. Where one holds changes the file alone is another database than the
one that SQLite would show. See https://www.sqlite.org/fileformat2.html, sections 3 and 4.
"""

from __future__ import annotations

from pathlib import Path

from overlapcheck.errors import InputUnreadable, ReportDamaged

_JOURNAL_MAGIC = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
_WAL_MAGIC = (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83")
_WAL_HEADER_BYTES = 32
_FRAME_HEADER_BYTES = 24


def require_settled(path: Path) -> None:
    """Refuse a database whose journal holds something.

    What SQLite itself passes over is passed over: an empty journal, one whose header was cleared
    when its transaction ended, or one of something else.

    Args:
        path: the database, links followed.

    Raises:
        ReportDamaged: there is such a journal; says what to do.
        InputUnreadable: it cannot be read.
    """
    if _head(journal := Path(f"{path}-journal"), len(_JOURNAL_MAGIC)) == _JOURNAL_MAGIC:
        raise ReportDamaged(
            f"{path}: something was writing it and is not done: {journal.name} lies beside it",
            f"wait for it; if nothing writes it any more: sqlite3 {path} 'PRAGMA schema_version' "
            "takes the half-written part back",
        )
    wal = Path(f"{path}-wal")
    if _has_frames(_head(wal, _WAL_HEADER_BYTES + _FRAME_HEADER_BYTES)):
        raise ReportDamaged(
            f"{path}: a part of it lies in {wal.name}",
            f"bring them together: sqlite3 {path} 'PRAGMA wal_checkpoint(TRUNCATE)'",
        )


def _has_frames(head: bytes) -> bool:
    """Whether a write-ahead log begins with a frame of its own: others are left from before."""
    salt = head[16:24]
    return (
        len(head) == _WAL_HEADER_BYTES + _FRAME_HEADER_BYTES
        and head.startswith(_WAL_MAGIC)
        and head[_WAL_HEADER_BYTES + 8 : _WAL_HEADER_BYTES + 16] == salt
    )


def _head(path: Path, count: int) -> bytes:
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            return file.read(count)
    except OSError as error:
        raise InputUnreadable(
            f"{path}: cannot be read: {error.strerror}",
            "check its permissions: it may hold changes of the database",
        ) from error
