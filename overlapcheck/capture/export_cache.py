"""Exports kept for the next time: each a folder `<digest of the report>-<nsys release>`.

Beside the export lies a record of both digests. An export is used only where its own content is
still what the record says, so one that is rotten, swapped or planted is exported anew. A whole
entry appears by one rename and is held by a lock while it is read, so that making room takes none
away from a reader.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from overlapcheck.capture.cache_folder import cache_folder, not_private
from overlapcheck.capture.discovery import release_key

MOST_BYTES = 20 << 30
EXPORT_NAME = "export.sqlite"
_RECORD_NAME = "record"
_RECORD = "overlapcheck export 1 {report} {export}\n"
_MOST_RECORD_BYTES = 512
_WORK_PREFIX = "work-"
_ABANDONED_S = 86_400.0

_SQLITE_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100


def digest(file: Path) -> str:
    """SHA-256 of the whole content: processors have instructions for it, unlike for BLAKE2."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


@dataclass(frozen=True)
class KeptExport:
    """An export in the cache that cannot be taken away."""

    path: Path
    lock: int
    """Descriptor; the export may go once it is closed."""


class ExportCache:
    """The exports of this user.

    Raises:
        OutputUnwritable: there is no folder for them.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = (folder or cache_folder()) / "exports"
        self.folder.mkdir(mode=0o700, exist_ok=True)

    def find(
        self, report_digest: str, release: str | None, warn: Callable[[str], None]
    ) -> KeptExport | None:
        """The export of exactly this content, and none that has changed since it was made.

        Args:
            report_digest: of the report.
            release: of the nsys that made it; None takes the newest.
            warn: told of an export that is not believed; it is removed.
        """
        wanted = f"{report_digest}-{release}" if release else f"{report_digest}-*"
        found = sorted(self.folder.glob(wanted), key=lambda e: release_key(e.name[65:]))
        for entry in reversed(found):
            try:
                kept = _held(entry, report_digest)
            except _NotBelieved as why:
                warn(f"{entry}: the kept export is not used: {why}")
                _remove(entry)
                continue
            if kept is not None:
                return kept
        return None

    def work_folder(self) -> Path:
        """A private folder to export into, of the same file system."""
        return Path(tempfile.mkdtemp(prefix=_WORK_PREFIX, dir=self.folder))

    def keep(self, export: Path, report_digest: str, release: str) -> KeptExport | None:
        """Take an export out of its work folder, and make room for it.

        Returns:
            None where another process was faster or it is larger than the whole cache may be; the
            work folder is then left as it is.
        """
        room = self._room()
        if export.stat().st_size > room:
            return None
        work, entry = export.parent, self.folder / f"{report_digest}-{release}"
        export.chmod(0o600)
        record = _RECORD.format(report=report_digest, export=digest(export))
        lock = os.open(work / _RECORD_NAME, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.write(lock, record.encode())
            _lock(lock, fcntl.LOCK_SH)
            work.rename(entry)
        except OSError:
            os.close(lock)
            return None
        self._trim(room)
        return KeptExport(entry / export.name, lock)

    def entries(self) -> list[Path]:
        """Folders of all kept exports."""
        return [e for e in self.folder.iterdir() if not e.name.startswith(_WORK_PREFIX)]

    def clear(self) -> int:
        """Remove every export that is not being read.

        Returns:
            How many are left.
        """
        self._remove_abandoned()
        return sum(not _remove(entry) for entry in self.entries())

    def _room(self) -> int:
        """Bytes that all exports together may have: never more than half of what is free."""
        used = sum(map(size_of, self.entries()))
        return min(MOST_BYTES, (used + shutil.disk_usage(self.folder).free) // 2)

    def _trim(self, most: int) -> None:
        """Remove the exports that were not used for longest."""
        self._remove_abandoned()
        sizes = {entry: size_of(entry) for entry in self.entries()}
        total = sum(sizes.values())
        for entry in sorted(sizes, key=_last_used):
            if total <= most:
                return
            if _remove(entry):
                total -= sizes[entry]

    def _remove_abandoned(self) -> None:
        """Remove what a killed process has left."""
        for work in self.folder.glob(f"{_WORK_PREFIX}*"):
            with contextlib.suppress(OSError):
                if time.time() - work.stat().st_mtime > _ABANDONED_S:
                    shutil.rmtree(work, ignore_errors=True)


def size_of(entry: Path) -> int:
    """Bytes of a kept export; 0 where it has just gone."""
    try:
        return (entry / EXPORT_NAME).lstat().st_size
    except OSError:
        return 0


def is_whole_sqlite(path: Path) -> bool:
    """Whether a file is a SQLite database of the length that its header promises.

    NOTE: nsys export ends with exit code 0 and an empty file when the disk is full.
    """
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
        size = path.stat().st_size
    except OSError:
        return False
    if len(header) < _HEADER_BYTES or not header.startswith(_SQLITE_MAGIC):
        return False
    page_bytes = int.from_bytes(header[16:18], "big")
    pages = int.from_bytes(header[28:32], "big")
    return size > 0 and size == pages * (65536 if page_bytes == 1 else page_bytes)


class _NotBelieved(Exception):
    """Why an entry of the cache may not be what was put there."""


def _held(entry: Path, report_digest: str) -> KeptExport | None:
    """Lock an entry and look at all of it; None where it has gone or is going."""
    try:
        lock = os.open(entry / _RECORD_NAME, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        if size_of(entry):
            raise _NotBelieved("it has no record") from None
        return None
    except OSError as error:
        raise _NotBelieved(error.strerror) from error
    with _closed_on_error(lock):
        if not _lock(lock, fcntl.LOCK_SH):
            os.close(lock)
            return None
        export = entry / EXPORT_NAME
        try:
            for found in (entry.lstat(), os.fstat(lock), export.lstat()):
                if why := not_private(found):
                    raise _NotBelieved(why)
            if not stat.S_ISREG(export.lstat().st_mode):
                raise _NotBelieved("it is no file")
            said = os.read(lock, _MOST_RECORD_BYTES)
            if said != _RECORD.format(report=report_digest, export=digest(export)).encode():
                raise _NotBelieved("it is not what was exported")
        except OSError as error:
            raise _NotBelieved(error.strerror) from error
        with contextlib.suppress(OSError):
            os.utime(lock)
        return KeptExport(export, lock)


@contextlib.contextmanager
def _closed_on_error(descriptor: int) -> Iterator[None]:
    try:
        yield
    except BaseException:
        os.close(descriptor)
        raise


def _remove(entry: Path) -> bool:
    """Remove an entry unless it is being read."""
    try:
        lock = os.open(entry / _RECORD_NAME, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        lock = -1
    try:
        if lock >= 0 and not _lock(lock, fcntl.LOCK_EX):
            return False
        # Gone at once, however long it takes to delete.
        going = Path(tempfile.mkdtemp(prefix=_WORK_PREFIX, dir=entry.parent))
        entry.replace(going)
        shutil.rmtree(going, ignore_errors=True)
    except OSError:
        with contextlib.suppress(OSError):
            entry.unlink()  # No folder: not of our making.
    finally:
        if lock >= 0:
            os.close(lock)
    return not os.path.lexists(entry)


def _lock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # A file system without locks.
    return True


def _last_used(entry: Path) -> int:
    try:
        return (entry / _RECORD_NAME).lstat().st_mtime_ns
    except OSError:
        return 0
